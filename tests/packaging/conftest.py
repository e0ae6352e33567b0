"""Installations made from the build under test: as `cmake --install` makes it, and as the wheel lays it out."""

from __future__ import annotations

import http.server
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
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


class Hello(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hello)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.fixture(scope="session")
def hidden(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A library for LD_PRELOAD that hides those of the system."""
    made = tmp_path_factory.mktemp("preload") / "hidden.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", made, Path(__file__).parent / "hidden_libraries.c"], check=True)
    return str(made)
