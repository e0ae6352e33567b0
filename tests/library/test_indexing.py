"""Subscripts of tensors, and tensors as subscripts, select what PyTorch selects."""

from __future__ import annotations

import pytest
from embedded_simple import equal, run, torch

# Each subscript in Simple and in Python.
SUBSCRIPTS = {
    "[range(3), torch.arange(3)]": lambda: (range(3), torch.arange(3)),
    "[range(2)]": lambda: range(2),
    "[range(1, 3)]": lambda: range(1, 3),
    "[range(2, -1, -1)]": lambda: range(2, -1, -1),
    "[range(0)]": lambda: range(0),
    "[0, range(2)]": lambda: (0, range(2)),
    "[[range(2), range(2)]]": lambda: [range(2), range(2)],
    "[[[0, 1], [2, 0]]]": lambda: [[0, 1], [2, 0]],
    "[[(0, 1), (1, 2)]]": lambda: [(0, 1), (1, 2)],
    "[[[0, 1]]]": lambda: [[0, 1]],
    "[[[]]]": lambda: [[]],
    "[0, (0, 1)]": lambda: (0, (0, 1)),
    "[((0, 1), (1, 2))]": lambda: ((0, 1), (1, 2)),
    "[[0, 2]]": lambda: [0, 2],
    "[[0, nil]]": lambda: [0, None],
    "[[torch.tensor(0), torch.tensor(2)]]": lambda: [torch.tensor(0), torch.tensor(2)],
    "[[torch.tensor([0, 1]), torch.tensor([1, 2])]]": lambda: [torch.tensor([0, 1]), torch.tensor([1, 2])],
    "[[true, false, true]]": lambda: [True, False, True],
    "[0, [true, false, true, false]]": lambda: (0, [True, False, True, False]),
    "[[1.0]]": lambda: [1.0],
    "[torch.tensor(1)]": lambda: torch.tensor(1),
    "[torch.tensor(1):torch.tensor(3)]": lambda: slice(torch.tensor(1), torch.tensor(3)),
    "[torch.tensor(1):torch.tensor(1) + 2, ::torch.tensor(2)]": lambda: (slice(1, 3), slice(None, None, 2)),
    "[torch.tensor([1]):]": lambda: slice(torch.tensor([1]), None),
    "[torch.tensor(true):]": lambda: slice(torch.tensor(True), None),
    "[numpy.array([0, 2])]": lambda: __import__("numpy").array([0, 2]),
    "[numpy.int64(1)]": lambda: __import__("numpy").int64(1),
}
OURS = run(
    'use torch\nuse python as py\nval numpy = py.import("numpy")\n'
    + "\n".join(f"fn read_{i}(x): x{key}\nfn write_{i}(x):\n    x{key} = 77\n    x" for i, key in enumerate(SUBSCRIPTS))
    + """
fn with_ranges(x): [x[0..2], x[1..=2], x[1..], x[0, 0..3]]
fn items(t): [[10, 20, 30][t], (10, 20, 30)[t], "abc"[t]]
fn sliced(t): [[10, 20, 30][t:], "abc"[t:]]
fn assigned(t):
    var items = [10, 20, 30]
    items[t] = 5
    items
fn window(data, i, length): data[i:i + length]
fn from_array(array, t): array[t]
fn item_error(t): torch.attempt(\\: [10, 20][t]).unwrap_err()
fn bound_error(x, t): torch.attempt(\\: x[t:]).unwrap_err().message()
fn numpy_rows(a): a[range(2), range(2)]
"""
)


@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
@pytest.mark.parametrize(("number", "key"), [*enumerate(SUBSCRIPTS)], ids=[*SUBSCRIPTS])
def test_a_subscript_reads_and_writes_the_elements_of_pytorch(number, key):
    x = torch.arange(12).reshape(3, 4)
    python_key = SUBSCRIPTS[key]()
    assert equal(getattr(OURS, f"read_{number}")(x), x[python_key])
    ours, theirs = x.clone(), x.clone()
    theirs[python_key] = 77
    assert equal(getattr(OURS, f"write_{number}")(ours), theirs)


def test_a_range_of_the_language_selects_like_a_slice():
    x = torch.arange(12).reshape(3, 4)
    assert equal(OURS.with_ranges(x), [x[0:2], x[1:3], x[1:], x[0, 0:3]])


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8, torch.bool])
def test_a_tensor_of_one_integer_is_an_index_of_arrays_tuples_and_strings(dtype):
    t = torch.tensor(1, dtype=dtype)
    assert OURS.items(t) == [[10, 20, 30][t], (10, 20, 30)[t], "abc"[t]]
    assert OURS.sliced(t) == [[10, 20, 30][t:], "abc"[t:]]
    assert OURS.assigned(t) == [10, 5, 30]


def test_a_sampled_position_is_a_bound_of_a_slice():
    data = torch.arange(20)
    i = torch.randint(10, (1,))[0]
    assert OURS.window(data, i, 3).tolist() == data[i : i + 3].tolist()


@pytest.mark.parametrize("index", [torch.tensor(1.0), torch.tensor([0, 1]), torch.tensor(1j)])
def test_other_tensors_are_no_index(index):
    with pytest.raises(TypeError) as theirs:
        [10, 20][index]
    assert str(theirs.value) in str(OURS.item_error(index))
    assert OURS.bound_error(torch.arange(3), index) == str(theirs.value)


def test_range_indexes_numpy_arrays_as_in_python():
    numpy = pytest.importorskip("numpy")
    a = numpy.arange(6).reshape(2, 3)
    assert OURS.numpy_rows(a).tolist() == a[range(2), range(2)].tolist()
