"""Installations made from the build under test: as `cmake --install` makes it, and as the wheel lays it out."""

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
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The build under test, installed and moved: no file of it is where `cmake --install` put it."""
    build = os.environ.get("SIMPLE_BUILD", str(ROOT / "build" / "release"))
    made = tmp_path_factory.mktemp("prefix")
    subprocess.run(
        ["cmake", "--install", build, "--prefix", made / "first", "--strip"], check=True, capture_output=True
    )
    return (made / "first").rename(made / "moved")


@pytest.fixture(scope="session")
def site(prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like site-packages with the package and its libraries."""
    folder = tmp_path_factory.mktemp("installed") / "site"
    folder.mkdir()
    for package in PACKAGES:
        shutil.copytree(ROOT / "python" / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    (tree,) = prefix.glob("lib*/**/simple-torch")
    for part in (*tree.iterdir(), prefix / "include"):
        shutil.copytree(part, folder / "simple_torch" / part.name, symlinks=True)
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
