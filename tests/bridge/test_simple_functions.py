"""Simple functions are Python functions for those that look: inspect, copy, weak references, classes, frames."""

from __future__ import annotations

import asyncio
import collections.abc
import copy
import fractions
import gc
import inspect
import os
import pickle
import sys
import typing
import warnings
import weakref
from pathlib import Path

import pytest

if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
torch = pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from simple_torch import run  # noqa: E402

MODULE = run(
    '''
use torch

fn scale(values: [f64], factor: f64 = 2.0, name: text = "x", flag: bool = true):
    """Multiplies each value."""
    values.map(\\v: v * factor)
fn optional(a: i64?, b: i64 | text, c: torch.Tensor, d: (i64, text), e: {text: [i64]}) -> bool: true
fn collect(first, rest..., sep: text = "-", **named): (first, rest, sep, named)
fn computed(a, b = a * 10, c = [b]): (a, b, c)
fn untyped(a, b): a
fn pair(pairs): pairs.map(\\(a, b): a + b)
val add_pair = |(a, b), c| a + b + c
class Counter:
    count: i64 = 0
    me add(by: i64 = 1) -> i64:
        self.count += by
        self.count
    static fn create(start: i64): Counter(count: start)
fn numbers(n: i64):
    for i in 0..n: yield i
fn fails(x): panic("broken")
fn call(f): f()
fn is_same(f): f is untyped
fn itself(): untyped
fn maker(k): \\x: x + k
'''
)


def test_the_signature_has_names_defaults_and_types():
    assert str(inspect.signature(MODULE.scale)) == (
        "(values: list[float], factor: float = 2.0, name: str = 'x', flag: bool = True)"
    )
    hints = typing.get_type_hints(MODULE.optional)
    assert hints == {
        "a": int | None,
        "b": int | str,
        "c": torch.Tensor,
        "d": tuple[int, str],
        "e": dict[str, list[int]],
        "return": bool,
    }
    assert str(inspect.signature(MODULE.collect)) == "(first, *rest, sep: str = '-', **named)"


def test_the_function_has_pythons_attributes():
    scale = MODULE.scale
    assert (scale.__name__, scale.__qualname__, scale.__doc__) == ("scale", "scale", "Multiplies each value.")
    assert scale.__module__ == "simple_torch"
    assert MODULE.untyped.__doc__ is None
    scale.note = 3
    assert scale.__dict__ == {"note": 3}
    assert MODULE.scale.note == 3
    assert inspect.isfunction(scale)
    assert scale.__code__.co_name == "scale"
    assert MODULE.maker(1).__name__ == "<lambda>"


def test_the_same_function_is_the_same_object_while_python_holds_it():
    assert MODULE.untyped is MODULE.untyped
    assert MODULE.is_same(MODULE.untyped)
    assert MODULE.itself() is MODULE.untyped
    counter = MODULE.Counter()
    assert counter.add == counter.add
    assert hash(counter.add) == hash(counter.add)
    assert counter.add != MODULE.Counter().add
    assert MODULE.maker(1) != MODULE.maker(1)


def test_functions_are_released_and_referenced_weakly():
    made = MODULE.maker(1)
    seen = weakref.ref(made)
    assert made(1) == 2
    del made
    gc.collect()
    assert seen() is None


def test_functions_are_copied_as_functions_are():
    assert copy.copy(MODULE.untyped) is MODULE.untyped
    assert copy.deepcopy([MODULE.untyped])[0] is MODULE.untyped


