"""The package in Debian systems: the Dockerfile's first stage builds it with the Python of a release. It is installed
in a second system without a compiler. These tests build it and install PyTorch: they run with SIMPLE_LONG_TESTS=1.

SIMPLE_DEBIAN names one of the releases.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from debian_root import DebianRoot, lacking
from dockerfiles import script, stages
from terminal import commands_of, steps_of

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PYTHONS = {"bookworm": "3.11", "trixie": "3.13"}  # auditwheel has no tag for the glibc of forky
COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "cmake", "ninja", "make", "git")


def reason() -> str | None:
    return lacking() if os.environ.get("SIMPLE_LONG_TESTS") == "1" else "builds the wheel; set SIMPLE_LONG_TESTS=1"


if why := reason():
    pytest.skip(why, allow_module_level=True)


@dataclass
class Installed:
    """A system in which the package is installed; `programs` is the folder of `simple` and its Python."""

    system: DebianRoot
    programs: str

    def run(self, command: str, folder: str = "/tmp") -> str:
        return self.system.run(f"PATH={self.programs}:$PATH; cd {folder} && {command}")


@pytest.fixture(scope="module", params=os.environ.get("SIMPLE_DEBIAN", " ".join(PYTHONS)).split())
def release(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def dist(release: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the first stage of the Dockerfile builds from the tracked files: the wheel, and a list of versions."""
    folder = tmp_path_factory.mktemp(f"build-{release}")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        (folder / "context" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / "context" / name, follow_symlinks=False)
    build, _ = stages((ROOT / "Dockerfile").read_text())
    with DebianRoot(folder / "root", release) as system:
        system.run(script(build, "/context"), mounted={"/context": folder / "context"})
        return (system.folder / "src" / "dist").rename(folder / "dist")


@pytest.fixture(scope="module")
def installed(release: str, dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """Debian 12: by the Dockerfile's second stage, which classifies a photograph; else as docs/installing.md shows."""
    with DebianRoot(tmp_path_factory.mktemp(f"system-{release}") / "root", release) as system:
        if release == "bookworm":
            _, image = stages((ROOT / "Dockerfile").read_text())
            assert "1  tiger cat" in system.run(
                script(image, "", {"build": "/build"}), mounted={"/build/src": dist.parent}
            )
            yield Installed(system, "/opt/simple/bin")
            return
        packages = f"ca-certificates libpython{PYTHONS[release]} python3-venv"
        system.run(f"apt-get update && apt-get install --yes --no-install-recommends {packages}")
        (block,) = re.findall(r"## Install it\n\n```sh\n(.*?)```", (DOCS / "installing.md").read_text(), re.S)
        assert "goal 0.001: reached" in system.run(f"cd /srv && set -e\n{block}", mounted={"/srv/dist": dist})
        yield Installed(system, "/srv/env/bin")


def test_the_system_has_no_compiler(installed):
    for program in COMPILERS:
        assert installed.run(f"command -v {program} || echo none") == "none\n"


def test_the_wheel_is_that_of_the_python(dist, installed, release):
    tag = f"cp{PYTHONS[release].replace('.', '')}"
    (wheel,) = dist.glob("*.whl")
    assert f"-{tag}-{tag}-manylinux_" in wheel.name
    assert installed.run("python -c 'import sys; print(\"%d.%d\" % sys.version_info[:2])'") == f"{PYTHONS[release]}\n"


def test_the_doctor_finds_no_fault(installed):
    assert "fault" not in installed.run("simple doctor")


def test_python_and_ipython_import_the_package(installed):
    code = "import simple_torch; print(simple_torch.run('fn twice(x): x * 2').twice(4))"
    assert installed.run(f"python -c {shlex.quote(code)}") == "8\n"
    installed.run("pip install --no-cache-dir ipython")
    magic = 'get_ipython().run_cell_magic("simple", "", "use torch; print torch.ones([2]).tolist()")'
    shown = installed.run(f"python -m IPython -c {shlex.quote(f'%load_ext simple_torch{chr(10)}{magic}')}")
    assert shown == "[1.0, 1.0]\n"


def test_the_ten_minutes_print_what_the_page_shows(installed):
    """Each command of docs/first-model.md, in its order."""
    installed.run("pip install --no-cache-dir matplotlib")
    folder, count = "/tmp", 0
    for kind, block in steps_of(DOCS / "first-model.md"):
        if kind == "simple":
            (name,) = re.findall(r"\A# (\w+\.spl)\n", block)
            (installed.system.folder / folder[1:] / name).write_text(block)
            continue
        for command, output in commands_of(block):
            if command.startswith("cd "):
                folder = f"{folder}/{command.removeprefix('cd ')}"
            else:
                assert installed.run(f"{{ {command}; true; }}", folder) == output
                count += 1
    assert count == 6
