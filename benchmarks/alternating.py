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
    """The minimum time of a call of each over alternating rounds, without the empty loop; each round ends with `settle()`."""
    least = [math.inf, math.inf, math.inf]
    for _ in range(ROUNDS):
        for i, way in enumerate((theirs, ours, lambda: None)):
            least[i] = min(least[i], nanoseconds(way, settle))
    return least[0] - least[2], least[1] - least[2]