def test_arguments_are_passed_as_in_python():
    assert MODULE.collect(1) == (1, [], "-", {})
    assert MODULE.collect(1, 2, 3, sep="+", other=4) == (1, [2, 3], "+", {"other": 4})
    assert MODULE.computed(1) == (1, 10, [10])
    assert MODULE.computed(1, 2) == (1, 2, [2])
    assert MODULE.computed(1, c=5) == (1, 10, 5)
    assert MODULE.computed(b=2, a=1) == (1, 2, [2])
    assert MODULE.add_pair((1, 2), 3) == 6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MODULE.untyped(1), "untyped() missing 1 required positional argument: 'b'"),
        (lambda: MODULE.untyped(1, 2, 3), "untyped() takes 2 positional arguments but 3 were given"),
        (lambda: MODULE.untyped(1, b=2, c=3), "untyped() got an unexpected keyword argument 'c'"),
        (lambda: MODULE.Counter().add(1, 2), "add() takes from 1 to 2 positional arguments but 3 were given"),
    ],
)
def test_wrong_arguments_are_a_type_error(call, message):
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value) == message


def test_a_function_in_a_class_is_a_method():
    class Box:
        pick = MODULE.untyped

    box = Box()
    assert box.pick(3) is box


def test_a_frame_stands_for_the_call():
    names = MODULE.call(lambda: [frame.function for frame in inspect.stack()[1:4]])
    assert names[0] == "call"
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        MODULE.call(lambda: warnings.warn("old", stacklevel=3))
    assert seen[0].filename == __file__
    with pytest.raises(RuntimeError, match="broken") as caught:
        MODULE.fails(1)
    assert caught.traceback[1].name == "fails"


def test_generator_functions_are_generator_functions():
    assert inspect.isgeneratorfunction(MODULE.numbers)
    made = MODULE.numbers(3)
    assert inspect.isgenerator(made)
    assert next(made) == 0
    assert list(made) == [1, 2]


ASYNC = run(
    """
async fn later(x): x + 1
async fn failing(): panic("late")
fn started(): later(4)
"""
)


def test_async_functions_are_coroutine_functions():
    assert inspect.iscoroutinefunction(ASYNC.later)

    async def both():
        return await asyncio.gather(ASYNC.later(1), ASYNC.later(2))

    assert asyncio.run(both()) == [2, 3]
    with pytest.raises(RuntimeError, match="late"):
        asyncio.run(ASYNC.failing())


def test_futures_are_awaitable():
    async def main():
        return await ASYNC.started()

    assert asyncio.run(main()) == 5


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("1 / zero", ZeroDivisionError),
        ("1 % zero", ZeroDivisionError),
        ("[1][5]", IndexError),
        ("torch.ones([2])[5]", IndexError),
        ('torch.load("/absent/file.pt")', FileNotFoundError),
        ("torch.linalg.inv(torch.zeros([2, 2]))", torch.linalg.LinAlgError),
        ("torch.ones([2]) @ torch.ones([3])", RuntimeError),
        ('panic("division by zero, wrote the program")', RuntimeError),
    ],
)
def test_failures_have_the_classes_of_python(source: str, kind: type[Exception]) -> None:
    failing = run(f"use torch\nfn fails(zero): {source}\nfn caught(f): torch.attempt(\\: f()).unwrap_err().message()")
    with pytest.raises(kind) as failure:
        failing.fails(0)
    assert type(failure.value) is kind
    assert str(failure.value) in failing.caught(lambda: failing.fails(0))


GENERATORS = run(
    """
use python as py

val log = []
fn echo():
    var got = []
    var x = yield "ready"
    while x != "stop":
        got.push(x)
        x = yield got.len()
    got
fn counting():
    yield 1
    yield 2
    "done"
fn guarded(error):
    with py.import("contextlib").suppress(error):
        yield 1
        yield 2
    yield 3
fn deferring():
    defer log.push("deferred")
    yield 1
    log.push("not reached")
fn stubborn(error):
    with py.import("contextlib").suppress(error):
        yield 1
    yield 2
fn stops(raises):
    yield 1
    raises()
fn started(): echo()
fn logged(): log
"""
)


