"""Eight Simple threads, Python's lock and LibTorch's own threads at once, under a watchdog.

Set SIMPLE_LONG_TESTS=1 for 10^6 steps.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from programs import host

PROGRAM = Path(__file__).parent / "many.spl"
STEPS = 1_000_000 if os.environ.get("SIMPLE_LONG_TESTS") == "1" else 40_000
WATCHDOG_S = 600


@pytest.mark.skipif(not os.environ.get("SIMPLE_PYTHON"), reason="needs a Python with torch")
def test_eight_threads_with_python_and_backward() -> None:
    try:
        done = subprocess.run(
            [host(), str(PROGRAM), str(STEPS)], capture_output=True, text=True, timeout=WATCHDOG_S, check=False
        )
    except subprocess.TimeoutExpired:
        pytest.fail(f"no end after {WATCHDOG_S} s: a deadlock")
    assert (done.returncode, done.stdout, done.stderr) == (0, "0 wrong\ntrue\n", "")
