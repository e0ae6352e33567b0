"""Async functions of Simple that Python awaits: coroutines on the caller's event loop."""

from __future__ import annotations

import asyncio
import collections.abc
import contextvars
import gc
import os
import sys
import threading
import types
from pathlib import Path

import pytest

from programs import skip_greenlets_if_sanitized

ROOT = Path(__file__).resolve().parents[2]
if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
pytest.importorskip("torch")
pytest.importorskip("greenlet")
skip_greenlets_if_sanitized()
sys.path.insert(0, str(ROOT / "python"))
from simple_torch import run  # noqa: E402

MODULE = run(
    """
use torch
use python as py

async fn twice(awaitable): 2 * (await awaitable).to_int()
async fn call(f): f()
async fn named(a, b: i64 = 2, rest..., **more): [a, b, rest, await more["last"]]
async fn in_order(log, name: text, first, second):
    log.append(name + " begins")
    await first
    log.append(name + " goes on")
    await second
    log.append(name + " ends")
async fn guarded(log, awaitable):
    defer log.append("deferred")
    await awaitable
    log.append("not reached")
async fn caught(make):
    match torch.attempt(\\: await make()):
        case Ok(value): "ok {value}"
        case Err(error): "failed: {error.message()}"
fn plain(make): (await make()).to_int() + 1
async fn nested(make): plain(make)
async fn mapped(makes): [for make in makes: make].map(\\make: (await make()).to_int())
async fn within(manager, work):
    async with manager() as entered:
        await work(entered)
        return "done"
async fn total(items) -> i64:
    var sum = 0
    async for item in items(): sum = sum + item.to_int()
    sum
async fn depth(n: i64, make) -> i64: if n == 0: (await make()).to_int() else: 1 + await depth(n - 1, make)
async fn parallel(make) -> i64:
    val futures = [for i in 0..3: twice(make(i))]
    [for future in futures: await future].sum()
async fn on_a_thread(block) -> i64:
    val job = thread.spawn(\\: block().to_int())
    job.join()
async fn on_threads(block) -> i64:
    val futures = [for _ in 0..2: on_a_thread(block)]
    [for future in futures: await future].sum()
async fn failing(make):
    await make()
    panic("late")
async fn abandoned(make):
    val future = failing(make)
    nil

class Counter:
    count: i64 = 0
    async fn add(make):
        self.count = self.count + (await make()).to_int()
    async fn add_twice(make):
        await self.add(make)
        await self.add(make)
        self.count

class Session:
    log: any
    async fn __aenter__():
        self.log.append("enter")
        await (self.log.pause)()
        self
    async fn __aexit__(kind, error, trace):
        await (self.log.pause)()
        self.log.append("exit")
    async fn load(x):
        await (self.log.pause)()
        x + 1
"""
)


class Log(list):
    async def pause(self):
        await asyncio.sleep(0)


async def value_of(value):
    await asyncio.sleep(0)
    return value


def test_it_is_a_coroutine_on_the_loop_of_the_caller():
    async def main():
        task = asyncio.current_task()
        here = threading.get_ident()
        found = await MODULE.call(lambda: [asyncio.current_task(), asyncio.get_running_loop(), threading.get_ident()])
        assert found == [task, asyncio.get_running_loop(), here]
        assert await MODULE.twice(value_of(4)) == 8
        created = asyncio.create_task(MODULE.call(asyncio.current_task))
        assert await created is created

    asyncio.run(main())


def test_arguments_and_defaults():
    async def main():
        assert await MODULE.named(1, last=value_of(5)) == [1, 2, [], 5]
        assert await MODULE.named(1, 3, 4, last=value_of(5)) == [1, 3, [4], 5]
        with pytest.raises(TypeError, match="missing 1 required"):
            await MODULE.named()

    asyncio.run(main())


def test_a_wait_suspends_only_the_function_that_waits():
    async def main():
        log, first, second = [], asyncio.Event(), asyncio.Event()
        done = asyncio.Event()
        done.set()
        a = asyncio.create_task(MODULE.in_order(log, "a", first.wait(), done.wait()))
        b = asyncio.create_task(MODULE.in_order(log, "b", second.wait(), done.wait()))
        await asyncio.sleep(0)
        second.set()
        await b
        first.set()
        await a
        return log

    assert asyncio.run(main()) == ["a begins", "b begins", "b goes on", "b ends", "a goes on", "a ends"]


