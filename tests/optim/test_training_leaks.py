"""Training leaks nothing: memory stays flat and no handle is left.

10^5 steps; 10^6 with SIMPLE_LONG_TESTS=1.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from programs import host, is_sanitized

STEPS = 1_000_000 if os.environ.get("SIMPLE_LONG_TESTS") == "1" else 100_000
MOST_GROWTH = 1 << 20
WATCHDOG_S = 900


@pytest.mark.skipif(is_sanitized(), reason="the sanitizer keeps freed memory for a while")
@pytest.mark.skipif(os.environ.get("SIMPLE_TORCH") == "off", reason="there is no PyTorch")
def test_memory_and_handles_stay_flat() -> None:
    program = Path(__file__).with_name("training.spl")
    done = subprocess.run(
        [host(), program, str(STEPS)], capture_output=True, text=True, timeout=WATCHDOG_S, check=False
    )
    assert done.returncode == 0, done.stderr
    grown, more_handles, has_learnt, left = done.stdout.split()
    assert int(grown) <= MOST_GROWTH
    assert (more_handles, has_learnt, left) == ("0", "true", "0")
