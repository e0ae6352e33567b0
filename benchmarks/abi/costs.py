"""Compares the C ABI with LibTorch's C++ interface, and operations from Simple with Python's.

    SIMPLE_HOST=build/release/bin/simple-host python3 benchmarks/abi/costs.py

1. calls.cpp: add on two tensors by a typed function and by a numbered operator, each alternating with at::add in the
   same process. Goals: at most 1.07 and 1.17 times as long on 2x2, at most 1.005 on 1,000,000 elements.
2. `a + b` on 2x2 tensors in a loop, in Simple and in Python alternately; only the loops are timed, and each time is the
   minimum of its batches. Goal: Simple runs at least 1.5 times as many per second.
3. The memory that 10^6 additions from Simple add. Goal: under 1 MB.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

BUILD = Path(os.environ.get("SIMPLE_BUILD") or Path(os.environ["SIMPLE_HOST"]).parent.parent)
CALLS = 2_000  # per batch
BATCHES = 100
ROUNDS = 7
GOALS = {"typed-2x2": 1.07, "numbered-2x2": 1.17, "typed-1000000": 1.005}

SIMPLE = f"""
use torch
torch.set_num_threads(1)
extern fn rt_rss_bytes() -> i64
extern fn rt_clock_ns() -> i64
fn work(n: i64) -> i64:
    val a = torch.ones([2, 2])
    val b = torch.ones([2, 2])
    val start = rt_clock_ns()
    for i in 0..n: a + b
    rt_clock_ns() - start
fn minimum_of(batches: i64) -> i64:
    var minimum = work({CALLS})
    for i in 1..batches:
        val taken = work({CALLS})
        if taken < minimum: minimum = taken
    minimum
torch.no_grad(\\: work({CALLS}))
val before = rt_rss_bytes()
print torch.no_grad(\\: minimum_of({BATCHES}))
print torch.no_grad(\\: work(1000000)) > 0
print rt_rss_bytes() - before
"""
PYTHON = f"""
import time, torch
torch.set_num_threads(1)
def work(n):
    a, b = torch.ones(2, 2), torch.ones(2, 2)
    start = time.monotonic_ns()
    for _ in range(n): a + b
    return time.monotonic_ns() - start
with torch.no_grad():
    work({CALLS})
    print(min(work({CALLS}) for _ in range({BATCHES})))
"""


def output(command: list[str]) -> list[str]:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")


def main() -> None:
    subprocess.run(
        ["cmake", "--build", BUILD, "--target", "benchmark_abi_calls"], check=True, stdout=subprocess.DEVNULL
    )
    print(f"{'':<16}{'C++':>12}{'C ABI':>14}{'ratio':>9}")
    for line in output([str(BUILD / "bin" / "benchmark_abi_calls")]):
        if line:
            name, direct, through = line.split()
            ratio = float(through) / float(direct)
            print(f"{name:<16}{float(direct):9.0f} ns{float(through):11.0f} ns{ratio:9.3f}   (goal {GOALS[name]})")
    simple, python, grown = math.inf, math.inf, 0
    for _ in range(ROUNDS):
        taken, _, grew, *_ = output([os.environ["SIMPLE_HOST"], "-e", SIMPLE])
        simple, grown = min(simple, int(taken)), max(grown, int(grew))
        python = min(python, int(output([sys.executable, "-c", PYTHON])[0]))
    print(
        f"a + b on 2x2: Simple {simple / CALLS:.0f} ns, Python {python / CALLS:.0f} ns, "
        f"{python / simple:.2f} times as often   (goal 1.5)"
    )
    print(f"10^6 additions from Simple: {grown / 1e6:.2f} MB more   (goal under 1)")


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        sys.exit(print(__doc__))
    main()