def test_many_run_at_once():
    async def main():
        barrier = asyncio.Event()
        reached = 0

        async def meet(i):
            nonlocal reached
            reached += 1
            if reached == 500:
                barrier.set()
            await barrier.wait()
            return i

        return await asyncio.gather(*(MODULE.twice(meet(i)) for i in range(500)))

    assert asyncio.run(main()) == [2 * i for i in range(500)]


def test_cancellation_is_an_error_at_the_wait():
    async def main():
        log = []
        task = asyncio.create_task(MODULE.guarded(log, asyncio.Event().wait()))
        await asyncio.sleep(0)
        task.cancel("enough")
        with pytest.raises(asyncio.CancelledError, match="enough"):
            await task
        assert task.cancelled()
        return log

    assert asyncio.run(main()) == ["deferred"]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="asyncio.timeout is of Python 3.11")
def test_timeouts_in_both_languages():
    async def main():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await MODULE.guarded([], asyncio.Event().wait())
        with pytest.raises(TimeoutError):
            await MODULE.within(lambda: asyncio.timeout(0), lambda entered: asyncio.Event().wait())
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(MODULE.guarded([], asyncio.Event().wait()), 0.001)
        assert await MODULE.within(lambda: asyncio.timeout(60), lambda entered: value_of(1)) == "done"

    asyncio.run(main())


def test_exceptions_are_caught_around_a_wait():
    async def fails():
        await asyncio.sleep(0)
        raise KeyError("k")

    async def main():
        assert await MODULE.caught(fails) == "failed: KeyError: 'k'"
        assert await MODULE.caught(lambda: value_of(3)) == "ok 3"
        with pytest.raises(RuntimeError, match="late"):
            await MODULE.failing(lambda: value_of(1))

    asyncio.run(main())


def test_the_exception_of_python_leaves_as_the_same_object():
    problem = ValueError("same")

    async def fails():
        raise problem

    async def main():
        with pytest.raises(ValueError) as caught:
            await MODULE.nested(fails)
        assert caught.value is problem

    asyncio.run(main())


def test_waits_in_nested_functions_suspend_the_coroutine():
    async def main():
        event = asyncio.Event()

        async def wait(i):
            await event.wait()
            return i

        tasks = [asyncio.create_task(MODULE.nested(lambda: wait(1)))]
        tasks.append(asyncio.create_task(MODULE.mapped([lambda: wait(2), lambda: wait(3)])))
        tasks.append(asyncio.create_task(MODULE.depth(50, lambda: wait(4))))
        await asyncio.sleep(0)
        event.set()
        return await asyncio.gather(*tasks)

    assert asyncio.run(main()) == [2, [2, 3], 54]


def test_async_for_and_async_with_are_on_the_same_loop():
    async def main():
        queue = asyncio.Queue()
        log = []

        async def numbers():
            while (number := await queue.get()) is not None:
                yield number

        class Manager:
            async def __aenter__(self):
                log.append(asyncio.current_task())
                await asyncio.sleep(0)
                return 5

            async def __aexit__(self, *failure):
                await asyncio.sleep(0)
                log.append(failure[0])

        task = asyncio.create_task(MODULE.total(numbers))
        for number in (1, 2, 3, None):
            await asyncio.sleep(0)
            queue.put_nowait(number)
        assert await task == 6
        assert await MODULE.within(Manager, value_of) == "done"
        assert log == [asyncio.current_task(), None]

        async def fails(entered):
            raise KeyError(entered)

        with pytest.raises(KeyError):
            await MODULE.within(Manager, fails)
        assert log[-1] is KeyError

    asyncio.run(main())


def test_methods_are_part_of_the_task():
    async def main():
        task = asyncio.current_task()

        async def one():
            assert asyncio.current_task() is task
            return 1

        assert await MODULE.Counter().add_twice(one) == 2

    asyncio.run(main())


