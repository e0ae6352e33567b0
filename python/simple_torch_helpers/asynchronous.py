"""Runs awaitables to completion."""

from __future__ import annotations

import asyncio
import atexit
import sys
import threading
from collections.abc import AsyncIterable, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from typing import Any


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


async def _cancel(tasks: list[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class ThreadLoop:
    """The event loop of one thread: what one awaitable opened, the next one can use."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()

    def run(self, awaitable: Awaitable[object]) -> object:
        asyncio.set_event_loop(self.loop)
        task = self.loop.create_task(_value_of(awaitable))
        try:
            return self.loop.run_until_complete(task)
        except BaseException:
            if not task.done():  # interrupted
                self.loop.run_until_complete(_cancel([task]))
            raise

    def close(self) -> None:
        if self.loop.is_closed():
            return
        self.loop.run_until_complete(_cancel(list(asyncio.all_tasks(self.loop))))
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()

    def __del__(self) -> None:
        if sys.is_finalizing():
            return
        try:
            self.close()
        except RuntimeError:  # the thread that deletes it runs another loop
            self.loop.close()


_local = threading.local()


def wait_for(awaitable: Awaitable[object]) -> object:
    """Return the awaitable's result, like `run`, but on one event loop for all awaitables of a thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return loop_of_thread().run(awaitable)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, _value_of(awaitable)).result()


def loop_of_thread() -> ThreadLoop:
    if not hasattr(_local, "loop"):
        _local.loop = ThreadLoop()
        if threading.current_thread() is threading.main_thread():
            atexit.register(_local.loop.close)
    return _local.loop


class Steps:
    """The steps of an asynchronous iterable."""

    def __init__(self, iterable: AsyncIterable[object]) -> None:
        self.iterator = iterable.__aiter__()

    def next(self) -> list[object]:
        """Return the next item in a list; an empty list at the end."""
        try:
            return [wait_for(self.iterator.__anext__())]
        except StopAsyncIteration:
            return []

    def close(self) -> None:
        """Let an asynchronous generator end where it stands."""
        if hasattr(self.iterator, "aclose"):
            wait_for(self.iterator.aclose())


class Manager:
    """An asynchronous context manager as an ordinary one."""

    def __init__(self, manager: AbstractAsyncContextManager[object]) -> None:
        self.manager = manager

    def __enter__(self) -> object:
        return wait_for(self.manager.__aenter__())

    def __exit__(self, *failure: Any) -> Any:
        return wait_for(self.manager.__aexit__(*failure))


async def result_of(wait: Callable[[], object]) -> object:
    """Return the result of `wait`, which blocks on a thread of the running loop's executor meanwhile."""
    return await asyncio.get_running_loop().run_in_executor(None, wait)
