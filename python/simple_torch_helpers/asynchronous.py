"""Awaitables run to their end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from concurrent.futures import ThreadPoolExecutor


async def _value_of(awaitable: Awaitable[object]) -> object:
    return await awaitable


def run(awaitable: Awaitable[object]) -> object:
    """The awaitable's value. Where this thread runs an event loop already, which cannot wait, another thread runs it.

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