def test_a_generator_receives_what_is_sent():
    made = GENERATORS.echo()
    assert next(made) == "ready"
    assert (made.send("a"), made.send(["b"])) == (1, 2)
    with pytest.raises(StopIteration) as ended:
        made.send("stop")
    assert ended.value.value == ["a", ["b"]]
    with pytest.raises(StopIteration) as ended:
        next(made)
    assert ended.value.value is None

    def outer():
        return (yield from GENERATORS.counting())

    delegating = outer()
    assert (next(delegating), next(delegating)) == (1, 2)
    with pytest.raises(StopIteration, match="done"):
        next(delegating)


def test_a_generator_object_of_the_program_is_a_generator():
    made = GENERATORS.started()
    assert isinstance(made, collections.abc.Generator)
    assert made.__name__ == "echo"
    with pytest.raises(TypeError, match="can't send non-None value to a just-started generator"):
        made.send(1)
    assert next(made) == "ready"
    assert made.send(None) == 1
    made.close()
    assert list(made) == []


def test_an_exception_is_raised_at_the_yield():
    made = GENERATORS.guarded(KeyError)
    assert next(made) == 1
    assert made.throw(KeyError("k")) == 3
    made = GENERATORS.guarded(KeyError)
    next(made)
    error = ValueError("other")
    with pytest.raises(ValueError, match="other") as caught:
        made.throw(error)
    assert caught.value is error
    assert list(made) == []
    fresh = GENERATORS.guarded(KeyError)
    with pytest.raises(KeyError):
        fresh.throw(KeyError)
    with pytest.raises(KeyError):
        GENERATORS.started().throw(KeyError, KeyError("k"))
    with pytest.raises(TypeError, match="must be classes or instances deriving from BaseException"):
        GENERATORS.started().throw(3)


def test_close_runs_deferred_code():
    made = GENERATORS.deferring()
    next(made)
    made.close()
    assert list(GENERATORS.logged()) == ["deferred"]
    assert list(made) == []
    GENERATORS.deferring().close()
    stubborn = GENERATORS.stubborn(GeneratorExit)
    next(stubborn)
    with pytest.raises(RuntimeError, match="generator ignored GeneratorExit"):
        stubborn.close()


def test_a_stop_iteration_inside_is_no_end():
    made = GENERATORS.stops(lambda: next(iter([])))
    next(made)
    with pytest.raises(RuntimeError, match="generator raised StopIteration"):
        next(made)


SHOWN = run(
    """
use python as py
val fractions = py.import("fractions")
val LIMIT = 3
var changing = 1
fn shown(a, b = LIMIT * 2, c = (1, 2), d = fractions.Fraction(1, 2), e = py.eval("1j")): (b, c, d, e)
fn fresh(xs = [], ys = [LIMIT]):
    xs.push(1)
    ys.push(1)
    (xs, ys)
fn computed(a, b = a, c = changing, d = count()): (b, c, d)
fn count():
    changing += 1
    changing
fn failing(x = fractions.missing): x
fn typed(a: fractions.Fraction, b: [fractions.Fraction], c: fractions.Fraction?) -> fractions.Fraction: a
fn local(Of, k):
    fn inner(x: Of, y: {text: Of} = nil, z = fractions.Fraction(k)) -> Of: (x, z)
    inner
class Estimator:
    base: any = nil
    fn fit(x, by = fractions.Fraction(1, 3)): by
fn keyword(rest..., by = fractions.Fraction(1, 4)): by
"""
)


