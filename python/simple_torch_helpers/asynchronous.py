"""Runs awaitables to completion."""

from __future__ import annotations

import asyncio
import atexit
import functools
import sys
import threading
from collections.abc import AsyncIterable, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from typing import Any

from simple_torch_helpers.errors import SIMPLE_FILES


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
        if asyncio._get_running_loop() is None:
            self.close()
        else:  # the thread that deletes it runs another loop
            self.loop.close()


_local = threading.local()


def wait_for(awaitable: Awaitable[object]) -> object:
    """Return the awaitable's result.

    In an async function that Python awaits, its coroutine awaits it. Elsewhere like `run`, but on one event loop for
    all awaitables of a thread.
    """
    stack = current_stack()
    if stack is not None:
        return stack.parent.switch(awaitable)
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
    """Return the result of `wait`, which blocks on a thread of the running loop meanwhile."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return await sys.modules["trio"].to_thread.run_sync(wait)
    return await loop.run_in_executor(None, wait)


# ---- async functions of Simple that Python awaits

SIMPLE_FILES.add(__file__)  # tracebacks do not show the frames below


@functools.cache
def stack_type() -> Any:
    """Return the type of the stacks on which coroutines run; None without the package greenlet."""
    try:
        import greenlet
    except ImportError:
        return None

    class Stack(greenlet.greenlet):
        """The stack of a coroutine. Its waits switch to its parent, with the awaitable."""

    return Stack


def current_stack() -> Any:
    """Return the stack of the coroutine that calls; None elsewhere."""
    greenlets = sys.modules.get("greenlet")
    if greenlets is None or stack_type() is None:
        return None
    current = greenlets.getcurrent()
    return current if isinstance(current, stack_type()) else None


async def drive(function: Callable[..., object], /, *values: object, **named: object) -> object:
    """Return the function's result. Where it waits for an awaitable, this coroutine awaits it."""
    if stack_type() is None:
        return await result_of(functools.partial(function, *values, **named))
    stack = stack_type()(function)
    awaitable = switch(stack, stack.switch, *values, **named)
    while not stack.dead:
        try:
            result = await awaitable
        except BaseException as error:
            awaitable = switch(stack, stack.throw, type(error), error, error.__traceback__)
        else:
            awaitable = switch(stack, stack.switch, result)
    return awaitable


def switch(stack: Any, how: Callable[..., Any], /, *values: object, **named: object) -> Any:
    """Continue the stack, in the context of the running code."""
    here = sys.modules["greenlet"].getcurrent()
    stack.parent = here
    stack.gr_context = here.gr_context
    return how(*values, **named)


_tasks: set[asyncio.Task[object]] = set()  # a loop refers weakly to its tasks


def start_task(run: Callable[[], object], end: Callable[[], object]) -> asyncio.Task[object] | None:
    """Start a task of the running loop that calls `run`, and `end` after it; None if asyncio runs no loop here."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return None

    def done(task: asyncio.Task[object]) -> None:
        _tasks.discard(task)
        end()

    task = loop.create_task(drive(run))
    _tasks.add(task)
    task.add_done_callback(done)
    return task


def wait_for_thread(wait: Callable[[], object]) -> None:
    """Suspend the coroutine until `wait` returns on another thread."""
    wait_for(result_of(wait))
