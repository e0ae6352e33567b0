"""Compares the time of an optimizer step with torch.optim in Python: a small network, one thread.

    python3 benchmarks/optim/steps.py

A loop of Simple calls our step. Rounds alternate, and each time is the minimum of its rounds. The goal is half of
Python's time; a row that misses it ends with MISSED.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
from simple_torch import run  # noqa: E402

NAMES = [
    "SGD",
    "Adam",
    "AdamW",
    "RMSprop",
    "Adagrad",
    "Adadelta",
    "Adamax",
    "NAdam",
    "RAdam",
    "Rprop",
    "ASGD",
    "Adafactor",
]
CASES = [(name, {}) for name in NAMES] + [
    ("SGD", {"momentum": 0.9}),
    ("SGD", {"fused": True}),
    ("Adam", {"fused": True}),
]
OURS = run(
    "use torch.optim\nfn many(optimizer, n: i64):\n    for _ in 0..n: optimizer.step()\n"
    + "\n".join(f"fn {name}(args..., **named): optim.{name}(args..., **named)" for name in NAMES),
    name="steps",
)
ROUNDS, STEPS, GOAL = 8, 200, 0.5


def parameters() -> list[torch.Tensor]:
    torch.manual_seed(0)
    layers = [torch.nn.Linear(32, 64), torch.nn.Linear(64, 64), torch.nn.Linear(64, 10)]
    params = [param for layer in layers for param in layer.parameters()]
    for param in params:
        param.grad = torch.randn_like(param)
    return params


def microseconds(steps: Callable[[], Any]) -> float:
    start = time.perf_counter()
    steps()
    return (time.perf_counter() - start) / STEPS * 1e6


def steps_of(optimizer: torch.optim.Optimizer) -> None:
    for _ in range(STEPS):
        optimizer.step()


def main() -> None:
    torch.set_num_threads(1)
    print(f"{'microseconds':<28}{'Python':>10}{'ours':>10}{'ratio':>8}")
    for name, options in CASES:
        theirs = getattr(torch.optim, name)(parameters(), **options)
        ours = getattr(OURS, name)(parameters(), **options)
        minimum = [float("inf")] * 2
        for _ in range(ROUNDS):
            minimum[0] = min(minimum[0], microseconds(lambda: steps_of(theirs)))  # noqa: B023
            minimum[1] = min(minimum[1], microseconds(lambda: OURS.many(ours, STEPS)))  # noqa: B023
        shown = ", ".join([name, *(f"{key}={value}" for key, value in options.items())])
        ratio = minimum[1] / minimum[0]
        print(f"{shown:<28}{minimum[0]:>10.1f}{minimum[1]:>10.1f}{ratio:>8.2f}{'' if ratio <= GOAL else '  MISSED'}")


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        sys.exit(print(__doc__))
    main()
