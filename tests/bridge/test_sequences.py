"""Python's tuples, lists and iterables in patterns, and what takes a Python object apart."""

from __future__ import annotations

import datetime
import itertools

import numpy as np
import pytest
from embedded_simple import run

OURS = run(
    """
    use python as py

    fn pair(x):
        val (a, b) = x
        [a, b]
    fn nested(x):
        val (a, (b, c)) = x
        [a, b, c]
    fn rest(x):
        val [a, ...others] = x
        [a, others]
    fn assigned(x):
        var (a, b) = (0, 0)
        a, b = x
        (b, a) = x
        [a, b, x]
    fn looped(xs): [for (a, b) in xs: [a, b]]
    fn looped_without_parentheses(xs):
        val found = []
        for a, b in xs: found.push([a, b])
        found
    fn matched(x):
        match x:
            case (1, b): ["tuple of 1", b]
            case (a, b): ["tuple", a, b]
            case [a, [b, ...c]]: ["list", a, b, c]
            case [a, ...others]: ["longer", a, others]
            case other: ["other", other]
    fn numbered(x):
        val found = []
        for i, item in x: found.push([i, item])
        found
    fn failed(kind, x):
        match kind:
            case "pair": pair(x)
            case "next": next(x)
    fn two_nexts(it): [next(it), next(it)]
    fn formatted(day): "{day:%Y-%m-%d}|{day:%H:%M}|{day.year:>6}"
    """
)


def plain(value):
    """The value as lists, without Simple's collections."""
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


@pytest.mark.parametrize(
    "iterable",
    [(1, 2), [1, 2], {1: 0, 2: 0}, iter([1, 2]), range(1, 3), np.array([1, 2]), (n for n in (1, 2))],
    ids=lambda iterable: type(iterable).__name__,
)
def test_bindings_take_any_iterable_apart(iterable):
    assert plain(OURS.pair(iterable)) == [1, 2]


def test_bindings_may_be_nested_and_open():
    assert plain(OURS.nested((1, iter([2, 3])))) == [1, 2, 3]
    assert plain(OURS.rest(iter("abc"))) == ["a", ["b", "c"]]


def test_assignments_leave_the_variable_alone():
    both = (1, 2)
    first, second, same = OURS.assigned(both)
    assert (first, second) == (2, 1)
    assert tuple(same) == both


def test_loops_take_items_apart():
    counts = {"x": 1, "y": 2}
    expected = [["x", 1], ["y", 2]]
    assert plain(OURS.looped(counts.items())) == expected
    assert plain(OURS.looped_without_parentheses(counts.items())) == expected
    assert plain(OURS.looped_without_parentheses(enumerate("ab"))) == [[0, "a"], [1, "b"]]
    assert plain(OURS.looped([[1, 2], (3, 4)])) == [[1, 2], [3, 4]]


def test_other_items_are_paired_with_their_index():
    assert plain(OURS.numbered(iter([5, "ab", (1, 2, 3)]))) == [[0, 5], [1, "ab"], [2, [1, 2, 3]]]


class Held:
    """An object that is no sequence for patterns, though it can be iterated."""

    def __iter__(self):
        return iter((1, 2))


def test_patterns_distinguish_tuples_from_lists():
    assert plain(OURS.matched((1, "b"))) == ["tuple of 1", "b"]
    assert plain(OURS.matched((2, "b"))) == ["tuple", 2, "b"]
    assert plain(OURS.matched([1, [2, 3]])) == ["list", 1, 2, [3]]
    assert plain(OURS.matched([1, 2, 3])) == ["longer", 1, [2, 3]]
    held = Held()
    kind, same = OURS.matched(held)
    assert kind == "other"
    assert same is held


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        ("pair", (1, 2, 3), "cannot destructure 3 values into 2"),
        ("pair", itertools.count(), "cannot destructure 3 values into 2"),
        ("pair", iter([1]), "cannot destructure 1 values into 2"),
        ("pair", Exception, "object is not iterable"),
        ("next", Held(), "'Held' object is not an iterator"),
    ],
)
def test_errors(kind, value, message):
    with pytest.raises((ValueError, TypeError), match=message):
        OURS.failed(kind, value)


def test_next_returns_items_and_nil_at_the_end():
    assert list(OURS.two_nexts(iter([7]))) == [7, None]


def test_formats_of_dates():
    assert OURS.formatted(datetime.datetime(2020, 1, 2, 3, 4, tzinfo=datetime.timezone.utc)) == (
        "2020-01-02|03:04|  2020"
    )
