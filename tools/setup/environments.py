"""Creates the private virtual environments from their lock files."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from console import run, step
from layout import REQUIREMENTS, STATE, TOOLS, Environment


def make(env: Environment, base_python: str) -> None:
    """Creates `env` in a `.part` folder and moves it to its final path when it is complete.

    An interrupted run leaves the `.part` folder, which the next run replaces; downloads stay in the cache.
    A changed lock file creates a new environment from the cache, by hard links.
    """
    uv = _uv(base_python)
    part = env.folder.with_name(env.folder.name + ".part")
    with step(f"Python packages for torch {env.torch}, into {env.folder}"):
        shutil.rmtree(part, ignore_errors=True)
        # Relocatable: the scripts still find their Python after the move.
        run([uv, "venv", "--quiet", "--relocatable", "--python", base_python, part], env=_uv_variables())
        locks = [str(lock) for lock in env.locks]
        # Bytecode is compiled here; otherwise the first import of each module compiles it, and in a read-only
        # environment every import does.
        sync = [uv, "pip", "sync", "--compile-bytecode", "--require-hashes", "--python", part / "bin" / "python"]
        run([*sync, *locks], env=_uv_variables())
        (part / env.stamp.name).write_text(env.fingerprint())
        _replace(env.folder, part)


def _replace(folder: Path, part: Path) -> None:
    old = folder.with_name(folder.name + ".old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    part.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def _uv(base_python: str) -> Path:
    """Returns the pinned uv, installed in a small environment of its own."""
    uv = TOOLS / "bin" / "uv"
    if not uv.exists():
        part = TOOLS.with_name(TOOLS.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        run([base_python, "-m", "venv", part])
        lock = REQUIREMENTS / "tools.lock"
        run([part / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
             "--require-hashes", "--only-binary", ":all:", "-r", lock])  # fmt: skip
        part.rename(TOOLS)
    return uv


def _uv_variables() -> dict[str, str]:
    """The cache lies next to the environments: files are linked, not copied, and are deleted with the project."""
    variables = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "CONDA_PREFIX")}
    variables.setdefault("UV_CACHE_DIR", str(STATE / "cache"))
    variables["UV_NO_CONFIG"] = "1"
    variables["UV_PYTHON_DOWNLOADS"] = "never"
    return variables
