"""Threads of Simple, C, Python and LibTorch run concurrently, under a watchdog.

Set SIMPLE_LONG_TESTS=1 for 10^6 steps.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from programs import host

STEPS = 1_000_000 if os.environ.get("SIMPLE_LONG_TESTS") == "1" else 40_000
WATCHDOG_S = 600


def outcome(program: str, *words: str) -> tuple[int, str, str]:
    """The program's exit code and output; fails if it does not end."""
    try:
        done = subprocess.run(
            [host(), str(Path(__file__).with_name(program)), *words],
            capture_output=True,
            text=True,
            timeout=WATCHDOG_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        pytest.fail(f"no end after {WATCHDOG_S} s: a deadlock")
    return done.returncode, done.stdout, done.stderr


@pytest.mark.skipif(not os.environ.get("SIMPLE_PYTHON"), reason="needs a Python with torch")
def test_eight_threads_with_python_and_backward() -> None:
    assert outcome("mixed_threads.spl", str(STEPS)) == (0, "0 wrong\ntrue\n", "")


@pytest.mark.skipif(not os.environ.get("SIMPLE_PYTHON"), reason="needs a Python with torch")
def test_eight_simple_threads_with_sixteen_c_threads() -> None:
    front = Path(host()).parent.parent / "lib" / "libspl_torch.so"
    assert outcome("native_threads.spl", str(front)) == (0, "0 failed, 0 wrong, 0 left\n", "")


def test_objects_of_errors_are_released_under_the_lock() -> None:
    processes = [
        subprocess.Popen(
            [host(), str(Path(__file__).with_name("failing_threads.spl"))], stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)  # more than cores, so that a thread may end late
    ]
    outcomes = [(process.communicate(timeout=WATCHDOG_S)[0], process.returncode) for process in processes]
    assert outcomes == [("true\n", 0)] * 4
