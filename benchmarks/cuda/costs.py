"""Compares the time of calls on a CUDA device: operations from Simple and from Python, and arrays by DLPack.

    SIMPLE_HOST=build/release/bin/simple-host python3 benchmarks/cuda/costs.py

1. `a + b` on 2x2 tensors of the device in a loop, alternately in Simple and in Python: the CPU time of a launch
   while the device computes. Each time is the minimum of its batches; the benchmark synchronizes the device after each.
2. Import and export of one array of the device by simple_torch.Tensor and by torch.Tensor in one process. Rounds
   alternate, and each time is the minimum of its rounds, without the empty loop.

Without a CUDA device it measures nothing. The last column is our time divided by theirs.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("SIMPLE_BUILD") or Path(os.environ["SIMPLE_HOST"]).parent.parent)
BATCHES = 50
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "benchmarks")]
from alternating import CALLS, compared  # noqa: E402

SIMPLE = f"""
use torch
extern fn rt_clock_ns() -> i64
fn work() -> i64:
    val a = torch.ones([2, 2], device: "cuda")
    val b = torch.ones([2, 2], device: "cuda")
    val start = rt_clock_ns()
    for i in 0..{CALLS}: a + b
    val taken = rt_clock_ns() - start
    (a + b).sum().item()
    taken
fn minimum() -> i64:
    var minimum = work()
    for i in 0..{BATCHES}:
        val taken = work()
        if taken < minimum: minimum = taken
    minimum
print torch.no_grad(minimum)
"""
PYTHON = f"""
import time, torch
def work():
    a, b = torch.ones(2, 2, device="cuda"), torch.ones(2, 2, device="cuda")
    start = time.monotonic_ns()
    for _ in range({CALLS}): a + b
    taken = time.monotonic_ns() - start
    (a + b).sum().item()
    return taken
with torch.no_grad():
    work()
    print(min(work() for _ in range({BATCHES})))
"""


def show(name: str, theirs: float, ours: float) -> None:
    print(f"{name:<48}{theirs:9.0f} ns{ours:9.0f} ns{ours / theirs:8.2f}", flush=True)


def loop_times() -> tuple[float, float]:
    """The time of one addition in Python and in Simple."""
    commands = [[sys.executable, "-c", PYTHON], [BUILD / "bin" / "simple-host", "-e", SIMPLE]]
    minimum = [math.inf, math.inf]
    for _ in range(3):
        for i, command in enumerate(commands):
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            minimum[i] = min(minimum[i], float(done.stdout) / CALLS)
    return minimum[0], minimum[1]


def crossings() -> None:
    import cupy
    import simple_torch

    array, tensor = cupy.ones((2, 3), "float32"), torch.ones(2, 3, device="cuda")
    own = simple_torch.from_dlpack(tensor)
    cases = {
        "CuPy's array in": (lambda: torch.from_dlpack(array), lambda: simple_torch.from_dlpack(array)),
        "torch's tensor in": (lambda: torch.from_dlpack(tensor), lambda: simple_torch.from_dlpack(tensor)),
        "out to CuPy": (lambda: cupy.from_dlpack(tensor), lambda: cupy.from_dlpack(own)),
        "out to torch": (lambda: torch.from_dlpack(tensor), lambda: torch.from_dlpack(own)),
    }
    for name, (theirs, ours) in cases.items():
        show(name, *compared(theirs, ours, torch.cuda.synchronize))


if not torch.cuda.is_available():
    print("no CUDA device: nothing is measured")
    sys.exit(0)
print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}: theirs, ours, ours by theirs")
show("a + b from a loop, against Python's", *loop_times())
crossings()
