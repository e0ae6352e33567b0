"""Views of the collections in fields of Simple's objects, and attributes that Python adds to objects."""

from __future__ import annotations

import collections.abc
import copy
import functools
import os
import pickle
import sys
from pathlib import Path

import pytest

if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from simple_torch import run, run_file, view

numpy = pytest.importorskip("numpy")
MODULE = run(
    """
use python as py
class Shelf:
    books: [text] = ["b", "a"]
    counts: {text: i64} = {"x": 1}
    tags: {text} = set(["new"])
    size: f64 = 1.5
    me rename(): self.books = ["renamed"]
    fn joined(): self.books.join("+")
struct Row:
    cells: [i64] = [1]
class Open:
    name: text
    __dict__: {text: any} = {}
    fn shown(): "{self.name} {self.__dict__["note"] ?? "none"}"
    fn method(): 1
fn sorted_through_view(shelf):
    py.view(shelf, "books").sort()
    shelf.books
"""
)


def test_a_list_view_changes_the_field():
    shelf = MODULE.Shelf()
    books = view(shelf, "books")
    assert isinstance(books, collections.abc.MutableSequence)
    books.append("c")
    books[0] = "z"
    books.insert(1, "y")
    books.insert(-100, "first")
    books += ["d", "e"]
    assert shelf.books == ["first", "z", "y", "a", "c", "d", "e"]
    assert shelf.joined() == "first+z+y+a+c+d+e"
    del books[0], books[-1]
    assert books.pop() == "d"
    books.remove("y")
    books[1:] = ["p", "q"]
    assert shelf.books == list(books) == books == ["z", "p", "q"]
    books.sort(reverse=True)
    assert (books[0], books[-1], books[::2], len(books)) == ("z", "p", ["z", "p"], 3)
    books.reverse()
    assert shelf.books == ["p", "q", "z"]
    assert (books + ["r"], ["o"] + books) == (["p", "q", "z", "r"], ["o", "p", "q", "z"])
    assert ("q" in books, books.index("q"), books.count("q"), repr(books)) == (True, 1, 1, "ListView(['p', 'q', 'z'])")
    del books[:2]
    books.clear()
    assert shelf.books == []
    with pytest.raises(IndexError, match="list index -1 is out of range for length 0"):
        books[-1]


def test_a_view_sees_what_simple_assigns():
    shelf = MODULE.Shelf()
    books = view(shelf, "books")
    shelf.rename()
    assert books == ["renamed"]
    assert MODULE.Shelf().books == ["b", "a"]  # the default value of other objects
    assert MODULE.sorted_through_view(MODULE.Shelf()) == ["a", "b"]


def test_a_dict_view_changes_the_field():
    shelf = MODULE.Shelf()
    counts = view(shelf, "counts")
    assert isinstance(counts, collections.abc.MutableMapping)
    counts["y"] = 2
    counts.update(z=3)
    assert shelf.counts == {"x": 1, "y": 2, "z": 3} == counts
    assert (counts.setdefault("x", 5), counts.pop("y"), list(counts.items())) == (1, 2, [("x", 1), ("z", 3)])
    del counts["x"]
    assert ("x" in counts, counts.get("x")) == (False, None)
    for missing in (lambda: counts["x"], lambda: counts.__delitem__("x")):
        with pytest.raises(KeyError, match="x"):
            missing()
    counts.clear()
    assert shelf.counts == {}


def test_a_set_view_changes_the_field():
    shelf = MODULE.Shelf()
    tags = view(shelf, "tags")
    assert isinstance(tags, collections.abc.MutableSet)
    tags.add("old")
    tags |= {"other"}
    tags.discard("new")
    tags.discard("missing")
    assert shelf.tags == {"old", "other"} == tags
    assert tags & {"old"} == {"old"}
    tags.clear()
    assert len(tags) == 0


def test_views_serve_other_libraries():
    row = MODULE.Row([3, 1])
    cells = view(row, "cells")
    cells.append(2)
    assert (row.cells, numpy.asarray(cells).tolist(), sum(cells), copy.copy(cells)) == (
        [3, 1, 2],
        [3, 1, 2],
        6,
        [3, 1, 2],
    )
    assert {"k": [1]}["k"] is not copy.copy(cells)


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: view([1], "books"), TypeError, "view(): owner must be an object of Simple, got list"),
        (lambda: view(MODULE.Shelf(), "size"), TypeError, "view(): size must be an array, a dict or a set, got f64"),
        (lambda: view(MODULE.Shelf(), "pages"), AttributeError, "pages"),
        (lambda: hash(view(MODULE.Shelf(), "books")), TypeError, "unhashable"),
    ],
)
def test_what_has_no_view_is_an_error(make, kind, message):
    with pytest.raises(kind) as caught:
        make()
    assert message in str(caught.value)


