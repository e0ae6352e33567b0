"""default_collate matches Python."""

from __future__ import annotations

import re
from collections import OrderedDict, namedtuple

import numpy
import pytest
from embedded_simple import equal, run, torch
from torch.utils.data import default_collate, default_convert

OURS = run(
    """
    use torch.utils.data.{default_collate}
    fn simple(value):
        match type_of(value):
            case "Object": simple(if value.type_name() == "tuple": tuple_of(value) else: value.to_value())
            case "array": [for item in value: simple(item)]
            case "dict": value.map_values(simple)
            case _: value
    fn collated(batch): default_collate(batch.to_list().map(simple))
    fn of_python(batch): default_collate([for i in 0..2: batch[i]])
    fn pairs(a, b): default_collate([(a, b), (b, a)])
    use torch.utils.data.pin_memory.{pinned}
    class Pins:
        name: text
        fn pin_memory(): self.name + " pinned"
    fn pins(): pinned({"a": [Pins(name: "a"), 1], "b": (Pins(name: "b"), "text"), "c": (x: Pins(name: "c"), y: nil)})
    fn named_tuples(a, b):
        val both = default_collate([(pixels: a, kind: 1), (pixels: b, kind: 2)])
        (both.pixels, both.kind)
    use torch.utils.data.{DataLoader, default_convert}
    fn converted(array, number, text):
        val (a, b, c) = default_convert((array, [number, 1, 2.5], {"k": array, "t": text}))
        [a, b, c]
    fn converted_alone(value): default_convert(value)
    fn named_converted(array): default_convert((x: array, y: 1)).x
    fn loaded(rows): [for row in DataLoader(rows.to_list(), batch_size: nil): row]
    fn of_nothing(): default_collate([])
    fn named(): default_collate([{"n": 1, "v": 0.5, "t": "a"}, {"n": 2, "v": 1.5, "t": "b"}])
    """
)


def same(ours, theirs) -> bool:
    if isinstance(theirs, dict):
        return list(ours) == list(theirs) and all(same(ours[key], theirs[key]) for key in theirs)
    if isinstance(theirs, (list, tuple)):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return equal(ours, theirs)


BATCHES = {
    "integers": [3, -1, 2**40],
    "floats": [0.5, 1e300],
    "an integer first": [1, 2.5],
    "bools": [True, False],
    "texts": ["a", "b"],
    "tensors": [torch.ones(2, 3), torch.zeros(2, 3)],
    "0-d tensors": [torch.tensor(1), torch.tensor(2)],
    "half tensors": [torch.ones(2, dtype=torch.float16)] * 3,
    "lists": [[1, 2.0, "x"], [3, 4.0, "y"]],
    "nested lists": [[[1, 2], [torch.ones(1)]], [[3, 4], [torch.zeros(1)]]],
    "dicts": [{"a": 1, "b": torch.ones(1)}, {"a": 2, "b": torch.zeros(1)}],
    "dicts in lists": [[{"a": [1, 2]}], [{"a": [3, 4]}]],
    "empty lists": [[], []],
}


@pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES)
def test_matches_python(batch):
    assert same(OURS.collated(batch), default_collate(batch))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "uint8", "bool"])
def test_numpy_arrays_become_tensors(dtype):
    arrays = [numpy.array([[1, 0, 2]], dtype), numpy.array([[0, 3, 1]], dtype)]
    for batch in (arrays, [array[0, 0] for array in arrays]):
        assert same(OURS.of_python(batch), default_collate(batch))


def test_tuples_become_arrays():
    a, b = torch.ones(2), torch.zeros(2)
    assert same(OURS.pairs(a, b), default_collate([(a, b), (b, a)]))


Sample = namedtuple("Sample", "pixels kind")


def test_named_tuples_keep_their_names():
    a, b = torch.ones(2), torch.zeros(2)
    wanted = default_collate([Sample(a, 1), Sample(b, 2)])
    pixels, kind = OURS.named_tuples(a, b)
    assert same((pixels, kind), (wanted.pixels, wanted.kind))


def test_pinned_values_keep_their_structure():
    a, b, c = (OURS.pins()[key] for key in "abc")
    assert (list(a), list(b), list(c)) == (["a pinned", 1], ["b pinned", "text"], ["c pinned", None])


def test_empty_batch_is_rejected():
    with pytest.raises(Exception, match="default_collate: the batch is empty"):
        OURS.of_nothing()


def test_simple_dicts_become_dicts():
    theirs = default_collate([OrderedDict(n=1, v=0.5, t="a"), OrderedDict(n=2, v=1.5, t="b")])
    assert same(OURS.named(), dict(theirs))


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ([torch.ones(2), torch.ones(3)], "stack expects each tensor to be equal size, but got [2] at entry 0"),
        ([[1, 2], [3]], "each element in list of batch should be of equal size"),
        ([{"a": 1}, {"b": 1}], "not every sample has the key 'a'"),
        ([torch.ones(1), None], "should be a tensor where the first is one, but got [Tensor, nil]"),
        ([None, None], "default_collate: batch must contain tensors, numbers, dicts or lists; found nil"),
        ([torch.eye(2).to_sparse()] * 2, "Batches of sparse tensors are not currently supported"),
    ],
)
def test_error_names_the_value_that_cannot_be_collated(batch, message):
    with pytest.raises(Exception, match=re.escape(message)):
        OURS.collated(batch)


ARRAYS = [numpy.arange(3), numpy.ones((2, 2), "float32"), numpy.int32(7), numpy.array(2.5)]


@pytest.mark.parametrize("value", ARRAYS, ids=repr)
def test_default_convert_makes_tensors_of_numpy_values(value):
    assert equal(OURS.converted_alone(value), default_convert(value))


def test_default_convert_converts_nested_values_and_leaves_others():
    array, number = numpy.arange(3.0), numpy.float32(2)
    expected = default_convert((array, [number, 1, 2.5], {"k": array, "t": "text"}))
    assert same(OURS.converted(array, number, "text"), expected)
    assert equal(OURS.named_converted(array), torch.as_tensor(array))


def test_a_loader_without_batches_converts_numpy_arrays():
    rows = [numpy.arange(3), numpy.arange(4)]
    loader = torch.utils.data.DataLoader(rows, batch_size=None)
    assert same(OURS.loaded(rows), list(loader))
