"""Debian systems in folders, which debootstrap makes: what a machine has that is new to the project."""

from __future__ import annotations

import os
import shlex
import shutil
import ssl
import subprocess
from collections.abc import Mapping
from pathlib import Path

_DEFAULT_MIRROR = ""  # as debootstrap
# Certificates of this machine, which one behind a proxy needs.
_DEBIANS = "/etc/ssl/certs/ca-certificates.crt"
_CERTIFICATES = "/machine-certificates.crt"
_VARIABLES = {
    "HOME": "/root",
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "LANG": "C.UTF-8",
    "DEBIAN_FRONTEND": "noninteractive",
    **dict.fromkeys(("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE"), _CERTIFICATES),
}


def lacking() -> str | None:
    """Why this machine cannot make such systems; None if it can."""
    if os.geteuid() != 0:
        return "only root can make a Debian system"
    if shutil.which("debootstrap") is None:
        return "debootstrap is not installed"
    mounts = subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True, check=False)
    return None if mounts.returncode == 0 else f"unshare: {mounts.stderr.decode().strip()}"


class DebianRoot:
    """The smallest Debian of a release. Commands run in it as root, with a process tree and mounts of their own.

    Leaving the `with` block removes it.
    """

    def __init__(self, folder: Path, release: str) -> None:
        self.folder = folder
        # An older debootstrap does not know the release; the steps of all since 2017 are those of sid.
        command = ["debootstrap", "--variant=minbase", release, folder, _DEFAULT_MIRROR, "sid"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        assert done.returncode == 0, done.stdout[-3000:]
        # The lists of a mirror may be older than they promise, by the clock of this machine.
        (folder / "etc/apt/apt.conf.d/valid").write_text('Acquire::Check-Valid-Until "false";\n')
        for file in ("/etc/resolv.conf", "/etc/hosts"):
            shutil.copy(file, folder / file[1:])
        shutil.copy(ssl.get_default_verify_paths().cafile or _DEBIANS, f"{folder}{_CERTIFICATES}")

    def __enter__(self) -> DebianRoot:
        return self

    def __exit__(self, *_failure: object) -> None:
        shutil.rmtree(self.folder)

    def run(self, command: str, *, mounted: Mapping[str, Path] | None = None, timeout: int = 3600) -> str:
        """What the command prints to both streams. `mounted` has folders of this machine by their paths in the root."""
        mounts = [f"mount --rbind /dev {self.folder}/dev"]
        for inside, outside in (mounted or {}).items():
            mounts.append(f"mkdir -p {self.folder}{inside} && mount --bind {outside} {self.folder}{inside}")
        started = f"exec chroot {self.folder} sh -c {shlex.quote(command)}"
        done = subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", f"--mount-proc={self.folder}/proc",
             "sh", "-c", " && ".join((*mounts, started))],
            env=_VARIABLES, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            check=False, timeout=timeout,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}"
        return done.stdout
