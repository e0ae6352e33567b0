"""Creates the private virtual environments from their lock files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from console import run, step
from layout import REQUIREMENTS, STATE, TOOLS, Environment


def make(env: Environment, base_python: str) -> None:
    """Creates `env` in a `.part` folder and moves it to its final path when it is complete.

    An interrupted run leaves the `.part` folder, which the next run replaces; downloads stay in the cache.
    A changed lock file creates a new environment from the cache, by hard links.
    """
    part = env.folder.with_name(env.folder.name + ".part")
    with step(f"Python packages for torch {env.torch}, into {env.folder}"):
        install_locks(part, env.locks, base_python)
        (part / env.stamp.name).write_text(env.fingerprint())
        _replace(env.folder, part)


def make_tools(folder: Path, lock: Path, title: str, base_python: str) -> Path:
    """Creates a small environment of programs that set-up starts, or a new one when its lock file changed."""
    stamp = folder / "simple-lock"
    if not (stamp.exists() and stamp.read_text() == lock.read_text()):
        with step(f"{title}, into {folder}"):
            install_locks(folder, [lock], base_python)
            stamp.write_text(lock.read_text())
    return folder


def install_locks(folder: Path, locks: Sequence[Path], base_python: str) -> None:
    """Creates a new environment with exactly the packages of the lock files."""
    shutil.rmtree(folder, ignore_errors=True)
    uv = uv_command(base_python)
    # Relocatable: the scripts still find their Python after the move.
    run([*uv, "venv", "--quiet", "--relocatable", "--python", base_python, folder], env=uv_variables())
    # Bytecode is compiled here; otherwise the first import of each module compiles it, and in a read-only
    # environment every import does.
    sync = [*uv, "pip", "sync", "--compile-bytecode", "--require-hashes", "--python", folder / "bin" / "python"]
    run([*sync, *locks], env=uv_variables())


def _replace(folder: Path, part: Path) -> None:
    old = folder.with_name(folder.name + ".old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    part.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def uv_command(base_python: str) -> list[str | Path]:
    """The pinned uv, which is installed in a small environment of its own."""
    uv = TOOLS / "bin" / "uv"
    if not uv.exists():
        part = TOOLS.with_name(TOOLS.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        run([base_python, "-m", "venv", part])
        lock = REQUIREMENTS / "tools.lock"
        run([part / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
             "--require-hashes", "--only-binary", ":all:", "-r", lock])  # fmt: skip
        part.rename(TOOLS)
    return [uv]


def uv_variables() -> dict[str, str]:
    """The cache lies next to the environments: files are linked, not copied, and are deleted with the project."""
    variables = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "CONDA_PREFIX")}
    variables.setdefault("UV_CACHE_DIR", str(STATE / "cache"))
    variables["UV_NO_CONFIG"] = "1"
    variables["UV_PYTHON_DOWNLOADS"] = "never"
    return variables
