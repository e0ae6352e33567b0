"""Python environments that tests make, and programs that run in them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

HOST = os.environ.get("SIMPLE_HOST", "")
ROOT = Path(__file__).resolve().parents[2]
PACKAGES = Path(sysconfig.get_path("purelib"))
SETTINGS = ("SIMPLE_PYTHON", "SIMPLE_TORCH", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONNOUSERSITE")


def run(tmp_path: Path, program: str, **variables: str) -> subprocess.CompletedProcess:
    file = tmp_path / "program.spl"
    file.write_text(program)
    inherited = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    return subprocess.run(
        [HOST, file], capture_output=True, text=True, check=False, timeout=120, env={**inherited, **variables}
    )


def with_packages(prefix: Path) -> Path:
    """Link the packages of this Python into an empty environment."""
    folder = next(prefix.glob("lib/python3.*/site-packages"))
    for package in PACKAGES.iterdir():
        if not (folder / package.name).exists():
            (folder / package.name).symlink_to(package)
    return prefix


def uv() -> str | None:
    own = ROOT / ".simple" / "tools" / "bin" / "uv"
    return str(own) if own.exists() else shutil.which("uv")


MAKERS = {
    "venv": lambda folder: [sys.executable, "-m", "venv", "--without-pip", str(folder)],
    "uv": lambda folder: [uv(), "venv", "--quiet", "--offline", "--python", sys.executable, str(folder)],
}
