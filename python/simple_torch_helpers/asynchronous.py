"""Runs awaitables to completion."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor


async def _value_of(awaitable: Awaitable[object]) -> object:
    return await awaitable


def run(awaitable: Awaitable[object]) -> object:
    """Return the awaitable's result. If this thread already runs an event loop, another thread runs the awaitable.

    >>> async def twice(x): return 2 * x
    >>> run(twice(4))
    8
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_value_of(awaitable))
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, _value_of(awaitable)).result()


async def result_of(wait: Callable[[], object]) -> object:
    """Return the result of `wait`, which blocks on a thread of the running loop's executor meanwhile."""
    return await asyncio.get_running_loop().run_in_executor(None, wait)
