"""Times two implementations of one operation in alternating rounds."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

ROUNDS, CALLS = 60, 2_000


def nanoseconds(call: Callable[[], object], settle: Callable[[], object]) -> float:
    start = time.perf_counter_ns()
    for _ in range(CALLS):
        call()
    taken = (time.perf_counter_ns() - start) / CALLS
    settle()
    return taken


def compared(
    theirs: Callable[[], object], ours: Callable[[], object], settle: Callable[[], object] = lambda: None
) -> tuple[float, float]:
    """The minimum time of a call of each in alternating rounds, without the empty loop; `settle()` ends each round."""
    minimum = [math.inf, math.inf, math.inf]
    for _ in range(ROUNDS):
        for i, call in enumerate((theirs, ours, lambda: None)):
            minimum[i] = min(minimum[i], nanoseconds(call, settle))
    return minimum[0] - minimum[2], minimum[1] - minimum[2]
