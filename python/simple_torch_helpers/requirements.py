"""Packages that a program requires: installed into its environment when they are missing."""

from __future__ import annotations

import fcntl
import importlib
import importlib.metadata
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from simple_torch_helpers.packages import has_module, installer

_NAME = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_FAULT = re.compile(r"error:|×", re.IGNORECASE)  # the first line of what uv or pip reports
LAST_LINES = 3  # of the installer's output, in a message, if it reports no fault


def require(requirements: list[str]) -> list[str]:
    """Install the requirements that the environment does not meet, and return those.

    Args:
        requirements: as pip accepts them, or the names of files (`*.txt`) with one in each line.

    Raises:
        ValueError: a requirement is not valid, or a line of a file is an option.
        ImportError: they cannot be installed, or there is no installer.
        OSError: a file cannot be read.
    """
    wanted = [line for one in requirements for line in (lines_of(one) if one.endswith(".txt") else [one])]
    if not missing(wanted):
        return []
    with one_at_a_time():
        absent = missing(wanted)
        if absent:
            install(absent)
    importlib.invalidate_caches()
    return absent


def lines_of(file: str) -> list[str]:
    lines = [re.sub(r"(^|\s)#.*", "", line).strip() for line in Path(file).read_text(encoding="utf-8").splitlines()]
    for line in lines:
        if line.startswith("-"):
            raise ValueError(f"py.require(): {file} has the option {line!r}, and may only have requirements")
    return [line for line in lines if line]


def missing(requirements: list[str]) -> list[str]:
    return [one for one in requirements if not is_met(one)]


def is_met(requirement: str) -> bool:
    parsed = parse(requirement)
    if parsed is not None and parsed.marker is not None and not parsed.marker.evaluate():
        return True
    name = parsed.name if parsed is not None else name_in(requirement)
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return parsed is None or parsed.specifier.contains(version, prereleases=True)


def parse(requirement: str) -> Any:
    """The requirement's parts; None without the package `packaging`, which then is the installer's work.

    Raises:
        ValueError: it is not valid.
    """
    name_in(requirement)
    module = next((one for one in ("packaging", "pip._vendor.packaging") if has_module(one)), None)
    return None if module is None else importlib.import_module(f"{module}.requirements").Requirement(requirement)


def name_in(requirement: str) -> str:
    found = _NAME.match(requirement)
    if found is None:
        raise ValueError(f"py.require(): expected a requirement such as 'rich >= 13', got {requirement!r}")
    return found[1]


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Processes of this user that install into this environment take turns."""
    name = re.sub(r"\W+", "-", sys.prefix)
    with open(Path(tempfile.gettempdir()) / f"simple-torch-require-{os.getuid()}{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def install(requirements: list[str]) -> None:
    """Run the installer. It keeps the version of torch, with which the program runs."""
    print(f"py.require(): installing {', '.join(requirements)}", file=sys.stderr)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as constraints:
        constraints.write(f"torch=={importlib.metadata.version('torch')}\n")
        constraints.flush()
        command = [*install_arguments(), "--constraint", constraints.name, *requirements]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        problem = reported_fault(done.stderr or done.stdout) or f"{command[0]} returned {done.returncode}"
        raise ImportError(f"py.require(): cannot install {', '.join(requirements)}: {problem}")


def reported_fault(output: str) -> str:
    """What the installer reports, in one line: from its first error on, however it is wrapped."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    first = next((at for at, line in enumerate(lines) if _FAULT.match(line)), max(0, len(lines) - LAST_LINES))
    return " ".join(lines[first:])


def install_arguments() -> list[str]:
    """The command of pip, or of uv for an environment without pip."""
    command = installer()
    if command is None:
        raise ImportError(
            f"py.require(): {sys.prefix} has no pip, and uv is not there; run {sys.executable} -m ensurepip"
        )
    return [*command, "--disable-pip-version-check"] if "-m" in command else command
