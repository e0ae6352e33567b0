"""torch.Tensor, torch.FloatTensor … construct tensors as in PyTorch; Tensor.type() names and converts them."""

from __future__ import annotations

import pytest
from embedded_simple import equal, run, torch

TYPES = ["Tensor", "FloatTensor", "DoubleTensor", "HalfTensor", "BFloat16Tensor", "ByteTensor", "CharTensor"]
TYPES += ["ShortTensor", "IntTensor", "LongTensor", "BoolTensor"]
OURS = run(
    """
use torch
fn made(type, args):
    val data = if type_of(args) == "Object": args.to_value() else: args
    match type:
"""
    + "\n".join(f'        case "{name}": torch.{name}(*data)' for name in TYPES)
    + """
fn of_tuple(): torch.Tensor((1, 2))
fn of_range(): torch.LongTensor(range(3))
fn on_device(device): torch.Tensor([1.0], device: device)
fn error(type, args): torch.attempt(\\: made(type, args)).unwrap_err().message()
fn device_error(device): torch.attempt(\\: on_device(device)).unwrap_err().message()
fn name(x): x.type()
fn converted(x, type):
    x.type(if type == "torch.LongTensor": torch.LongTensor elif type == "double": torch.float64 else: type)
fn type_error(x, type): torch.attempt(\\: x.type(type)).unwrap_err().message()
fn shown(): "{torch.FloatTensor} {torch.BoolTensor}"
fn is_tensor(): torch.Tensor([1.0]) is torch.Tensor
"""
)


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("args", [[], [[1, 2]], [[[1, 0], [0, 1]]], [[True, False]], [[]]], ids=str)
def test_a_type_creates_a_tensor_of_its_dtype_from_data(name, args):
    assert equal(OURS.made(name, args), getattr(torch, name)(*args))


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("sizes", [[3], [2, 3], [0], [2, 0, 4]], ids=str)
def test_integers_are_sizes(name, sizes):
    ours, theirs = OURS.made(name, sizes), getattr(torch, name)(*sizes)
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)


def test_floats_are_truncated_by_integer_types():
    assert equal(OURS.made("LongTensor", [[1.7, -2.2]]), torch.LongTensor([1.7, -2.2]))


def test_a_tuple_and_a_range_are_data():
    assert equal(OURS.of_tuple(), torch.Tensor((1, 2)))
    assert equal(OURS.of_range(), torch.LongTensor(range(3)))
    assert OURS.is_tensor() is True


def test_a_tensor_becomes_an_alias():
    for source in (torch.tensor([1.0, 2.0]), torch.tensor([1, 2])):
        made = OURS.made("Tensor", [source])
        assert equal(made, torch.Tensor(source))
        assert made.data_ptr() == source.data_ptr()


def test_the_default_dtype_is_that_of_torch_tensor():
    torch.set_default_dtype(torch.float64)
    try:
        assert equal(OURS.made("Tensor", [[1, 2]]), torch.Tensor([1, 2]))
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize(
    ("name", "args"),
    [("Tensor", [3.5]), ("Tensor", ["a"]), ("ByteTensor", [[300]]), ("Tensor", [-1]), ("Tensor", [None])],
)
def test_other_arguments_are_rejected(name, args):
    with pytest.raises((TypeError, RuntimeError)) as theirs:
        getattr(torch, name)(*args)
    names = {"float": "f64", "NoneType": "nil"}
    expected = str(theirs.value)
    for python, simple in names.items():
        expected = expected.replace(f"(got {python})", f"(got {simple})")
    assert OURS.error(name, args) == expected


def test_types_reject_tensors_of_another_dtype():
    assert OURS.error("IntTensor", [torch.tensor([1.0])]) == "expected a torch.IntTensor, got torch.FloatTensor"
    with pytest.raises(TypeError):
        torch.IntTensor(torch.tensor([1.0]))


def test_the_constructor_accepts_its_device_only():
    assert equal(OURS.on_device("cpu"), torch.Tensor([1.0], device="cpu"))
    with pytest.raises(RuntimeError) as theirs:
        torch.Tensor([1.0], device="meta")
    assert OURS.device_error("meta") == str(theirs.value)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "uint8", "int8", "int16", "int32"])
def test_type_names_the_type(dtype):
    x = torch.zeros(2, dtype=getattr(torch, dtype))
    assert OURS.name(x) == x.type()


@pytest.mark.parametrize("dtype", ["int64", "bool", "complex64", "complex128", "uint16", "uint32", "float8_e5m2"])
def test_type_names_the_rarer_types(dtype):
    x = torch.zeros(2, dtype=torch.float32).to(getattr(torch, dtype))
    assert OURS.name(x) == x.type()
    for other in (x.to("meta"), *([x.to_sparse()] if dtype in ("int64", "complex64") else [])):
        assert OURS.name(other) == other.type()


def test_type_converts():
    x = torch.tensor([1.7, 2.0])
    assert equal(OURS.converted(x, "torch.LongTensor"), x.type(torch.LongTensor))
    assert equal(OURS.converted(x, "torch.IntTensor"), x.type("torch.IntTensor"))
    assert equal(OURS.converted(x, "double"), x.type(torch.float64))
    with pytest.raises(ValueError) as theirs:
        x.type("foo")
    assert OURS.type_error(x, "foo") == str(theirs.value)
    assert OURS.shown() == "torch.FloatTensor torch.BoolTensor"