# ---- attributes that Python adds


def test_a_class_with_the_field_dict_accepts_new_attributes():
    thing = MODULE.Open("n")
    thing.note = "added"
    marker = thing.marker = object()
    assert (thing.note, thing.shown(), thing.marker is marker) == ("added", "n added", True)
    assert dict(thing.__dict__) == vars(thing) == {"note": "added", "marker": marker}
    assert {"note", "marker", "name"} <= set(dir(thing))
    thing.name = "field"
    assert thing.shown() == "field added"
    del thing.note
    assert (hasattr(thing, "note"), thing.shown()) == (False, "field none")
    assert MODULE.Open("other").__dict__ == {}


def test_added_attributes_belong_to_the_object_of_simple():
    things = [MODULE.Open("n")]
    keep = run("class Kept:\n    x: any = nil").Kept()
    keep.x = things[0]
    things[0].note = 5
    del things[:]
    assert keep.x.note == 5


def test_copies_have_the_attributes():
    thing = MODULE.Open("n")
    thing.note = [1]
    assert copy.copy(thing).note is thing.note
    deep = copy.deepcopy(thing)
    assert (deep.note, deep.note is thing.note) == ([1], False)


def test_pickles_have_the_attributes(tmp_path):
    path = tmp_path / "things.spl"
    path.write_text("class Thing:\n    __dict__: {text: any} = {}\n")
    thing = run_file(path).Thing()
    thing.note = "kept"
    assert pickle.loads(pickle.dumps(thing)).note == "kept"


def test_cached_property_stores_its_value():
    calls = []
    cached = functools.cached_property(lambda self: calls.append(self.name) or len(calls))
    cached.__set_name__(object, "computed")
    thing = MODULE.Open("n")
    assert [cached.__get__(thing), cached.__get__(thing), thing.computed] == [1, 1, 1]


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: setattr(MODULE.Shelf(), "note", 1), "note"),
        (lambda: setattr(MODULE.Row(), "note", 1), "note"),
        (lambda: setattr(MODULE.Open("n"), "method", 1), "method() of Open is a method and cannot be replaced"),
        (lambda: delattr(MODULE.Open("n"), "name"), "cannot delete name, which the class declares"),
        (lambda: delattr(MODULE.Open("n"), "note"), "Open has no attribute note"),
        (lambda: MODULE.Open("n").note, "note"),
        (lambda: vars(MODULE.Shelf()), "__dict__"),
    ],
)
def test_other_changes_are_errors(action, message):
    with pytest.raises((AttributeError, TypeError)) as caught:
        action()
    assert message in str(caught.value)


# ---- fields with a declared type


def test_an_assignment_converts_to_the_declared_type():
    shelf = MODULE.Shelf()
    shelf.size = True
    shelf.books = ("x", "y")
    shelf.counts = collections.ChainMap({"k": numpy.int64(2)})
    shelf.tags = frozenset("t")
    assert (shelf.size, shelf.joined(), shelf.counts, shelf.tags) == (1.0, "x+y", {"k": 2}, {"t"})


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda shelf: setattr(shelf, "size", "large"), "Shelf.size must be f64, got str 'large'"),
        (lambda shelf: setattr(shelf, "size", None), "Shelf.size must be f64, got None"),
        (lambda shelf: setattr(shelf, "books", ["a", 1]), "Shelf.books[1] must be text, got int 1"),
        (lambda shelf: view(shelf, "books").append(1), "an item of Shelf.books must be text, got int 1"),
        (lambda shelf: view(shelf, "books").insert(9, 1), "Shelf.books[2] must be text, got int 1"),
        (lambda shelf: view(shelf, "books").__setitem__(-1, 1), "Shelf.books[-1] must be text, got int 1"),
        (lambda shelf: view(shelf, "books").__setitem__(slice(1), [1]), "Shelf.books[0] must be text, got int 1"),
        (lambda shelf: view(shelf, "counts").__setitem__("y", 0.5), "Shelf.counts['y'] must be i64, got float 0.5"),
        (lambda shelf: view(shelf, "counts").__setitem__(1, 1), "Shelf.counts must have keys that are text, got int 1"),
        (lambda shelf: view(shelf, "tags").add(1), "an item of Shelf.tags must be text, got int 1"),
    ],
)
def test_an_assignment_that_the_type_does_not_fit_is_a_type_error(action, message):
    shelf = MODULE.Shelf()
    with pytest.raises(TypeError) as caught:
        action(shelf)
    assert str(caught.value) == message
    assert (shelf.size, shelf.books, shelf.counts, shelf.tags) == (1.5, ["b", "a"], {"x": 1}, {"new"})
