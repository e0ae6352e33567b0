"""Trains the same models in Simple and in Python alternately and prints Simple's speed relative to Python's.

    SIMPLE_HOST=build/release/bin/simple-host python3 benchmarks/train/run.py [NAME...] [--rounds N]

Each pair of programs has the same model, batches (in memory before the first step), seed, optimizer and one thread.
Each program is a process; one waits while the other steps. Steps are counted per second of processor time, so that
other work on the machine has little effect; "by clock" is the ratio of wall-clock times. Both use the minimum of a
row's rounds. A goal is the smallest accepted ratio; a row that misses it ends with MISSED. The losses of the last steps
must agree to 1e-4.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass
class Row:
    program: str
    flags: tuple[str, ...]
    goal: float
    steps: int  # of one request; few enough that Adam's averages do not become denormal, which slows both
    rounds: int


ROWS = [
    Row("mlp", (), 1.5, 20, 30),
    Row("mlp", ("fused",), 1.25, 20, 30),
    Row("lstm", (), 1.1, 40, 40),
    Row("lstm", ("fused",), 1.1, 40, 40),
    Row("gpt", (), 1.05, 10, 40),
    Row("gpt", ("fused",), 1.05, 10, 40),
    Row("resnet", (), 1.0, 1, 20),
    Row("resnet", ("fused",), 1.0, 1, 20),
    Row("dataset", (), 1.0, 2, 30),
    Row("hooks", (), 1.0, 50, 30),
    Row("char_rnn", (), 1.0, 5, 30),
]


class Trainer:
    """A program that trains on request."""

    def __init__(self, command: list[str]) -> None:
        variables = {**os.environ, "OMP_NUM_THREADS": "1"}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(command, text=True, env=variables, **pipes)
        self.processor = math.inf  # seconds per step, the minimum so far
        self.clock = math.inf
        self.loss = math.nan

    def processor_time(self) -> float:
        # Linux's clock id of another process.
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def train(self, steps: int) -> None:
        before = self.processor_time()
        print(steps, file=self.process.stdin, flush=True)
        taken, loss = self.process.stdout.readline().split()
        self.processor = min(self.processor, (self.processor_time() - before) / steps)
        self.clock = min(self.clock, int(taken) * 1e-9 / steps)
        self.loss = float(loss)

    def end(self) -> None:
        self.process.stdin.close()
        if self.process.wait() != 0:
            sys.exit(f"{self.process.args} ended with code {self.process.returncode}")


def compare(row: Row, host: str, rounds: int) -> None:
    theirs = Trainer([sys.executable, str(FOLDER / f"{row.program}.py"), *row.flags])
    ours = Trainer([host, str(FOLDER / f"{row.program}.spl"), *row.flags])
    for _ in range(rounds):
        for trainer in (theirs, ours):
            trainer.train(row.steps)
    for trainer in (theirs, ours):
        trainer.end()
    ratio = theirs.processor / ours.processor
    shown = " ".join([row.program, *row.flags])
    verdict = "" if ratio >= row.goal else "  MISSED"
    print(
        f"{shown:<16}{1 / theirs.processor:10.1f}{1 / ours.processor:10.1f}{ratio:8.2f}{row.goal:8.2f}"
        f"{theirs.clock / ours.clock:10.2f}  {theirs.loss:.6f} {ours.loss:.6f}{verdict}",
        flush=True,
    )
    if not math.isclose(theirs.loss, ours.loss, rel_tol=1e-4):
        sys.exit(f"{shown}: the losses differ: {theirs.loss} in Python, {ours.loss} in Simple")


def main() -> None:
    parser = argparse.ArgumentParser(description="Training in Simple against training in Python.")
    parser.add_argument("names", nargs="*", help="programs; all without any")
    parser.add_argument("--rounds", type=int, help="of each row; its own number without")
    options = parser.parse_args()
    host = os.environ.get("SIMPLE_HOST")
    if not host:
        sys.exit("SIMPLE_HOST does not name the host's executable")
    print(f"{'steps/s':<16}{'Python':>10}{'Simple':>10}{'ratio':>8}{'goal':>8}{'by clock':>10}  last losses")
    for row in ROWS:
        if not options.names or row.program in options.names:
            compare(row, host, options.rounds or row.rounds)


if __name__ == "__main__":
    main()
