"""Python's arguments of Simple functions whose parameters have a declared type: converted, or a TypeError."""

from __future__ import annotations

import datetime
import decimal
import fractions
import inspect
import os
import sys
from pathlib import Path

import pytest

if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
torch = pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from simple_torch import run  # noqa: E402

numpy = pytest.importorskip("numpy")
MODULE = run(
    """
use torch

class Point:
    x: f64
    y: f64 = 0.5
class Circle:
    radius: f64
    fn init(radius: f64, *, names: [text] = []): self.radius = radius
    fn scaled(by: f64): self.radius * by
class Pair<T>:
    first: T
trait Shown:
    fn show(): "shown"
impl Shown for i64:
    fn shown(): "an integer"

fn integer(x: i64): (type_of(x), x)
fn byte(x: u8): x
fn real(x: f64): (type_of(x), x)
fn flag(x: bool): (type_of(x), x)
fn string(x: text): (type_of(x), x)
fn integers(xs: [i64]): (type_of(xs), xs)
fn reals(xs: [f32]): (type_of(xs), xs)
fn rows(xs: [[f64]]): xs
fn items(xs: [any]): (type_of(xs), xs)
fn counts(d: {text: i64}): (type_of(d), d)
fn members(s: {i64}): (type_of(s), s.len())
fn pair(p: (i64, text)): (type_of(p), p)
fn maybe(x: i64?): x
fn either(x: f64 | i64 | [f64]): (type_of(x), x)
fn apply(f: fn(i64) -> i64): f(2)
fn tensor(t: torch.Tensor): type_of(t)
fn point(p: Point): p.x
fn generic<T>(x: T, s: Shown): (x, s)
fn held(p: Pair<i64>): p.first
fn with_defaults(x: i64 = nil, by: f64 = x, xs: [i64] = [x]): (x, by, xs)
fn only_named(*, x: i64): x
fn same_items(x: [any]): x
fn same_values(x: {any: any}): x
fn pairs(xs: [(text, i64)]): [for (k, v) in xs: (k, v)]
fn types_of(x: [any]): [for item in x: type_of(item)]
async fn later(x: i64): x
fn counted(n: i64):
    yield n
"""
)


@pytest.mark.parametrize(
    ("function", "value", "expected"),
    [
        ("integer", 7, ("i64", 7)),
        ("integer", True, ("i64", 1)),
        ("integer", numpy.int8(-3), ("i64", -3)),
        ("integer", torch.tensor(4), ("i64", 4)),
        ("byte", numpy.uint8(200), 200),
        ("real", 2, ("f64", 2.0)),
        ("real", fractions.Fraction(1, 4), ("f64", 0.25)),
        ("real", decimal.Decimal("0.5"), ("f64", 0.5)),
        ("real", numpy.float32(0.5), ("f64", 0.5)),
        ("real", torch.tensor(0.5), ("f64", 0.5)),
        ("flag", numpy.bool_(True), ("bool", True)),
        ("string", numpy.str_("a"), ("text", "a")),
        ("integers", (1, 2), ("array", [1, 2])),
        ("integers", [True, numpy.int64(3)], ("array", [1, 3])),
        ("integers", range(3), ("array", [0, 1, 2])),
        ("integers", {5: "x"}.keys(), ("array", [5])),
        ("integers", (n for n in (1, 2)), ("array", [1, 2])),
        ("integers", numpy.arange(2), ("array", [0, 1])),
        ("integers", torch.arange(2), ("array", [0, 1])),
        ("integers", b"ab", ("array", [97, 98])),
        ("reals", [1, 0.5, fractions.Fraction(1, 4)], ("array", [1.0, 0.5, 0.25])),
        ("rows", [[1], (2.5, 3)], [[1.0], [2.5, 3.0]]),
        ("rows", numpy.ones((1, 2)), [[1.0, 1.0]]),
        ("items", ("a", None), ("array", ["a", None])),
        ("counts", {"b": 1, "a": numpy.int64(2)}, ("dict", {"b": 1, "a": 2})),
        ("members", {1, 2}, ("Set", 2)),
        ("members", frozenset([True, 3]), ("Set", 2)),
        ("pair", (1, "a"), ("tuple", (1, "a"))),
        ("pair", [numpy.int64(1), "a"], ("tuple", (1, "a"))),
        ("maybe", None, None),
        ("maybe", numpy.int64(3), 3),
        ("either", 3, ("i64", 3)),
        ("either", 0.5, ("f64", 0.5)),
        ("either", numpy.int64(3), ("i64", 3)),
        ("either", [1], ("array", [1.0])),
        ("apply", lambda x: x + 1, 3),
        ("tensor", numpy.ones(2), "Tensor"),
        ("tensor", torch.nn.Parameter(torch.ones(1)), "Tensor"),
        ("point", MODULE.Point(2.0), 2.0),
        ("held", MODULE.Pair("a"), "a"),
    ],
)
def test_an_argument_becomes_a_value_of_the_declared_type(function, value, expected):
    result = getattr(MODULE, function)(value)
    assert result == expected
    assert repr(result) == repr(expected)  # 1, 1.0 and True are equal


