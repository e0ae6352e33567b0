"""Regression tests: the programs in regressions/, each with a comment on the failure without the fix."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

PROGRAMS = sorted((Path(__file__).parent / "regressions").glob("*.spl"))
HOST = os.environ.get("SIMPLE_HOST", "")


@pytest.mark.skipif(not HOST, reason="SIMPLE_HOST is not set")
@pytest.mark.skipif(os.environ.get("SIMPLE_TORCH") == "off", reason="there is no PyTorch")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_the_program_runs_to_its_end(program):
    done = subprocess.run([HOST, program], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("done\n")
