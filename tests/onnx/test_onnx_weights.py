"""Weights of files of ONNX are those that Python's onnx reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import convert_model_to_external_data
from onnx_sessions import OURS, TENSOR_TYPES, run, save, torch

WEIGHTS = run(
    r"""
    use torch
    use onnx
    fn load(path): onnx.load_state_dict(path)
    fn linear(path):
        val net = torch.nn.Linear(3, 2)
        net.load_state_dict(onnx.load_state_dict(path))
        net
    """
)
DATA = Path(onnx.__file__).parent / "backend/test/data"


def failure(path) -> str:
    return OURS.failure(lambda: WEIGHTS.load(str(path)))


def model_with(path, tensors, **options):
    node = helper.make_node("Identity", ["x"], ["y"])
    sizes = ("n",)
    save(path, [node], [("x", TensorProto.FLOAT, sizes)], [("y", TensorProto.FLOAT, sizes)], tensors, **options)
    return str(path)


def bits(array) -> bytes:
    return np.ascontiguousarray(array).tobytes()


@pytest.mark.parametrize("is_raw", [True, False], ids=["raw", "numbers"])
@pytest.mark.parametrize("dtype", [*TENSOR_TYPES, "complex64", "complex128"])
def test_each_dtype_has_its_bits(dtype, is_raw, tmp_path):
    element = {"complex64": TensorProto.COMPLEX64, "complex128": TensorProto.COMPLEX128, **TENSOR_TYPES}[dtype]
    numbers = torch.tensor([[0, 1, 1], [0, 1, 0]] if dtype == "bool" else [[0, 1, 2], [3, 4, 5]])
    expected = (numbers * (1 - 0.5j) if dtype.startswith("complex") else numbers.float()).to(getattr(torch, dtype))
    if is_raw:
        tensor = helper.make_tensor("w", element, [2, 3], expected.view(torch.uint8).numpy().tobytes(), raw=True)
    else:
        tensor = helper.make_tensor(
            "w",
            element,
            [2, 3],
            expected.to(torch.complex128).numpy().ravel() if dtype.startswith("complex") else numbers.numpy().ravel(),
        )
    found = WEIGHTS.load(model_with(tmp_path / "model.onnx", [tensor]))["w"]
    assert found.dtype == expected.dtype and found.shape == (2, 3)
    assert found.view(torch.uint8).equal(expected.view(torch.uint8))


@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (1, 1, 3)], ids=str)
def test_shapes_and_order_are_kept(shape, tmp_path):
    array = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    tensors = [numpy_helper.from_array(array, name) for name in ("b", "a")]
    found = WEIGHTS.load(model_with(tmp_path / "model.onnx", tensors))
    assert list(found.keys()) == ["b", "a"]
    assert tuple(found["a"].shape) == shape and found["a"].numpy().tobytes() == array.tobytes()


@pytest.mark.parametrize("path", sorted(DATA.glob("*/*/model.onnx")), ids=lambda path: path.parent.name)
def test_backend_models_have_the_weights_that_python_reads(path):
    expected = {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.load(path).graph.initializer}
    found = WEIGHTS.load(str(path))
    assert list(found.keys()) == list(expected)
    for name, array in expected.items():
        assert tuple(found[name].shape) == array.shape and found[name].numpy().tobytes() == bits(array)


def test_external_data_is_read_next_to_the_model(tmp_path):
    arrays = {name: np.random.default_rng(1).random((50, 40), dtype=np.float32) for name in ("a", "b")}
    path = model_with(tmp_path / "model.onnx", [numpy_helper.from_array(array, name) for name, array in arrays.items()])
    for all_in_one in (True, False):
        model = onnx.load(path)
        convert_model_to_external_data(model, all_in_one, "weights.data" if all_in_one else None, 0)
        other = tmp_path / f"external-{all_in_one}.onnx"
        onnx.save(model, other)
        found = WEIGHTS.load(str(other))
        assert all(found[name].numpy().tobytes() == array.tobytes() for name, array in arrays.items())
    (tmp_path / "weights.data").write_bytes(b"short")
    assert failure(tmp_path / "external-True.onnx").endswith(
        "external data 'weights.data' has 5 bytes, fewer than a tensor needs"
    )
    (tmp_path / "weights.data").unlink()
    assert "weights.data': No such file or directory" in failure(tmp_path / "external-True.onnx")


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ({"location": "../secret"}, "external data at '../secret' is not in the folder of the model"),
        ({"location": "/etc/passwd"}, "external data at '/etc/passwd' is not in the folder of the model"),
        ({"location": "a/../../b"}, "external data at 'a/../../b' is not in the folder of the model"),
        ({}, "tensor 'w' has external data without a location"),
        ({"location": "x", "offset": "much"}, "tensor 'w' has an external offset of 'much', expected a number"),
        ({"location": "x", "length": "-1"}, "tensor 'w' has an external length of '-1', expected a number"),
    ],
)
def test_external_data_elsewhere_is_rejected(entries, words, tmp_path):
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1], data_location=TensorProto.EXTERNAL)
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)
    (tmp_path / "x").write_bytes(bytes(4))
    assert failure(model_with(tmp_path / "model.onnx", [tensor])).endswith(words)


def test_sparse_weights_become_dense(tmp_path):
    for indices in ([1, 5], [[0, 1], [1, 2]]):
        values = numpy_helper.from_array(np.array([1.5, 2.5], dtype=np.float32), "w")
        places = numpy_helper.from_array(np.array(indices, dtype=np.int64), "")
        path = model_with(tmp_path / "model.onnx", [])
        model = onnx.load(path)
        model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, places, [2, 3]))
        onnx.save(model, path)
        assert WEIGHTS.load(path)["w"].tolist() == [[0.0, 1.5, 0.0], [0.0, 0.0, 2.5]]
    places = numpy_helper.from_array(np.array([1, 50], dtype=np.int64), "")
    model.graph.sparse_initializer[0].indices.CopyFrom(places)
    onnx.save(model, path)
    assert "tensor 'w' is corrupt: " in failure(path)
    model.graph.sparse_initializer[0].indices.CopyFrom(numpy_helper.from_array(np.array([1.0, 2.0]), ""))
    onnx.save(model, path)
    assert failure(path).endswith("tensor 'w' is corrupt: a sparse tensor needs values and int64 indices")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"data_type": TensorProto.STRING}, "NotImplemented: "),
        ({"data_type": TensorProto.INT4}, "NotImplemented: "),
        ({"data_type": 99}, "NotImplemented: "),
        ({"dims": [2]}, "tensor 'w' must have 8 bytes of data, got 4"),
        ({"dims": [-1]}, "tensor 'w' is corrupt: its sizes are negative or too large"),
        ({"dims": [2**40, 2**40]}, "tensor 'w' is corrupt: its sizes are negative or too large"),
        ({"raw_data": b"", "float_data": [1.0, 2.0]}, "must have 4 bytes of data, got 0"),
    ],
)
def test_tensors_that_cannot_be_read_are_errors_with_their_name(change, words, tmp_path):
    fields = {"data_type": TensorProto.FLOAT, "dims": [1], "raw_data": bytes(4), **change}
    reported = failure(model_with(tmp_path / "model.onnx", [TensorProto(name="w", **fields)]))
    assert words in reported and "tensor 'w'" in reported


@pytest.mark.parametrize(
    ("numbers", "words"),
    [([1], "tensor 'w' must have 2 numbers, got fewer"), ([1] * 3, "tensor 'w' has more data than its sizes state")],
    ids=["few", "many"],
)
def test_a_wrong_count_of_numbers_is_an_error(numbers, words, tmp_path):
    tensor = TensorProto(name="w", data_type=TensorProto.INT64, dims=[2], int64_data=numbers)
    assert failure(model_with(tmp_path / "model.onnx", [tensor])).endswith(words)


def test_numbers_in_the_field_of_another_type_do_not_count(tmp_path):
    tensor = TensorProto(name="w", data_type=TensorProto.DOUBLE, dims=[2], float_data=[1.0] * 4)
    assert "tensor 'w' must have 16 bytes of data, got 0" in failure(model_with(tmp_path / "model.onnx", [tensor]))


def test_other_files_are_errors(tmp_path):
    (tmp_path / "empty.onnx").write_bytes(b"")
    assert failure(tmp_path / "empty.onnx").endswith("it is no model of ONNX: it has no version or no graph")
    (tmp_path / "text.onnx").write_text("hello, this is text")
    assert failure(tmp_path / "text.onnx").startswith("Io: cannot read '")
    (tmp_path / "long.onnx").write_bytes(b"\x08" + b"\xff" * 11)
    assert failure(tmp_path / "long.onnx").endswith("it is corrupt: a number has more than 10 bytes")
    (tmp_path / "wire.onnx").write_bytes(b"\x0b\x00")
    assert failure(tmp_path / "wire.onnx").endswith("a field has wire type 3")
    assert "No such file or directory" in failure(tmp_path / "missing.onnx")
    assert "expected a string, got i64" in OURS.failure(lambda: WEIGHTS.load(3))


def test_a_module_loads_weights_that_pytorch_exported(tmp_path):
    linear = torch.nn.Linear(3, 2).eval()
    path = str(tmp_path / "linear.onnx")
    torch.onnx.export(linear, (torch.ones(1, 3),), path, verbose=False)
    net = WEIGHTS.linear(path)
    assert net.weight.equal(linear.weight) and net.bias.equal(linear.bias)
