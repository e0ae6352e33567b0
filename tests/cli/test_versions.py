"""requirements/versions.json is the one list of supported versions: set-up, CMake and the front agree with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import layout

ROOT = Path(__file__).resolve().parents[2]
VERSIONS = json.loads((ROOT / "requirements" / "versions.json").read_text())
TORCH = sorted(VERSIONS["torch"], key=layout.version_key)

# Run in a process of its own, because a front looks for PyTorch once.
WHY_UNAVAILABLE = """
import ctypes, sys
front = ctypes.CDLL(sys.argv[1])
why = ctypes.c_char_p()
assert front.spt_why_unavailable(ctypes.byref(why)) == 0
print(why.value.decode())
"""


def why_unavailable(front: Path, folder: Path, version: str) -> str:
    """The front's reason for not opening a LibTorch folder that holds no more than a version."""
    (folder / "lib").mkdir(parents=True)
    (folder / "lib" / "libtorch_cpu.so").touch()
    (folder / "build-version").write_text(f"{version}\n")
    command = [sys.executable, "-c", WHY_UNAVAILABLE, front]
    variables = {**os.environ, "SIMPLE_TORCH": str(folder), "SIMPLE_PYTHON": ""}
    return subprocess.run(command, env=variables, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def front(tmp_path: Path) -> Path:
    """The front alone, in a folder without backends."""
    host = os.environ.get("SIMPLE_HOST")
    library = (Path(host).parent.parent if host else ROOT / "build" / "release") / "lib" / "libspl_torch.so"
    copy = tmp_path / "front" / library.name
    copy.parent.mkdir()
    copy.write_bytes(library.read_bytes())
    return copy


def test_set_up_installs_the_versions_that_have_a_lock_file_the_default_first():
    locked = [minor for minor in TORCH if (ROOT / "requirements" / f"torch-{minor}.lock").exists()]
    assert sorted(layout.TORCH_VERSIONS, key=layout.version_key) == locked
    assert layout.TORCH_VERSIONS[0] == layout.DEFAULT_TORCH == VERSIONS["default_torch"]


def test_each_lock_file_belongs_to_a_supported_version_with_known_sizes():
    for lock in (ROOT / "requirements").glob("torch-*.lock"):
        minor = lock.stem.removeprefix("torch-")
        sizes = {"runtime_gb", "environment_gb", "torch_gb"} | (
            {"packages_gb"} if minor in layout.PACKAGES_VERSIONS else set()
        )
        sizes |= {"notebook_gb"} if minor in layout.NOTEBOOK_VERSIONS else set()
        assert set(VERSIONS["torch"][minor]) == sizes


def test_cmake_reads_the_list(tmp_path):
    script = tmp_path / "print.cmake"
    script.write_text(
        f"include({ROOT}/cmake/SupportedVersions.cmake)\n"
        'message("${SIMPLE_TORCH_SUPPORTED_TORCH}")\n'
        'message("${SIMPLE_TORCH_SUPPORTED_PYTHON}")\n'
    )
    done = subprocess.run(["cmake", "-P", script], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines() == [";".join(layout.SUPPORTED_TORCH), ";".join(layout.SUPPORTED_PYTHON)]


def test_the_front_accepts_each_supported_torch(front, tmp_path):
    for minor in TORCH:
        why = why_unavailable(front, tmp_path / minor, f"{minor}.0")
        assert "not supported" not in why
        assert f"libsimple_torch_backend-{minor}.so" in why


def test_the_front_rejects_any_other_torch(front, tmp_path):
    for version in ("1.13.1", "2.1.0", "2.10.0", "2.99.0", "3.11.0"):
        why = why_unavailable(front, tmp_path / version, version)
        assert f"{TORCH[0]} to {TORCH[-1]}" in why
