"""Loads the same data in Simple and in Python, in alternating epochs, and prints Simple's relative speed.

    SIMPLE_HOST=build/release/bin/simple-host python3 benchmarks/data/run.py [NAME...] [--rounds N]

images      JPEG files of 500 x 375 pixels that the benchmark makes, cropped to 224 x 224, flipped, color-jittered and
            normalized, by 2 persistent workers; Python decodes by Pillow, ImageFolder's default, or by torchvision
            ("tensors").
rows        a TensorDataset in batches, shuffled, without workers.

Each pair of programs has the same seed. Each program is a process; one waits while the other loads. A rate is the
median of a row's rounds; a ratio is the median of the rounds' ratios, with its quartiles. "work" is the same ratio by
the processor time of a program and its workers, so that other work on the machine has little effect. A goal is the
smallest accepted ratio by clock; a row that misses it ends with MISSED. The memory is the peak of a program and its
workers in one more epoch; shared pages count once (PSS).

New processes then measure the time from the start to the first batch, and the loader's part of it. Where torchvision
decodes, the last batches must agree.
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

from process_tree import PeakOfTree, processor_time

FOLDER = Path(__file__).parent
IMAGES, CLASSES = 128, 4


@dataclass
class Row:
    name: str
    program: str
    goal: float
    rounds: int
    simple: tuple[str, ...]  # each program's arguments
    python: tuple[str, ...]


def rows_of(images: str) -> list[Row]:
    sizes = [Row(f"rows by {n}", "rows", 5.0, 15, (n,), (n,)) for n in ("16", "64", "256")]
    decoders = [Row(f"images, {name}", "images", 1.5, 9, (images,), (images, name)) for name in ("pillow", "tensors")]
    return decoders + sizes


def make_images(folder: str) -> None:
    """Colored noise whose JPEG files are as large as those of photographs of this size."""
    import torch
    from torchvision.io import write_jpeg

    generator = torch.Generator().manual_seed(0)
    for i in range(IMAGES):
        at = Path(folder, f"class{i % CLASSES}")
        at.mkdir(exist_ok=True)
        coarse = torch.rand(1, 3, 12, 16, generator=generator)
        smooth = torch.nn.functional.interpolate(coarse, (375, 500), mode="bicubic")[0]
        grain = torch.randn(3, 375, 500, generator=generator) * 0.04
        write_jpeg(((smooth + grain).clamp(0, 1) * 255).to(torch.uint8), str(at / f"{i:04}.jpg"), 90)


class Loader:
    """A program that loads one epoch on request."""

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
    """Prints the row of rates without each program's first epoch, in which workers start."""
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
    work_ratio = statistics.median(theirs / ours for theirs, ours in zip(*work))
    missed = "" if statistics.median(ratios) >= row.goal else "  MISSED"
    print(
        f"{row.name:<19}{rates[0]:11.0f}{rates[1]:11.0f}  {spread(ratios):<24}{row.goal:5.1f}{work_ratio:8.2f}"
        f"{peaks[0] / 1e6:9.0f}{peaks[1] / 1e6:8.0f}{missed}",
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
    parser.add_argument("names", nargs="*", help="programs (images, rows); all without any")
    parser.add_argument("--rounds", type=int, help="of each row; its own number without")
    options = parser.parse_args()
    host = os.environ.get("SIMPLE_HOST")
    if not host:
        sys.exit("SIMPLE_HOST does not name the host's executable")
    with tempfile.TemporaryDirectory() as images:
        make_images(images)
        rows = [row for row in rows_of(images) if not options.names or row.program in options.names]
        titles = f"{'samples/s':<19}{'Python':>11}{'Simple':>11}  {'ratio':<24}"
        print(f"{titles}{'goal':>5}{'work':>8}{'MB: Python, Simple':>20}")
        for row in rows:
            compare(row, host, options.rounds or row.rounds)
        print(f"\n{'ms to first batch':<19}{'Python':>9}{'Simple':>9}  {'ratio':<24}{'of which the loader':>18}")
        for row in rows:
            compare_starts(row, host, options.rounds or 5)


if __name__ == "__main__":
    main()
