"""The committed files, the table and the built library agree."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def library_folder() -> Path:
    """The library folder of the tested build: that of SIMPLE_HOST, else build/release."""
    host = os.environ.get("SIMPLE_HOST")
    return Path(host).parent.parent / "lib" if host else ROOT / "build" / "release" / "lib"


@pytest.fixture(scope="module")
def front() -> Path:
    path = library_folder() / "libspl_torch.so"
    assert path.exists(), f"{path} is not built"
    return path


def needed(library: Path) -> set[str]:
    lines = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    return {line.split("[")[1].rstrip("]") for line in lines.splitlines() if "(NEEDED)" in line}


def exported(library: Path) -> set[str]:
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in lines.splitlines()}


def test_generated_files_match_the_tables():
    check = subprocess.run(
        [sys.executable, ROOT / "tools" / "generate_abi.py", "--check"], capture_output=True, text=True
    )
    assert check.returncode == 0, check.stdout + check.stderr


def test_the_front_exports_exactly_the_listed_symbols(front):
    listed = set((ROOT / "abi" / "generated" / "symbols.txt").read_text().split())
    assert exported(front) == listed


def test_the_front_needs_neither_torch_nor_python(front):
    foreign = {name for name in needed(front) if "torch" in name or "c10" in name or "python" in name}
    assert not foreign


def test_a_backend_exports_only_its_entry_point_and_needs_no_python():
    backends = sorted(library_folder().glob("libsimple_torch_backend-*.so"))
    for backend in backends:
        assert exported(backend) == {"simple_torch_backend_open"}
        assert not {name for name in needed(backend) if "python" in name}


def test_every_symbol_of_stock_simple_is_exported():
    listed = (ROOT / "abi" / "generated" / "symbols.txt").read_text().split()
    upstream = (ROOT / "tests" / "abi" / "upstream_names.txt").read_text().split()
    missing = [name for name in upstream if name not in listed]
    assert missing == []
