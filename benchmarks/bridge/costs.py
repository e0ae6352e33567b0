"""Compares calls of Python through the C ABI and from Simple with direct calls of Python's C API.

    SIMPLE_BUILD=build/release .simple/torch-2.15/bin/python benchmarks/bridge/costs.py

The first two alternate on a C++ thread with one thread state; each time is the minimum of its rounds. From Simple it is
the minimum of 20 loops of 20,000 calls, without the empty loop. Then come Python's calls of a Simple function, by one
thread and by eight (their time divided by all calls), and bulk conversions (crossings.spl). A goal is the largest
accepted multiple of the direct call's time, the largest accepted difference in nanoseconds, or the largest accepted
time; a row that misses it ends with MISSED.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("SIMPLE_BUILD", ROOT / "build" / "release"))
sys.path.insert(0, str(ROOT / "python"))
GOALS = {
    "call": ("at most 1.5 times", lambda theirs, ours: ours <= 1.5 * theirs),
    "tensor-across-and-back": ("at most 20 ns more", lambda theirs, ours: ours <= theirs + 20),
    "error-with-message": ("at most 2 times", lambda theirs, ours: ours <= 2 * theirs),
}
# Of crossings.spl: at most so many nanoseconds, times those of one thread, or milliseconds.
CROSSINGS = {"called-by-1": 1500, "called-by-8": 3, "list": 50, "dict": 60, "2-MB": 5}
FROM_SIMPLE = {"call": 150, "attribute-and-call": 200}  # at most so many nanoseconds more than a direct call


def measure() -> None:
    import simple_torch  # noqa: F401  (the library in this process)

    ctypes.CDLL(str(BUILD / "benchmarks" / "benchmark_bridge.so")).measure()


def rows() -> str:
    """The library's output, from a process of its own, because C's output bypasses Python's."""
    command = [sys.executable, __file__, "here"]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def times_of(name: str) -> dict[str, float]:
    program = Path(__file__).with_name(name)
    command = [BUILD / "bin" / "simple-host", program]
    output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return {line.split()[0]: float(line.split()[1]) for line in output.splitlines()}


def main() -> None:
    subprocess.run(["cmake", "--build", BUILD, "--target", "benchmark_bridge"], check=True, stdout=subprocess.DEVNULL)
    print(f"{'':<28}{'direct':>12}{'ours':>12}{'ratio':>8}")
    direct = {}
    for line in rows().splitlines():
        name, theirs, ours = line.split()[0], float(line.split()[1]), float(line.split()[2])
        direct[name] = theirs
        goal, is_met = GOALS.get(name, ("", lambda theirs, ours: True))
        verdict = f"   ({goal}) {'' if is_met(theirs, ours) else 'MISSED'}" if goal else ""
        print(f"{name:<28}{theirs:9.0f} ns{ours:9.0f} ns{ours / theirs:8.2f}{verdict}")
    for name, ours in times_of("from_simple.spl").items():
        more = FROM_SIMPLE[name]
        verdict = f"   (at most {more} ns more) {'' if ours <= direct[name] + more else 'MISSED'}"
        print(f"{name + ' (Simple)':<28}{direct[name]:9.0f} ns{ours:9.0f} ns{ours / direct[name]:8.2f}{verdict}")
    print_crossings(times_of("crossings.spl"))


def print_crossings(times: dict[str, float]) -> None:
    for name, time in times.items():
        goal = next(goal for prefix, goal in CROSSINGS.items() if name.startswith(prefix))
        is_ratio = name == "called-by-8"
        unit = "ns" if name.startswith("called") else "ms"
        limit, ending = (goal * times["called-by-1"], "times") if is_ratio else (goal, unit)
        verdict = f"   (at most {goal} {ending}) {'' if time <= limit else 'MISSED'}"
        print(f"{name:<40}{time:9.1f} {unit}{verdict}")


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        sys.exit(print(__doc__))
    measure() if sys.argv[1:] == ["here"] else main()
