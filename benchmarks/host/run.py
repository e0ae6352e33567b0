"""Runs each pair of programs in Simple and in Python alternately and prints Simple's relative speed.

    SIMPLE_HOST=build/release/bin/simple-host python3 benchmarks/host/run.py [NAME...] [--rounds N]

A pair must print the same. Each time is the minimum of the program's rounds, in user and system time of the process
with its start-up, so that other work on the machine has little effect.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def measured(command: list[str]) -> tuple[float, str]:
    """The processor time of `command` in seconds, and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, output


def compare(name: str, host: str, rounds: int) -> float:
    """Prints one row; returns Python's time divided by Simple's."""
    simple, python = math.inf, math.inf
    for _ in range(rounds):
        time, from_simple = measured([host, str(FOLDER / f"{name}.spl")])
        simple = min(simple, time)
        time, from_python = measured([sys.executable, "-S", str(FOLDER / f"{name}.py")])
        python = min(python, time)
        if from_simple != from_python:
            sys.exit(f"{name}: Simple printed {from_simple!r}, Python {from_python!r}")
    ratio = python / max(simple, 1e-9)
    print(f"{name:<12}{simple * 1000:9.0f} ms{python * 1000:9.0f} ms{ratio:9.2f}x", flush=True)
    return ratio


def main() -> None:
    parser = argparse.ArgumentParser(description="Simple against Python.")
    parser.add_argument("names", nargs="*", help="programs; all without any")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    host = os.environ.get("SIMPLE_HOST")
    if not host:
        sys.exit("SIMPLE_HOST does not name the host's executable")
    names = options.names or sorted(path.stem for path in FOLDER.glob("*.spl"))
    print(f"{'':<12}{'Simple':>12}{'Python':>12}{'ratio':>10}")
    ratios = [compare(name, host, options.rounds) for name in names]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"geometric mean {mean:.2f}x, minimum {min(ratios):.2f}x (CPython {sys.version.split()[0]})")


if __name__ == "__main__":
    main()
