"""The native library that programs with `extern fn` call: native/probe.c, compiled once per test run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent / "native" / "probe.c"
HEADERS = SOURCE.parents[3] / "abi" / "include"


@pytest.fixture(scope="session", autouse=True)
def native_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds libspl_probe.so and makes the host find it."""
    library = tmp_path_factory.mktemp("native") / "libspl_probe.so"
    command = [os.environ.get("CC", "cc"), "-std=c11", "-Wall", "-shared", "-fPIC", "-pthread", f"-I{HEADERS}"]
    subprocess.run([*command, "-o", str(library), str(SOURCE)], check=True)
    os.environ["SIMPLE_SFFI_PATH"] = str(library.parent)
    return library