def test_computed_defaults_are_shown_where_that_has_no_effect():
    half = fractions.Fraction(1, 2)
    assert SHOWN.shown.__defaults__ == (6, (1, 2), half, 1j)
    assert SHOWN.shown(1) == (6, (1, 2), half, 1j)
    shown = SHOWN.shown
    assert shown(1)[2] is shown.__defaults__[2]  # Python computes a default once
    assert str(inspect.signature(SHOWN.computed)) == "(a, b=..., c=..., d=...)"
    assert SHOWN.computed(7)[:2] == (7, 1)
    assert str(inspect.signature(SHOWN.failing)) == "(x=...)"
    with pytest.raises(AttributeError, match="missing"):
        SHOWN.failing()
    assert SHOWN.failing(3) == 3
    estimator = SHOWN.Estimator()
    assert inspect.signature(estimator.fit).parameters["by"].default == fractions.Fraction(1, 3)
    assert (SHOWN.keyword(), SHOWN.keyword(by=2)) == (fractions.Fraction(1, 4), 2)
    assert SHOWN.keyword.__kwdefaults__ == {"by": fractions.Fraction(1, 4)}


def test_a_shown_array_is_a_new_one_at_each_call():
    assert SHOWN.fresh.__defaults__ == ([], [3])
    assert SHOWN.fresh() == SHOWN.fresh() == ([1], [3, 1])


def test_annotations_are_pythons_classes():
    of = fractions.Fraction
    assert typing.get_type_hints(SHOWN.typed) == {"a": of, "b": list[of], "c": of | None, "return": of}
    first, second = SHOWN.local(of, 2), SHOWN.local(int, 5)
    assert typing.get_type_hints(first) == {"x": of, "y": dict[str, of], "return": of}
    assert typing.get_type_hints(second) == {"x": int, "y": dict[str, int], "return": int}
    assert (first(1), second(1)) == ((1, of(2)), (1, of(5)))


RAISING = run("""
fn missing(key): raise KeyError(key)
fn looked_up(key):
    try: ({1: 2})[key]
    except KeyError: raise
fn several(): raise ValueError("k", 3)
fn ended(): raise StopAsyncIteration()
fn chained(function):
    try: function("x")
    except Exception as error: raise ValueError("outer") from error
fn own_chain(function):
    try: chained(function)
    except ValueError as error: raise RuntimeError("outermost") from error
fn of_python(error, function):
    try: function("x")
    except Exception as cause: raise error from cause
class Own(Exception):
    code: i64 = 3
fn own(): raise Own("bad")
""")


def test_an_exception_has_the_arguments_with_which_it_was_raised():
    for key in ("v", 5, (3, "z")):
        with pytest.raises(KeyError) as raised:
            RAISING.missing(key)
        assert raised.value.args == (key,)
        with pytest.raises(KeyError) as raised:
            RAISING.looked_up(key)
        assert raised.value.args == (key,)
    with pytest.raises(ValueError) as raised:
        RAISING.several()
    assert raised.value.args == ("k", 3)
    with pytest.raises(StopAsyncIteration):
        RAISING.ended()
    with pytest.raises(Exception, match="Own: bad"):
        RAISING.own()


def test_the_cause_of_an_exception_is_its_cause_in_python():
    with pytest.raises(ValueError) as raised:
        RAISING.chained(int)
    assert str(raised.value) == "outer"
    assert isinstance(raised.value.__cause__, ValueError)
    assert raised.value.__cause__ is raised.value.__context__
    assert "invalid literal" in str(raised.value.__cause__)
    with pytest.raises(RuntimeError) as raised:
        RAISING.own_chain(int)
    assert str(raised.value.__cause__) == "outer"
    assert "invalid literal" in str(raised.value.__cause__.__cause__)
    error = OSError("of Python")
    with pytest.raises(OSError) as raised:
        RAISING.of_python(error, int)
    assert raised.value is error and isinstance(error.__cause__, ValueError)


def test_a_copy_of_a_computed_default_stands_for_it():
    module = run("fn made(): [1, 2]\nfn f(a, xs = made(), *, ys = made()): [a, xs, ys]")
    default = inspect.signature(module.f).parameters["xs"].default
    for one in (copy.copy(default), copy.deepcopy(default), pickle.loads(pickle.dumps(default))):
        assert module.f(5, one, ys=one) == [5, [1, 2], [1, 2]]