@pytest.mark.parametrize(
    ("function", "value", "message"),
    [
        ("integer", "7", "integer(): x must be i64, got str '7'"),
        ("integer", 2.5, "integer(): x must be i64, got float 2.5"),
        ("integer", None, "integer(): x must be i64, got None"),
        ("integer", int, "integer(): x must be i64, got type <class 'int'>"),
        ("real", "0.5", "real(): x must be f64, got str '0.5'"),
        ("real", 1j, "real(): x must be f64, got complex 1j"),
        ("real", numpy.ones(2), "real(): x must be f64, got ndarray array([1., 1.])"),
        ("flag", 1, "flag(): x must be bool, got int 1"),
        ("string", b"a", "string(): x must be text, got bytes b'a'"),
        ("integers", "abc", "integers(): xs must be [i64], got str 'abc'"),
        ("integers", {1: 2}, "integers(): xs must be [i64], got dict {1: 2}"),
        ("integers", 3, "integers(): xs must be [i64], got int 3"),
        ("integers", list, "integers(): xs must be [i64], got type <class 'list'>"),
        ("integers", [1, 2.5], "integers(): xs[1] must be i64, got float 2.5"),
        ("integers", torch.tensor(1), "integers(): xs must be [i64], got Tensor tensor(1)"),
        ("rows", [[1], [2, "a"]], "rows(): xs[1][1] must be f64, got str 'a'"),
        ("counts", [1], "counts(): d must be {text: i64}, got list [1]"),
        ("counts", {"a": "b"}, "counts(): d['a'] must be i64, got str 'b'"),
        ("counts", {1: 2}, "counts(): d must have keys that are text, got int 1"),
        ("members", [1], "members(): s must be {i64}, got list [1]"),
        ("pair", (1, 2), "pair(): p[1] must be text, got int 2"),
        ("pair", (1, "a", 2), "pair(): p must be (i64, text), got tuple (1, 'a', 2)"),
        ("maybe", "a", "maybe(): x must be i64?, got str 'a'"),
        ("either", "a", "either(): x must be f64 | i64 | [f64], got str 'a'"),
        ("either", ["a"], "either(): x[0] must be f64, got str 'a'"),
        ("apply", 3, "apply(): f must be function, got int 3"),
        ("tensor", 2.0, "tensor(): t must be torch.Tensor, got float 2.0"),
        ("tensor", [1.0], "tensor(): t must be torch.Tensor, got list [1.0]"),
        ("tensor", numpy.float32(2), "tensor(): t must be torch.Tensor, got float32 np.float32(2.0)"),
        ("point", None, "point(): p must be Point, got None"),
        ("point", "a", "point(): p must be Point, got str 'a'"),
        ("held", 3, "held(): p must be Pair, got int 3"),
    ],
)
def test_a_value_that_no_conversion_fits_is_a_type_error(function, value, message):
    with pytest.raises(TypeError) as caught:
        getattr(MODULE, function)(value)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("function", "value", "message"),
    [
        ("byte", 300, "byte(): x must be u8, got int 300"),
        ("byte", -1, "byte(): x must be u8, got int -1"),
        ("integer", 2**63, "integer(): x must be i64, got int 9223372036854775808"),
        ("integers", [1, -(2**64)], "integers(): xs[1] must be i64, got int -18446744073709551616"),
    ],
)
def test_an_integer_of_too_many_bits_is_an_overflow_error(function, value, message):
    with pytest.raises(OverflowError) as caught:
        getattr(MODULE, function)(value)
    assert str(caught.value) == message


def test_a_gradient_is_not_lost():
    weight = torch.tensor(0.5, requires_grad=True)
    hint = "which requires grad; detach() it, or leave out the type of the parameter"
    with pytest.raises(
        TypeError, match=r"real\(\): x must be f64, got Tensor .*" + hint.replace("(", r"\(").replace(")", r"\)")
    ):
        MODULE.real(weight)
    with pytest.raises(TypeError, match="requires grad"):
        MODULE.reals(torch.ones(2, requires_grad=True))
    assert MODULE.real(weight.detach()) == ("f64", 0.5)


def test_an_error_of_the_value_itself_propagates():
    class Broken:
        def __index__(self):
            raise KeyError("broken")

        def __repr__(self):
            raise ValueError

    with pytest.raises(KeyError, match="broken"):
        MODULE.integer(Broken())
    with pytest.raises(TypeError, match=r"^string\(\): x must be text, got Broken$"):
        MODULE.string(Broken())


def test_a_long_value_is_shortened_in_the_message():
    with pytest.raises(TypeError) as caught:
        MODULE.integer("a" * 1000)
    assert str(caught.value) == f"integer(): x must be i64, got str '{'a' * 59}…"


def test_types_of_generics_and_traits_accept_all_values():
    assert MODULE.generic("a", 3) == ("a", 3)


