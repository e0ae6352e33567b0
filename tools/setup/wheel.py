"""bin/simple wheel: builds the Python package, with a backend for each torch and the libraries that it needs."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import system
from console import SetupError, log, run, step
from environments import install_locks, make_tools, uv_command, uv_variables
from layout import DEFAULT_TORCH, REQUIREMENTS, ROOT, STATE, TORCH_VERSIONS, WHEEL_VERSIONS, environment

DIST = ROOT / "dist"
_TOOLS = STATE / "wheel-tools"
_LOCK = REQUIREMENTS / "wheel.lock"
# What the environment of the user has: PyTorch and Python.
_NOT_BUNDLED = ("libtorch*", "libc10*", "libshm*", "libpython*")


def build_wheel(torch_versions: Sequence[str], out: Path = DIST) -> Path:
    """Builds a wheel for the Python of set-up, and returns its path.

    Its backends are those of `torch_versions`. The environments of bin/simple setup are used where they are complete;
    else only the torch of each is installed, which is enough to build.
    """
    STATE.mkdir(exist_ok=True)  # in a checkout without a set-up
    python = _base_python()
    pythons = [_python_with_torch(minor, python) for minor in ordered(torch_versions)]
    tools = wheel_tools(python)
    with step(f"Wheel with backends for torch {', '.join(torch_versions)}"):
        return _packed(tools, python, STATE, out, SIMPLE_TORCH_PYTHONS=";".join(map(str, pythons)))


def wheel_of_build(build: Path, work: Path) -> Path:
    """Packs what `build` has compiled as a wheel below `work`, for tests: by the same steps, without the compiler."""
    python = _base_python()
    tools = wheel_tools(python)
    run(["cmake", "--install", build, "--prefix", work / "prefix", "--strip"])
    (tree,) = (work / "prefix").glob("lib*/**/simple-torch")
    settings = {"build-dir": work / "cmake", "cmake.define.SIMPLE_TORCH_INSTALLED": tree}
    return _packed(tools, python, work, work / "dist", settings)


def _base_python() -> str:
    """The Python of set-up, after it has installed the packages of the system that it and a build need."""
    machine = system.inspect_machine()
    plan = system.plan(machine, with_python=True)
    if plan.packages:
        with step("System packages"):
            system.install(plan.packages, is_root=machine.is_root)
    return plan.python


def wheel_tools(python: str | None = None) -> Path:
    """The environment with scikit-build-core and auditwheel (40 MB). The first use installs it."""
    return make_tools(_TOOLS, _LOCK, "Tools for wheels", python or _base_python())


def _packed(tools: Path, python: str, work: Path, out: Path, settings: Mapping = {}, **variables: str) -> Path:
    """Runs scikit-build-core with these settings, and auditwheel."""
    raw = work / "wheel"
    shutil.rmtree(raw, ignore_errors=True)
    words = [word for name, value in settings.items() for word in ("--config-setting", f"{name}={value}")]
    run([*uv_command(python), "build", "--wheel", "--no-build-isolation", "--python", tools / "bin" / "python",
         *words, "--out-dir", raw, ROOT], env={**uv_variables(), **variables})  # fmt: skip
    return repaired(tools, single(raw), out, work / "wheel-repaired")


def ordered(minors: Sequence[str]) -> list[str]:
    """The default first: its Python's libraries decide nothing, but its faults are reported first."""
    return sorted(minors, key=lambda minor: (minor != DEFAULT_TORCH, WHEEL_VERSIONS.index(minor)))


def repaired(tools: Path, wheel: Path, out: Path, part: Path) -> Path:
    """Adds the shared libraries of the system, and the tag of the systems on which the wheel runs."""
    shutil.rmtree(part, ignore_errors=True)
    excluded = [word for pattern in _NOT_BUNDLED for word in ("--exclude", pattern)]
    variables = {**os.environ, "PATH": f"{tools / 'bin'}:{os.environ['PATH']}"}
    run([tools / "bin" / "python", "-m", "auditwheel", "repair", *excluded, "--wheel-dir", part, wheel], env=variables)
    out.mkdir(exist_ok=True)
    made = single(part)
    return Path(shutil.move(made, out / made.name))


def single(folder: Path) -> Path:
    found = list(folder.glob("*.whl"))
    if len(found) != 1:
        raise SetupError(f"expected one wheel in {folder}, found {len(found)}")
    return found[0]


def lock_with_torch(minor: str) -> Path:
    """The lock file that has the hashes of a torch: that of its environment, or one for the wheel alone."""
    name = f"runtime-{minor}.lock" if minor in TORCH_VERSIONS else f"backend-{minor}.lock"
    return REQUIREMENTS / name


def torch_requirement(lock: str) -> str:
    """The lines of torch in a lock file, with its hashes.

    >>> print(torch_requirement("sympy==1\\n    --hash=a\\ntorch==2.15.0 \\\\\\n    --hash=b\\ntqdm==4"))
    torch==2.15.0 \\
        --hash=b
    """
    found = re.search(r"^torch==.*\n(?:    --hash=.*\n?)*", lock, re.MULTILINE)
    if found is None:
        raise SetupError("the lock file has no torch")
    return found[0].rstrip("\n")


def _python_with_torch(minor: str, base_python: str) -> Path:
    if minor in TORCH_VERSIONS and environment(minor).complete():
        return environment(minor).python
    folder = STATE / f"wheel-torch-{minor}"
    lock = folder.with_name(folder.name + ".lock")
    wanted = torch_requirement(lock_with_torch(minor).read_text())
    if not (folder.exists() and lock.exists() and lock.read_text() == wanted):
        with step(f"torch {minor} without the packages that it needs to run, into {folder}"):
            lock.unlink(missing_ok=True)
            lock_part = lock.with_name(lock.name + ".part")
            lock_part.write_text(wanted)
            install_locks(folder, [lock_part], base_python)
            lock_part.rename(lock)
    return folder / "bin" / "python"


def report(wheel: Path) -> None:
    log(f"{wheel.relative_to(ROOT)} ({wheel.stat().st_size / 1e6:.0f} MB)")
    log(f"install it: {sys.executable} -m pip install {wheel.relative_to(ROOT)}")
