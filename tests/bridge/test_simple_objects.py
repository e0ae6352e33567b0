"""Objects of Simple classes in Python: their class, Python's protocols, identity and copies."""

from __future__ import annotations

import collections.abc
import copy
import gc
import inspect
import os
import pickle
import sys
import weakref
from pathlib import Path

import pytest

if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
torch = pytest.importorskip("torch")
numpy = pytest.importorskip("numpy")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from simple_torch import run  # noqa: E402

MODULE = run(
    """
use python as py

class Point:
    x: i64
    parts: any = nil
    fn double(): self.x * 2
class Other:
    x: i64 = 0
class Sequence:
    items: [any]
    fn __len__(): self.items.len()
    fn __getitem__(i): self.items[i]
    me __setitem__(i, value):
        self.items[i] = value
class Subscripted:
    items: any = nil
    fn __getitem__(key): if self.items == nil: key else: self.items[key]
    me __setitem__(key, value):
        self.items[key] = value
class Numeric:
    value: f64
    fn __int__(): int(self.value)
    fn __float__(): self.value
    fn __index__(): int(self.value)
    fn __round__(digits: i64 = 0): self.value + digits
    fn __abs__(): Numeric(self.value.abs())
    fn __invert__(): "inverted"
    fn __floordiv__(other): "divided by {other}"
    fn __rfloordiv__(other): "divides {other}"
    fn __and__(other): "and {other}"
    fn __lshift__(other): "shifted by {other}"
    fn __div__(other): "ratio with {other}"
class Countdown:
    left: i64
    me next():
        if self.left == 0: return nil
        self.left -= 1
        Some(self.left)
class Fields:
    fn __fspath__(): "/tmp/there"
    fn __array__(dtype = nil, copy = nil): py.import("numpy").array([1, 2])
    fn __call__(a, b = 2): a + b
    fn __contains__(item): item == 3
struct Pair:
    a: i64 = 1
    b: i64 = 2
enum Color:
    Red
    Mixed(weight: f64)
fn itself(value): value
fn same(a, b): a is b
fn numbers():
    yield 1
    yield 2
fn started(): numbers()
fn point(x): Point(x)
fn far(xs): xs[9]
val shared = Point(5)
"""
)


def test_the_type_is_the_class():
    point = MODULE.point(3)
    assert type(point).__name__ == "Point"
    assert type(point) is type(MODULE.point(4))
    assert type(point).__module__ == "simple_torch"
    assert isinstance(point, MODULE.Point)
    assert not isinstance(point, MODULE.Other)
    assert not isinstance(3, MODULE.Point)
    assert type(MODULE.Color.Red).__name__ == "Color"
    assert MODULE.Point.__name__ == "Point"
    assert type(MODULE.Pair()).__name__ == "Pair"


def test_an_object_is_one_object():
    assert MODULE.shared is MODULE.shared
    point = MODULE.point(1)
    assert MODULE.itself(point) is point
    assert MODULE.same(point, point)
    assert {point: 1}[MODULE.itself(point)] == 1
    assert MODULE.point(1) != MODULE.point(1)


def test_objects_are_referenced_weakly_and_released():
    point = MODULE.point(1)
    seen = weakref.ref(point)
    assert seen() is point
    del point
    gc.collect()
    assert seen() is None


def test_weak_references_are_valid_while_simple_holds_the_object():
    module = run(
        """
class Listener:
    heard: i64 = 0
    fn hear(sender, by = 1): self.heard = self.heard + by
var kept: [any] = []
fn keep(listener): kept.push(listener)
fn forget(): kept = []
fn connected(connect):
    val listener = Listener()
    connect(listener.hear)
    listener
"""
    )
    listener = module.Listener()
    module.keep(listener)
    alive, seen, notes = weakref.ref(listener), weakref.WeakSet([listener]), weakref.WeakKeyDictionary({listener: 1})
    number = id(listener)
    del listener
    gc.collect()
    assert id(alive()) == number
    assert [len(seen), notes[module.kept[0]]] == [1, 1]
    module.forget()
    gc.collect()
    assert [alive(), len(seen), len(notes)] == [None, 0, 0]

    receivers = []
    module.keep(module.connected(lambda method: receivers.append(weakref.WeakMethod(method))))
    gc.collect()
    receivers[0]()("sender")
    assert module.kept[0].heard == 1
    module.forget()
    gc.collect()
    assert receivers[0]() is None


def test_methods_are_bound_methods_of_python():
    module = run(
        """
class Base:
    n: i64 = 2
    fn times(by: i64 = 3): self.n * by
class Derived(Base):
    fn plus(x): self.n + x
    fn same(f): f == self.plus
    fn type_of_argument(f): type_of(f)
    @staticmethod
    fn one(): 1
"""
    )
    made = module.Derived()
    assert inspect.ismethod(made.times)
    assert made.times.__self__ is made
    assert made.times == made.times
    assert made.times.__func__ is module.Derived().times.__func__
    assert str(inspect.signature(made.times)) == "(by: int = 3)"
    assert [made.times(), made.times(by=4), made.times.__func__(made, 5), made.one()] == [6, 8, 10, 1]
    assert [made.same(made.plus), made.type_of_argument(made.plus)] == [True, "function"]
    with pytest.raises(TypeError, match=r"times\(\): by must be i64, got str 'a'"):
        made.times("a")