def test_default_values_are_passed_as_they_are():
    assert MODULE.with_defaults() == (None, None, [None])
    assert MODULE.with_defaults(3) == (3, 3, [3])
    assert MODULE.with_defaults(3, 2) == (3, 2.0, [3])
    assert MODULE.with_defaults(None) == (None, None, [None])
    with pytest.raises(TypeError, match=r"with_defaults\(\): xs must be \[i64\], got int 5"):
        MODULE.with_defaults(xs=5)


def test_keyword_only_parameters_convert_too():
    assert MODULE.only_named(x=True) == 1
    with pytest.raises(TypeError, match=r"only_named\(\): x must be i64, got str 'a'"):
        MODULE.only_named(x="a")


def test_constructors_and_methods_convert_too():
    assert repr(MODULE.Point(1, y=2)) == "Point(x: 1.0, y: 2.0)"
    with pytest.raises(TypeError, match=r"Point\(\): y must be f64, got None"):
        MODULE.Point(1, None)
    assert MODULE.Circle(3).scaled(True) == 3.0
    with pytest.raises(TypeError, match=r"Circle\(\): names\[0\] must be text, got int 1"):
        MODULE.Circle(3.0, names=[1])
    with pytest.raises(TypeError, match=r"scaled\(\): by must be f64, got str 'a'"):
        MODULE.Circle(3.0).scaled("a")


def test_async_functions_and_generators_convert_too():
    import asyncio

    assert list(MODULE.counted(True)) == [1]
    with pytest.raises(TypeError, match=r"counted\(\): n must be i64"):
        next(MODULE.counted("a"))
    assert asyncio.run(MODULE.later(numpy.int64(3))) == 3
    with pytest.raises(TypeError, match=r"later\(\): x must be i64"):
        asyncio.run(MODULE.later(None))


def test_the_signature_is_unchanged():
    assert str(inspect.signature(MODULE.counts)) == "(d: dict[str, int])"
    assert str(inspect.signature(MODULE.point)) == "(p)"


def test_a_python_class_accepts_all_values():
    module = run("fn name_of(item: Item, items: [Item]): items.len()", Item=dict)
    assert module.name_of(3, (1, 2)) == 2


class Words(list):
    pass


@pytest.mark.parametrize(
    "item",
    [
        *(1, 2.5, "a", None, True, 2**80, 1j, b"x", bytearray(b"x"), (1, 2), (), [(1,)], {1, (2,)}),
        *(frozenset({1, b"x"}), Words("a"), decimal.Decimal("0.5"), slice(1, 2)),
        *({(1, 2): b"a"}, {b"k": (1,)}, range(0, 3), range(0, 10, 2)),
        *(numpy.int64(3), numpy.float64(0.5), inspect.FullArgSpec(1, 2, 3, 4, 5, 6, 7), torch.float32),
        *(datetime.date(2026, 1, 1), datetime.timedelta(days=1), datetime.datetime(2026, 1, 1, 2, 3)),
    ],
    ids=repr,
)
def test_items_that_are_declared_as_any_keep_their_class(item):
    for result in (*MODULE.same_items([item]), *MODULE.same_items((0, item))[1:], MODULE.same_values({1: item})[1]):
        assert result == item
        assert type(result) is type(item)


def test_items_that_are_declared_as_any_are_simples_where_nothing_is_lost():
    items = [1, "a", None, (1,), [1], {1: 2}, {1}, frozenset({1}), 1j, b"a"]
    expected = ["i64", "text", "nil", "tuple", "array", "dict", "Set", "FrozenSet", "Complex", "Object"]
    assert MODULE.types_of(items) == expected
    for iterable in ({(1,)}, frozenset({(1,)}), {(1,): 2}.keys(), {1: (1,)}.values()):
        assert MODULE.types_of(iterable) == ["tuple"]
    assert MODULE.types_of(range(2)) == ["i64", "i64"]
    tensor = torch.ones(2)
    assert MODULE.same_items([tensor, 1])[0] is tensor


def test_items_of_a_list_that_are_declared_as_tuples_are_tuples():
    assert MODULE.pairs([("a", 1), ["b", True]]) == [("a", 1), ("b", 1)]


def test_a_list_that_contains_itself_stays_an_object_at_a_depth():
    items = [b"x"]
    items.append(items)
    result = MODULE.same_items(items)
    assert result[1][1][0] == b"x"
    while result is not items:
        result = result[1]


def test_an_assignment_to_a_field_converts():
    module = run(
        """
class Shop:
    books: [text] = []
    sizes: [any] = []
    count: i64 = 0
    fn take(books, sizes, count): self.books = books; self.sizes = sizes; self.count = count
    fn shown(): (self.books.len(), type_of(self.sizes), type_of(self.count))
fn replaced(shop, books):
    shop.books = books
    shop.books.len()
"""
    )
    shop = module.Shop()
    shop.take(["a", "b"], (1, b"x"), numpy.int64(3))
    assert shop.shown() == (2, "array", "i64")
    assert shop.sizes == [1, b"x"]
    assert module.replaced(shop, ("a", "b", "c")) == 3
    shop.books = ["d"]
    assert shop.shown() == (1, "array", "i64")
