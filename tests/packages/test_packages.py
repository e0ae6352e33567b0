"""One short program for each Python package, as a user of Simple writes it.

`bin/simple test --packages` runs all of them in the environment of requirements/packages-*.lock. Other runs have the
packages of requirements/torch-*.lock only, and run SHORT. The `# expect:` comments of a program are its whole output.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from programs import expectations, host

HERE = Path(__file__).resolve().parent
TIME_LIMIT_S = 300
SHORT = (
    "matplotlib",
    "networkx",
    "numpy",
    "pandas",
    "pillow",
    "pyarrow",
    "scikit_image",
    "scikit_learn",
    "scipy",
    "sympy",
    "torchvision",
    "transformers",
)
NAMES = sorted(file.stem for file in HERE.glob("*.spl")) if os.environ.get("SIMPLE_TEST_PACKAGES") else SHORT
# Packages may print warnings and progress to standard error; none of these may occur there.
FAULTS = ("Traceback", "leaked", "terminate", "Exception ignored", "Segmentation fault")

pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)


@pytest.mark.parametrize("name", NAMES)
def test_a_program_uses_the_package(name: str, tmp_path: Path) -> None:
    program = HERE / f"{name}.spl"
    wanted = expectations(program).output
    assert wanted, "the program expects no output"
    # Files that a package writes without being asked land in the test's folder; nothing is downloaded.
    variables = {"TMPDIR": str(tmp_path), "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1", "MPLBACKEND": "agg"}
    done = subprocess.run(
        [host(), program],
        cwd=tmp_path,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT_S,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    assert [line.rstrip() for line in done.stdout.splitlines()] == wanted, done.stderr
    assert not any(fault in done.stderr for fault in FAULTS), done.stderr
