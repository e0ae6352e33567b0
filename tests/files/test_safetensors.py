"""Safetensors files of Simple and of the library safetensors: each reads the other's; overlaps are rejected."""

from __future__ import annotations

import json
import struct

import pytest
from embedded_simple import run, torch

safetensors = pytest.importorskip("safetensors.torch")
OURS = run(
    """
    use torch
    fn save(tensors, path, metadata = nil):
        if metadata == nil: torch.save_safetensors(tensors.to_value(), path)
        else: torch.save_safetensors(tensors.to_value(), path, metadata: metadata.to_value())
    fn load(path): torch.load_safetensors(path)
    fn metadata(path): torch.Safetensors.open(path).metadata()
    fn message(body): reported(torch.attempt(body).unwrap_err())
    fn reported(error):
        match error:
            case torch.TorchError.Io(text): "Io: {text}"
            case torch.TorchError.InvalidArgument(text): "InvalidArgument: {text}"
            case other: "another: {other.message()}"
    fn save_error(tensors, path): message(\\: torch.save_safetensors(tensors.to_value(), path))
    fn name_error(path): message(\\: torch.save_safetensors({"a{chr(0)}b": torch.ones(1)}, path))
    fn metadata_error(path):
        message(\\: torch.save_safetensors({"x": torch.ones(1)}, path, metadata: {"key": "a{chr(0)}b"}))
    fn load_error(path): message(\\: torch.load_safetensors(path))
    fn module(path):
        torch.manual_seed(1)
        torch.save_safetensors(torch.nn.Linear(3, 2).state_dict(), path)
    """
)
DTYPES = [
    *("float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "uint16"),
    *("uint32", "uint64", "complex64", "float8_e5m2", "float8_e4m3fn", "float8_e8m0fnu", "float8_e4m3fnuz"),
    "float8_e5m2fnuz",
]


def tensor_of(dtype):
    return torch.arange(6, dtype=torch.uint8).reshape(2, 3).remainder(2).to(torch.float32).to(getattr(torch, dtype))


def as_bytes(tensor):
    return tensor.contiguous().view(torch.uint8)


@pytest.mark.parametrize("dtype", DTYPES)
def test_each_dtype_has_the_bytes_of_the_library(dtype, tmp_path):
    ours, theirs = tmp_path / "ours.safetensors", tmp_path / "theirs.safetensors"
    value = {"x": tensor_of(dtype)}
    OURS.save(value, str(ours))
    safetensors.save_file(value, theirs)
    assert ours.read_bytes() == theirs.read_bytes()
    loaded = OURS.load(str(theirs))["x"]
    assert loaded.dtype == value["x"].dtype
    assert as_bytes(loaded).equal(as_bytes(value["x"]))


def test_many_tensors_have_the_order_of_the_library(tmp_path):
    ours, theirs = tmp_path / "ours.safetensors", tmp_path / "theirs.safetensors"
    value = {f"{name}.{i}": tensor_of(name) for name in DTYPES for i in range(2)}
    value |= {"scalar": torch.tensor(1.5), "empty": torch.empty(0, 3), 'ä"b': torch.ones(1)}
    OURS.save(value, str(ours), {"format": "pt"})
    safetensors.save_file(value, theirs, metadata={"format": "pt"})
    assert ours.read_bytes() == theirs.read_bytes()


def test_metadata_is_read(tmp_path):
    path = str(tmp_path / "m.safetensors")
    metadata = {"format": "pt", "text": "two\nlines"}
    safetensors.save_file({"x": torch.ones(1)}, path, metadata=metadata)
    assert OURS.metadata(path) == metadata
    OURS.save({"x": torch.ones(1)}, path, metadata)
    with safetensors.safe_open(path, "pt") as file:
        assert file.metadata() == metadata
    safetensors.save_file({"x": torch.ones(1)}, path)
    assert OURS.metadata(path) == {}


def test_a_modules_state_is_read_by_python(tmp_path):
    path = str(tmp_path / "m.safetensors")
    OURS.module(path)
    torch.manual_seed(1)
    model = torch.nn.Linear(3, 2)
    loaded = safetensors.load_file(path)
    assert all(loaded[name].equal(value) for name, value in model.state_dict().items())


X = torch.arange(6.0).reshape(2, 3)
REJECTED = {
    "share memory": {"a": X, "b": X[1]},
    "non contiguous": {"a": X.t()},
    "sparse": {"a": X.to_sparse()},
    "no dtype": {"a": X.to(torch.complex128)},
    "expected torch.Tensor": {"a": 1},
}


@pytest.mark.parametrize("why", [*REJECTED])
def test_what_the_library_rejects_is_an_invalid_argument(why, tmp_path):
    path = tmp_path / "x.safetensors"
    with pytest.raises((RuntimeError, ValueError, KeyError)):
        safetensors.save_file(REJECTED[why], path)
    message = OURS.save_error(REJECTED[why], str(path))
    assert message.startswith("InvalidArgument: ")
    assert why in message
    assert not path.exists()


def test_names_and_metadata_with_nul_are_invalid_arguments(tmp_path):
    path = tmp_path / "x.safetensors"
    message = "InvalidArgument: save_safetensors: names must have no NUL character, got 'a\\x00b'"
    assert OURS.name_error(str(path)) == message
    assert OURS.metadata_error(str(path)) == message
    assert not path.exists()


def test_parts_of_one_storage_without_overlap_are_saved(tmp_path):
    ours, theirs = tmp_path / "ours.safetensors", tmp_path / "theirs.safetensors"
    value = {"a": X[0], "b": X[1]}
    OURS.save(value, str(ours))
    safetensors.save_file(value, theirs)
    assert ours.read_bytes() == theirs.read_bytes()


# The vectors in the format's reference implementation: safetensors/src/tensor.rs of huggingface/safetensors.
HEADER = b'{"test":{"dtype":"I32","shape":[2,2],"data_offsets":[0,16]}}'
VECTORS = {
    "two by two": b"<" + bytes(7) + HEADER + bytes(16),
    "no elements": b"<" + bytes(7) + b'{"test":{"dtype":"I32","shape":[2,0],"data_offsets":[0, 0]}}',
    "no dimensions": b"8" + bytes(7) + b'{"test":{"dtype":"I32","shape":[],"data_offsets":[0,4]}}' + bytes(4),
    "white space after the header": b"\x06" + bytes(7) + b"{}\r \t\n",
    "no tensors": b"\x08" + bytes(7) + b"{}      ",
    "metadata alone": b"(" + bytes(7) + b'{"__metadata__":{"framework":"pt"}}     ',
    "aligned": b"H"
    + bytes(7)
    + b'{"attn0":{"dtype":"F32","shape":[1,1,2,3],"data_offsets":[0,24]}}       '
    + bytes(24),
}
BROKEN_VECTORS = {
    "bytes after the tensors": VECTORS["two by two"] + b"extra_bogus_data_for_polyglot_file",
    "truncated": VECTORS["two by two"][:-1],
    "a header that is too large": b"<\0\0\0\0\xff\xff\xff" + HEADER + bytes(16),
    "an empty file": b"",
    "no header": b"<" + bytes(7),
    "a header that is not UTF-8": b"\x01" + bytes(7) + b"\xff",
    "a header that is not JSON": b"\x01" + bytes(7) + b"{",
    "offsets that do not fit the shape": b"<" + bytes(7) + HEADER.replace(b"[0,16]", b"[0, 4]"),
    "a shape that overflows": (
        b"O" + bytes(7) + b'{"test":{"dtype":"I32","shape":[2,18446744073709551614],"data_offsets":[0,16]}}' + bytes(16)
    ),
    "sizes that overflow": (
        b"N" + bytes(7) + b'{"test":{"dtype":"I32","shape":[2,9223372036854775807],"data_offsets":[0,16]}}' + bytes(16)
    ),
}


@pytest.mark.parametrize("name", VECTORS)
def test_vectors_of_the_reference_implementation_are_read_as_by_the_library(name, tmp_path):
    path = tmp_path / "vector.safetensors"
    path.write_bytes(VECTORS[name])
    found, expected = OURS.load(str(path)), safetensors.load_file(path)
    assert found.keys() == expected.keys()
    assert all(found[key].equal(value) and found[key].dtype == value.dtype for key, value in expected.items())


@pytest.mark.parametrize("why", BROKEN_VECTORS)
def test_broken_vectors_of_the_reference_implementation_are_io_errors(why, tmp_path):
    path = tmp_path / "vector.safetensors"
    path.write_bytes(BROKEN_VECTORS[why])
    with pytest.raises(Exception):  # noqa: B017
        safetensors.load_file(path)
    assert OURS.load_error(str(path)).startswith("Io: ")


def written(path, offsets, size):
    header = {name: {"dtype": "U8", "shape": [b - a], "data_offsets": [a, b]} for name, (a, b) in offsets.items()}
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(size))
    return str(path)