def test_copies():
    inner = MODULE.point(2)
    point = MODULE.Point(1, [inner, "text"])
    shallow, deep = copy.copy(point), copy.deepcopy(point)
    deep.x = 7
    deep.parts[0].x = 9
    assert (point.x, inner.x, deep.double()) == (1, 2, 14)
    shallow.parts[0].x = 4
    assert inner.x == 4
    with pytest.raises(pickle.PicklingError, match="cannot pickle"):
        pickle.dumps(point)


def test_only_callable_objects_are_callable():
    assert not callable(MODULE.point(1))
    with pytest.raises(TypeError, match="'Point' object is not callable"):
        MODULE.point(1)()
    assert callable(MODULE.Fields())
    assert MODULE.Fields()(1, b=3) == 4
    assert callable(MODULE.Point)


def test_sequences():
    sequence = MODULE.Sequence([1, 2, 3])
    assert list(sequence) == [1, 2, 3]
    assert (len(sequence), sequence[-1], sequence[1:], sequence[::2]) == (3, 3, [2, 3], [1, 3])
    assert 2 in sequence
    assert list(reversed(sequence)) == [3, 2, 1]
    sequence[0] = 9
    assert sequence[0] == 9
    with pytest.raises(IndexError, match="index 3 is out of range for array of length 3"):
        sequence[3]
    with pytest.raises(TypeError, match="'Point' object is not subscriptable"):
        MODULE.point(1)[0]
    with pytest.raises(TypeError, match="'Point' object is not iterable"):
        iter(MODULE.point(1))
    with pytest.raises(TypeError, match=r"object of type 'Point' has no len\(\)"):
        len(MODULE.point(1))
    with pytest.raises(IndexError):
        MODULE.far([1])


def test_subscripts_with_tuples():
    key = MODULE.Subscripted()
    assert key[1, (2, 3), 1:2, [4]] == (1, (2, 3), slice(1, 2), [4])
    table = MODULE.Subscripted({(1, 2): "T"})
    assert table[1, 2] == "T"
    table[3, (4,)] = "U"
    assert table.items == {(1, 2): "T", (3, (4,)): "U"}


def test_numbers():
    number = MODULE.Numeric(-2.5)
    assert (int(number), float(number), round(number, 3), abs(number).value) == (-2, -2.5, 0.5, 2.5)
    assert [10, 20, 30][MODULE.Numeric(1.0)] == 20
    assert list(range(MODULE.Numeric(3.0))) == [0, 1, 2]
    assert numpy.arange(5)[MODULE.Numeric(2.0)] == 2
    assert (~number, number // 3, 3 // number, number & 1, number << 2, number / 4) == (
        "inverted",
        "divided by 3",
        "divides 3",
        "and 1",
        "shifted by 2",
        "ratio with 4",
    )
    with pytest.raises(TypeError, match="unsupported operand type"):
        MODULE.point(1) + 1
    with pytest.raises(TypeError):
        int(MODULE.point(1))


def test_iterators():
    countdown = MODULE.Countdown(2)
    assert isinstance(countdown, collections.abc.Iterator)
    assert (next(countdown), next(countdown), next(countdown, "end")) == (1, 0, "end")
    with pytest.raises(StopIteration):
        next(countdown)
    started = MODULE.started()
    assert isinstance(started, collections.abc.Iterator)
    assert (next(started), list(started)) == (1, [2])
    assert not isinstance(MODULE.point(1), collections.abc.Iterable)


def test_other_protocols_are_the_classs_methods():
    fields = MODULE.Fields()
    assert os.fspath(fields) == "/tmp/there"
    assert numpy.asarray(fields).tolist() == [1, 2]
    assert 3 in fields
    assert 4 not in fields


def test_values_are_equal_by_content():
    assert MODULE.Pair() == MODULE.Pair(1, 2)
    assert hash(MODULE.Pair()) == hash(MODULE.Pair(1, 2))
    assert MODULE.Color.Mixed(0.5) == MODULE.Color.Mixed(0.5)


SPECIAL_METHODS = run("""
class Sized:
    count: i64
    fn __len__(): self.count
class Answering(Sized):
    fn __bool__(): true
class Plain:
    x: i64 = 1
class Shown:
    fn __str__(): "str"
    fn __format__(spec): "formatted {spec}"
class Represented(Shown):
    fn __repr__(): "repr"
""")


def test_an_object_without_items_is_false():
    class Child(SPECIAL_METHODS.Plain):
        def __len__(self):
            return 0

    assert not SPECIAL_METHODS.Sized(0) and SPECIAL_METHODS.Sized(2)
    assert SPECIAL_METHODS.Answering(0) and SPECIAL_METHODS.Plain()
    assert not Child()


def test_str_repr_and_format_call_their_own_methods():
    class Child(SPECIAL_METHODS.Plain):
        def __repr__(self):
            return "of Python"

    shown, both = SPECIAL_METHODS.Shown(), SPECIAL_METHODS.Represented()
    assert [str(shown), repr(shown), f"{shown!s}", f"{shown:>3}"] == ["str", "str", "str", "formatted >3"]
    assert [str(both), repr(both), str([both]), f"{both}"] == ["str", "repr", "[repr]", "formatted "]
    assert str(SPECIAL_METHODS.Plain()) == repr(SPECIAL_METHODS.Plain()) == "Plain(x: 1)"
    assert str(Child()) == "of Python"