def test_context_variables_are_those_of_the_task():
    variable = contextvars.ContextVar("variable", default="none")

    async def main():
        variable.set("outer")
        assert await MODULE.call(variable.get) == "outer"
        await MODULE.call(lambda: variable.set("inner"))
        assert variable.get() == "inner"

        async def change():
            variable.set("deeper")
            return 1

        await MODULE.twice(change())
        assert variable.get() == "deeper"
        await asyncio.create_task(MODULE.call(lambda: variable.set("of the task")))
        assert variable.get() == "deeper"

    asyncio.run(main())


def test_futures_that_are_not_awaited_at_once_are_tasks():
    async def main():
        tasks, event = set(), asyncio.Event()

        async def make(i):
            tasks.add(asyncio.current_task())
            if len(tasks) == 3:
                event.set()
            await event.wait()
            return i

        assert await MODULE.parallel(make) == 6
        assert len(tasks) == 3 and asyncio.current_task() not in tasks

    asyncio.run(main())


@pytest.mark.parametrize(("function", "expected"), [(MODULE.on_a_thread, 7), (MODULE.on_threads, 14)])
def test_a_wait_for_a_thread_leaves_the_loop_to_others(function, expected):
    async def main():
        started = asyncio.Event()
        loop, proceed = asyncio.get_running_loop(), threading.Event()

        def block():
            loop.call_soon_threadsafe(started.set)
            proceed.wait()
            return 7

        task = asyncio.create_task(function(block))
        await started.wait()
        proceed.set()
        return await task

    assert asyncio.run(main()) == expected


def test_a_failed_future_that_is_never_awaited_is_reported(capfd, monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)  # instead of pytest's

    async def main():
        await MODULE.abandoned(lambda: value_of(1))
        await asyncio.sleep(0.01)

    asyncio.run(main())
    assert "error ignored in an async function that was never awaited: late" in capfd.readouterr().err


def test_a_closed_coroutine_ends_the_function():
    @types.coroutine
    def forever():
        while True:
            yield

    log = []
    coroutine = MODULE.guarded(log, forever())
    coroutine.send(None)
    coroutine.close()
    assert log == ["deferred"]
    coroutine = MODULE.guarded(log, forever())
    coroutine.send(None)
    del coroutine
    gc.collect()
    assert log == ["deferred", "deferred"]
    MODULE.guarded(log, None).close()  # never started


def test_async_methods_of_objects():
    async def main():
        log = Log()
        async with MODULE.Session(log=log) as session:
            assert await asyncio.gather(session.load(1), session.load(2)) == [2, 3]
        return list(log)

    assert asyncio.run(main()) == ["enter", "exit"]


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_anyio(backend):
    anyio = pytest.importorskip("anyio")
    if backend == "trio":
        pytest.importorskip("trio")

    async def main():
        async with anyio.create_task_group() as group:
            event = anyio.Event()
            found = []

            async def wait():
                await event.wait()
                return 3

            async def one():
                found.append(await MODULE.twice(wait()))

            group.start_soon(one)
            group.start_soon(one)
            await anyio.sleep(0)
            event.set()
        assert found == [6, 6]
        with anyio.move_on_after(0) as scope:
            await MODULE.guarded([], anyio.sleep(60))
        assert scope.cancelled_caught

    anyio.run(main, backend=backend)


def test_without_greenlet_a_function_runs_on_another_thread(monkeypatch):
    from simple_torch_helpers import asynchronous

    monkeypatch.setattr(asynchronous, "stack_type", lambda: None)

    async def main():
        assert await MODULE.call(threading.get_ident) != threading.get_ident()
        assert await MODULE.twice(value_of(4)) == 8

    asyncio.run(main())


def test_a_future_runs_as_a_coroutine():
    module = run(
        """
use python as py
async fn later(x):
    await py.import("asyncio").sleep(0.01)
    if x == nil: panic("broken")
    x
fn start(x): later(x)
"""
    )
    assert isinstance(module.start(1), collections.abc.Coroutine)
    assert asyncio.run(module.start(7)) == 7

    async def gathered():
        task = asyncio.create_task(module.start(1))
        return [await task, *await asyncio.gather(module.start(2), module.start(3))]

    assert asyncio.run(gathered()) == [1, 2, 3]
    assert asyncio.run(asyncio.wait_for(module.start(4), 20)) == 4
    with pytest.raises(RuntimeError, match="broken"):
        asyncio.run(module.start(None))
    future = module.start(5)
    future.close()
    assert asyncio.run(future) == 5