@pytest.mark.parametrize(
    ("why", "offsets", "size"),
    [
        ("overlaps another", {"a": (0, 4), "b": (2, 6)}, 6),
        ("overlaps another", {"a": (0, 4), "b": (0, 4)}, 4),
        ("follows a gap", {"a": (0, 2), "b": (3, 5)}, 5),
        ("follows a gap", {"a": (1, 2)}, 2),
        ("bytes after its tensors", {"a": (0, 2)}, 5),
    ],
)
def test_offsets_that_overlap_or_leave_gaps_are_io_errors(why, offsets, size, tmp_path):
    path = written(tmp_path / "x.safetensors", offsets, size)
    with pytest.raises(safetensors.SafetensorError if hasattr(safetensors, "SafetensorError") else Exception):
        safetensors.load_file(path)
    message = OURS.load_error(path)
    assert message.startswith("Io: ")
    assert why in message


def test_large_tensors_are_the_files_pages_until_they_are_written(tmp_path):
    path, value = tmp_path / "large.safetensors", torch.arange(600_000).reshape(600, 1000)
    safetensors.save_file({"large": value, "small": torch.ones(3)}, path)
    before = path.read_bytes()
    loaded = OURS.load(str(path))
    assert loaded["large"].equal(value)
    loaded["large"].add_(1)
    assert path.read_bytes() == before
    path.unlink()
    assert loaded["large"].equal(value + 1)
    assert loaded["small"].equal(torch.ones(3))


def test_saving_over_the_file_keeps_the_tensors_that_came_from_it(tmp_path):
    """A file that is written in place would change its pages under the tensors, or end the process."""
    path, value = tmp_path / "large.safetensors", torch.arange(600_000)
    OURS.save({"first": value, "second": value * 2}, str(path))
    loaded = OURS.load(str(path))
    OURS.save({"first": loaded["second"] + 1}, str(path))
    assert loaded["first"].equal(value)
    assert loaded["second"].equal(value * 2)
    assert OURS.load(str(path))["first"].equal(value * 2 + 1)
