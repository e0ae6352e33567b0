"""Trains on request: a line on standard input is the number of steps; the answer is nanoseconds and the last loss."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import torch

IS_FUSED = sys.argv[1:] == ["fused"]

Batches = list[tuple[torch.Tensor, torch.Tensor]]
LossOf = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def train(optimizer: torch.optim.Optimizer, loss_of: LossOf, batches: Batches, first: int, steps: int) -> float:
    for i in range(first, first + steps):
        inputs, targets = batches[i % len(batches)]
        optimizer.zero_grad()
        loss = loss_of(inputs, targets)
        loss.backward()
        optimizer.step()
    return loss.item()


def answer(run: Callable[[int], float]) -> None:
    for line in sys.stdin:
        start = time.perf_counter_ns()
        loss = run(int(line))
        print(time.perf_counter_ns() - start, loss, flush=True)


def serve(optimizer: torch.optim.Optimizer, loss_of: LossOf, batches: Batches) -> None:
    first = 0

    def run(steps: int) -> float:
        nonlocal first
        first += steps
        return train(optimizer, loss_of, batches, first - steps, steps)

    answer(run)


def serve_steps(step: Callable[[], torch.Tensor]) -> None:
    """For a loop of its own: `step` trains one step and returns its loss."""

    def run(steps: int) -> float:
        for _ in range(steps):
            loss = step()
        return loss.item()

    answer(run)


def fused() -> dict[str, Any]:
    """The optimizer's options: none, or `fused`."""
    return {"fused": True} if IS_FUSED else {}


def seeded_batches(count: int, make: Callable[[], tuple[torch.Tensor, torch.Tensor]]) -> Batches:
    """The same numbers as in worker.spl, generated before the model with a separate seed."""
    torch.manual_seed(1)
    batches = [make() for _ in range(count)]
    torch.manual_seed(0)
    return batches


torch.set_num_threads(1)
