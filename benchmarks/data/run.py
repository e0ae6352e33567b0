"""Loads the same data in Simple and in Python, epoch by epoch in turns, and prints how many times as fast Simple is.

    SIMPLE_HOST=build/release/bin/simple-host python3 benchmarks/data/run.py [NAME...] [--rounds N]

pictures    JPEG files of 500 x 375 pixels that the benchmark makes, cut to 224 x 224, flipped, coloured and
            normalized, by 2 workers that stay; Python decodes by Pillow, as ImageFolder does by default, or by
            torchvision ("tensors").
rows        a TensorDataset in batches, shuffled, without workers.

Each pair of programs loads with the same seed; each is a process of its own, and while one loads the other waits. A
rate is the median of a row's rounds; a ratio is the median of the rounds' ratios, with its quartiles. "work" is the
same ratio by the seconds of processor time of a program and its workers, so that other work on the machine counts
little. A goal is the ratio by clock to reach at least; what misses it says SHORT. The memory is the peak in one more
epoch of a program and its workers, where shared pages count once (PSS).

Then, of processes that are started anew: the time from the start until the first batch, and of it what the loader
took. Where torchvision decodes, the last batches must agree.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from trees import PeakOfTree, processor_time

FOLDER = Path(__file__).parent
PICTURES, CLASSES = 128, 4


@dataclass
class Row:
    name: str
    program: str
    goal: float
    rounds: int
    simple: tuple[str, ...]  # what each program is told
    python: tuple[str, ...]


def rows_of(pictures: str) -> list[Row]:
    sizes = [Row(f"rows by {n}", "rows", 5.0, 15, (n,), (n,)) for n in ("16", "64", "256")]
    ways = [Row(f"pictures, {way}", "pictures", 1.5, 9, (pictures,), (pictures, way)) for way in ("pillow", "tensors")]
    return ways + sizes


def make_pictures(folder: str) -> None:
    """Coloured clouds with some grain: as large as JPEG files of photographs of this size are."""
    import torch
    from torchvision.io import write_jpeg

    generator = torch.Generator().manual_seed(0)
    for i in range(PICTURES):
        at = Path(folder, f"class{i % CLASSES}")
        at.mkdir(exist_ok=True)
        coarse = torch.rand(1, 3, 12, 16, generator=generator)
        smooth = torch.nn.functional.interpolate(coarse, (375, 500), mode="bicubic")[0]
        grain = torch.randn(3, 375, 500, generator=generator) * 0.04
        write_jpeg(((smooth + grain).clamp(0, 1) * 255).to(torch.uint8), str(at / f"{i:04}.jpg"), 90)


class Loader:
    """A program that loads one epoch when it is told to."""

    def __init__(self, command: list[str]) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(command, text=True, **pipes)

    def epoch(self) -> tuple[float, float, int, float]:
        """Seconds until the first batch, seconds, samples, the mean of the last batch."""
        print("epoch", file=self.process.stdin, flush=True)
        first, taken, samples, mean = self.process.stdout.readline().split()
        return int(first) * 1e-9, int(taken) * 1e-9, int(samples), float(mean)

    def end(self) -> None:
        self.process.stdin.close()
        if self.process.wait() != 0:
            sys.exit(f"{self.process.args} ended with code {self.process.returncode}")


def commands_of(row: Row, host: str) -> list[list[str]]:
    python = [sys.executable, str(FOLDER / f"{row.program}.py"), *row.python]
    return [python, [host, str(FOLDER / f"{row.program}.spl"), *row.simple]]


def spread(values: list[float]) -> str:
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:6.2f} ({low:.2f} … {high:.2f})"


def compare(row: Row, host: str, rounds: int) -> None:
    """Prints the row of rates, and leaves out each program's first epoch, in which workers start."""
    loaders = [Loader(command) for command in commands_of(row, host)]
    means = [loader.epoch()[3] for loader in loaders]
    clock: list[list[float]] = [[], []]
    work: list[list[float]] = [[], []]
    for _ in range(rounds):
        for i, loader in enumerate(loaders):
            before = processor_time(loader.process.pid)
            _, taken, samples, _ = loader.epoch()
            clock[i].append(taken / samples)
            work[i].append(processor_time(loader.process.pid) - before)
    peaks = [peak_of(loader) for loader in loaders]
    for loader in loaders:
        loader.end()
    rates = [1 / statistics.median(taken) for taken in clock]
    ratios = [theirs / ours for theirs, ours in zip(*clock)]
    by_work = statistics.median(theirs / ours for theirs, ours in zip(*work))
    short = "" if statistics.median(ratios) >= row.goal else "  SHORT"
    print(
        f"{row.name:<19}{rates[0]:11.0f}{rates[1]:11.0f}  {spread(ratios):<24}{row.goal:5.1f}{by_work:8.2f}"
        f"{peaks[0] / 1e6:9.0f}{peaks[1] / 1e6:8.0f}{short}",
        flush=True,
    )
    if "pillow" not in row.python and not math.isclose(*means, rel_tol=1e-5, abs_tol=1e-5):
        sys.exit(f"{row.name}: the last batches differ: their means are {means[0]} in Python, {means[1]} in Simple")


def peak_of(loader: Loader) -> int:
    with PeakOfTree(loader.process.pid) as peak:
        loader.epoch()
    return peak.bytes


def compare_starts(row: Row, host: str, rounds: int) -> None:
    whole: list[list[float]] = [[], []]
    loading: list[list[float]] = [[], []]
    for _ in range(rounds):
        for i, command in enumerate(commands_of(row, host)):
            start = time.perf_counter()
            loader = Loader(command)
            first, taken, _, _ = loader.epoch()
            whole[i].append(time.perf_counter() - start - taken + first)
            loading[i].append(first)
            loader.end()
    shown = [f"{statistics.median(times) * 1000:9.0f}" for times in (*whole, *loading)]
    ratios = [theirs / ours for theirs, ours in zip(*whole)]
    print(f"{row.name:<19}{shown[0]}{shown[1]}  {spread(ratios):<24}{shown[2]}{shown[3]}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Loading in Simple against loading in Python.")
    parser.add_argument("names", nargs="*", help="programs (pictures, rows); all without any")
    parser.add_argument("--rounds", type=int, help="of each row; its own number without")
    options = parser.parse_args()
    host = os.environ.get("SIMPLE_HOST")
    if not host:
        sys.exit("SIMPLE_HOST does not name the host's executable")
    with tempfile.TemporaryDirectory() as pictures:
        make_pictures(pictures)
        rows = [row for row in rows_of(pictures) if not options.names or row.program in options.names]
        titles = f"{'samples/s':<19}{'Python':>11}{'Simple':>11}  {'ratio':<24}"
        print(f"{titles}{'goal':>5}{'work':>8}{'MB: Python, Simple':>20}")
        for row in rows:
            compare(row, host, options.rounds or row.rounds)
        print(f"\n{'ms to first batch':<19}{'Python':>9}{'Simple':>9}  {'ratio':<24}{'of which the loader':>18}")
        for row in rows:
            compare_starts(row, host, options.rounds or 5)


if __name__ == "__main__":
    main()
