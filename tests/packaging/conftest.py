"""An installation made from the build under test, laid out as the wheel lays it out."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("simple_torch", "simple_torch_helpers", "simple_torch_jupyter", "simple_torch_command")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like site-packages with the package and its libraries. It has been moved after the installation."""
    build = os.environ.get("SIMPLE_BUILD", str(ROOT / "build" / "release"))
    made = tmp_path_factory.mktemp("installed")
    subprocess.run(
        ["cmake", "--install", build, "--prefix", made / "first", "--strip"], check=True, capture_output=True
    )
    folder = made / "site"
    folder.mkdir()
    for package in PACKAGES:
        shutil.copytree(ROOT / "python" / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    for part in (made / "first").iterdir():
        shutil.move(part, folder / "simple_torch" / part.name)
    return folder


@pytest.fixture(scope="session")
def simple(site: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the command `simple` of the installation, by default with this Python."""

    def run(
        *arguments: str, python: str = sys.executable, paths: tuple[Path, ...] = (), **variables: str
    ) -> subprocess.CompletedProcess[str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("SIMPLE_")}
        inherited["PYTHONPATH"] = ":".join(map(str, (*paths, site)))
        command = [python, "-m", "simple_torch_command", *arguments]
        return subprocess.run(
            command, env={**inherited, **variables}, capture_output=True, text=True, check=False, timeout=300, cwd="/"
        )

    return run
