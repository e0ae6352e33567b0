"""Times everyday calls in Python and in Simple alternately and prints the ratio for each.

    SIMPLE_HOST=build/release/bin/simple-host python3 benchmarks/train/calls.py [PART-OF-A-NAME...] [--rounds N]

calls.spl makes the same calls, and answers how long they took. Tensors are small, so that the time is that of the
call. A row shows the medians of its rounds in µs and Simple / Python: below 1, Simple is faster. A row that misses its
goal ends with MISSED. `net` is a module of 20 Linears.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F  # noqa: F401 - the expressions use it
from torch.nn.utils import clip_grad_norm_

GOAL, MEAN_GOAL = 1.0, 0.75  # Simple / Python: each call, and the geometric mean
NANOSECONDS = 2_000_000  # of the repetitions of a call in a round

torch.set_num_threads(1)
torch.manual_seed(0)


class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        return grad * ctx.saved_tensors[0]


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(8, 8) for _ in range(20)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


a, b, zero, out = torch.rand(4, 4), torch.rand(4, 4), torch.zeros(4, 4), torch.rand(4, 4)
cube, y, mask, index = torch.rand(2, 3, 6), torch.rand(8), a > 0.5, torch.tensor([0, 2])
leaf = torch.rand(4, 4, requires_grad=True)
logits, targets = torch.rand(4, 10), torch.tensor([1, 2, 3, 4])
g = torch.Generator().manual_seed(0)
linear, cell, net = torch.nn.Linear(4, 4), torch.nn.LSTMCell(4, 4), Net()


def refill() -> None:
    net(torch.rand(2, 8)).sum().backward()


def assign_item() -> None:
    cube[1][0][5] = 1


def assign_row() -> None:
    cube[0, 1] = 0.0


def add_in_place() -> None:
    x = out
    x += zero


def backward() -> None:
    (leaf * leaf).sum().backward()


def without_grad() -> None:
    with torch.no_grad():
        leaf * 2.0


# The expressions are the rows' names; statements are functions, as in calls.spl. Iterators are read to the end.
STATEMENTS: dict[str, Callable[[], object]] = {
    "out += zero": add_in_place,
    "cube[1][0][5] = 1": assign_item,
    "cube[0, 1] = 0.0": assign_row,
    "(leaf * leaf).sum().backward()": backward,
    "with torch.no_grad(): leaf * 2.0": without_grad,
    "torch.meshgrid(y, y)": lambda: torch.meshgrid(y, y, indexing="ij"),
    "net.parameters()": lambda: list(net.parameters()),
    "net.named_parameters()": lambda: list(net.named_parameters()),
    "net.modules()": lambda: list(net.modules()),
    "clip_grad_norm_(net.parameters())": lambda: clip_grad_norm_(net.parameters(), 1.0),
}


def names_of_calls() -> list[str]:
    """The keys of CALLS in calls.spl."""
    text = Path(__file__).with_suffix(".spl").read_text()
    block = text[text.index("val CALLS = {") : text.index("\n}")]
    return [line.split('"')[1] for line in block.splitlines()[1:]]


def call_of(name: str) -> Callable[[], object]:
    if name in STATEMENTS:
        return STATEMENTS[name]
    expression = name.replace(", dtype)", ", dtype=torch.float64)")
    return eval(f"lambda: {expression}", globals())


def nanoseconds(call: Callable[[], object], count: int) -> int:
    start = time.perf_counter_ns()
    for _ in range(count):
        call()
    return time.perf_counter_ns() - start


class Simple:
    """The process of calls.spl."""

    def __init__(self, host: str) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        variables = {**os.environ, "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [host, str(Path(__file__).with_suffix(".spl"))], text=True, env=variables, **pipes
        )

    def nanoseconds(self, name: str, count: int) -> int:
        print(f"{name}\t{count}", file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"calls.spl ended at {name}")
        return int(answer)

    def end(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def measure(simple: Simple, name: str, rounds: int) -> tuple[float, float]:
    """Medians of a call in µs: Simple, Python."""
    call = call_of(name)
    needs_gradients = "zero_grad" in name or "clip_grad" in name
    count = max(1, min(5_000, NANOSECONDS // max(1, nanoseconds(call, 20) // 20)))
    theirs, ours = [], []
    for i in range(rounds + 1):
        if needs_gradients:
            refill()
            simple.nanoseconds("refill", 1)
        python, spl = nanoseconds(call, count), simple.nanoseconds(name, count)
        if i > 0:  # the first round fills caches
            theirs.append(python / count / 1000)
            ours.append(spl / count / 1000)
    return statistics.median(ours), statistics.median(theirs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help="only calls whose names contain one of these")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # of both processes, which run in turns
    simple = Simple(os.environ["SIMPLE_HOST"])
    names = [n for n in names_of_calls() if not options.parts or any(part in n for part in options.parts)]
    print(f"{'call':36}{'Simple, µs':>12}{'Python, µs':>12}{'ratio':>8}")
    ratios, missed = [], 0
    for name in names:
        ours, theirs = measure(simple, name, options.rounds)
        ratios.append(ours / theirs)
        missed += ours / theirs > GOAL
        print(
            f"{name:36}{ours:12.2f}{theirs:12.2f}{ours / theirs:8.2f}{'  MISSED' if ours / theirs > GOAL else ''}",
            flush=True,
        )
    simple.end()
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    print(f"geometric mean {mean:.2f} (goal {MEAN_GOAL}), {missed} of {len(ratios)} calls above {GOAL}")


if __name__ == "__main__":
    main()
