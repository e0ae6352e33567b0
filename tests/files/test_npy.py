"""NumPy's files, read and written natively, hold what NumPy reads and writes; broken ones are errors."""

from __future__ import annotations

import os
import random
import stat

import numpy as np
import pytest
from embedded_simple import run, torch

OURS = run(
    r"""
    use torch
    use torch.npy
    fn load(path): npy.load(path)
    fn save(path, array): npy.save(path, array)
    fn savez(path, first, x, is_compressed):
        if is_compressed: npy.savez_compressed(path, first, x: x) else: npy.savez(path, first, x: x)
    fn error(path): torch.attempt(\: npy.load(path)).unwrap_err()
    fn is_io_or_value(path):
        match torch.attempt(\: npy.load(path)):
            case Ok(_): true
            case Err(torch.TorchError.Io(_)): true
            case Err(_): false
    fn save_error(array): torch.attempt(\: npy.save("never.npy", array)).unwrap_err()
    fn name_error(path): torch.attempt(\: npy.savez(path, torch.ones(1), arr_0: torch.ones(1))).unwrap_err()
    fn full(path): torch.attempt(\: npy.save(path, torch.ones(4))).unwrap_err()
    fn failed_archive(path): torch.attempt(\: npy.savez(path, torch.ones(4))).unwrap_err()
    fn unwritable(): torch.attempt(\: npy.save("/nonexistent/x.npy", [1.0])).unwrap_err()
    """
)
DTYPES = [
    *("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
]
SHAPES = [(), (3,), (2, 3), (0,), (2, 0, 3), (2, 3, 4), (1, 1, 1, 1)]


def sample(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    numbers = np.arange(-2, np.prod(shape, dtype=int) - 2).reshape(shape)
    return np.asarray(numbers * (1 + 0.5j) if dtype.startswith("complex") else numbers).astype(dtype)


def assert_equal(found: torch.Tensor, expected: np.ndarray) -> None:
    assert str(found.dtype) == f"torch.{expected.dtype.newbyteorder('=')}"
    assert tuple(found.shape) == expected.shape and found.is_contiguous()
    assert np.array_equal(found.numpy(), expected)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_are_read_and_written_as_by_numpy(dtype, shape, tmp_path):
    expected = sample(dtype, shape)
    np.save(tmp_path / "theirs.npy", expected)
    assert_equal(OURS.load(str(tmp_path / "theirs.npy")), expected)
    OURS.save(str(tmp_path / "ours"), torch.from_numpy(expected))
    assert (tmp_path / "ours.npy").read_bytes() == (tmp_path / "theirs.npy").read_bytes()


@pytest.mark.parametrize("dtype", [name for name in DTYPES if name not in ("bool", "uint8", "int8")])
def test_the_other_byte_order_is_read(dtype, tmp_path):
    expected = sample(dtype, (2, 3))
    np.save(tmp_path / "swapped.npy", expected.astype(expected.dtype.newbyteorder(">")))
    assert_equal(OURS.load(str(tmp_path / "swapped.npy")), expected)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_all_versions_and_the_order_of_fortran_are_read(version, tmp_path):
    expected = np.asfortranarray(sample("float32", (2, 3, 4)))
    with open(tmp_path / "array.npy", "wb") as file:
        np.lib.format.write_array(file, expected, version=version)
    assert_equal(OURS.load(str(tmp_path / "array.npy")), expected)


@pytest.mark.parametrize("is_compressed", [False, True])
def test_archives_are_read_and_written_as_by_numpy(is_compressed, tmp_path):
    first, x = sample("int64", (2, 3)), sample("float64", ())
    (np.savez_compressed if is_compressed else np.savez)(tmp_path / "theirs.npz", first, x=x)
    found = OURS.load(str(tmp_path / "theirs.npz"))
    assert list(found) == ["x", "arr_0"]
    assert_equal(found["arr_0"], first)
    assert_equal(found["x"], x)
    OURS.savez(str(tmp_path / "ours"), torch.from_numpy(first), torch.from_numpy(x), is_compressed)
    with np.load(tmp_path / "ours.npz") as ours:
        assert list(ours) == ["x", "arr_0"]
        assert np.array_equal(ours["arr_0"], first) and np.array_equal(ours["x"], x)


def test_tensors_that_are_not_contiguous_are_written_by_their_elements(tmp_path):
    path = str(tmp_path / "array.npy")
    for tensor in (torch.arange(6).reshape(2, 3).t(), torch.ones(2, dtype=torch.cfloat).conj() * 1j):
        OURS.save(path, tensor)
        assert np.array_equal(np.load(path), tensor.resolve_conj().numpy())
    OURS.save(path, torch.ones(2, requires_grad=True))
    assert np.load(path).tolist() == [1.0, 1.0]
    OURS.save(path, [[1, 2], [3, 4]])
    assert np.load(path).tolist() == [[1, 2], [3, 4]]


def test_a_new_file_has_the_usual_permissions_and_a_shorter_one_replaces_it(tmp_path):
    path = tmp_path / "array.npy"
    OURS.save(str(path), torch.zeros(100))
    OURS.save(str(path), torch.zeros(1))
    (tmp_path / "other").touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((tmp_path / "other").stat().st_mode)
    assert np.load(path).shape == (1,)


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.array(["a"]), "elements of the type <U1, which is not supported"),
        (np.array([{}], dtype=object), "elements of the type |O, which is not supported"),
        (np.zeros(1, dtype=[("x", "i4")]), "is not supported"),
        (np.array(["2024-01-01"], dtype="datetime64[D]"), "elements of the type <M8[D], which is not supported"),
        (np.zeros(1, dtype=np.longdouble), "elements of the type <f16, which is not supported"),
    ],
    ids=["text", "objects", "fields", "dates", "long double"],
)
def test_other_elements_are_rejected_by_name(array, words, tmp_path):
    np.save(tmp_path / "array.npy", array, allow_pickle=True)
    assert words in str(OURS.error(str(tmp_path / "array.npy")))


def test_other_files_are_errors(tmp_path):
    (tmp_path / "text").write_text("neither of both")
    (tmp_path / "empty").touch()
    for name, words in [("text", "neither a .npy nor a .npz"), ("empty", "is empty"), ("none", "no such file")]:
        error = str(OURS.error(str(tmp_path / name)))
        assert words in error and str(tmp_path / name) in error
    assert "no such file" in str(OURS.error(str(tmp_path)))


def test_what_cannot_be_written_is_an_error(tmp_path):
    assert "NumPy has no dtype for torch.bfloat16" in str(OURS.save_error(torch.ones(1, dtype=torch.bfloat16)))
    assert "the name arr_0 is used twice" in str(OURS.name_error(str(tmp_path / "twice.npz")))
    assert "cannot write '/nonexistent/x.npy': No such file or directory" in str(OURS.unwritable())
    assert not os.path.exists("never.npy") and not os.path.exists("never.npy.partial")


def test_a_full_disk_keeps_the_old_file(tmp_path):
    path, partial = tmp_path / "array.npy", tmp_path / "array.npy.partial"
    OURS.save(str(path), torch.ones(2))
    partial.symlink_to("/dev/full")
    assert f"cannot write '{path}': No space left on device" in str(OURS.full(str(path)))
    assert np.load(path).tolist() == [1.0, 1.0] and not os.path.lexists(partial)


def test_an_archive_that_cannot_be_written_keeps_the_old_file(tmp_path):
    path, partial = tmp_path / "arrays.npz", tmp_path / "arrays.npz.partial"
    OURS.savez(str(path), torch.ones(2), torch.ones(1), False)
    partial.symlink_to("/dev/full")
    assert f"to {partial}: " in str(OURS.failed_archive(str(path)))
    assert list(np.load(path)) == ["x", "arr_0"] and not os.path.lexists(partial)


def test_a_truncated_file_is_an_error(tmp_path):
    np.save(tmp_path / "whole.npy", sample("float32", (2, 3)))
    content = (tmp_path / "whole.npy").read_bytes()
    path = tmp_path / "cut.npy"
    for length in range(len(content)):
        path.write_bytes(content[:length])
        assert "npy.load: " in str(OURS.error(str(path))), length


@pytest.mark.parametrize("name", ["array.npy", "arrays.npz"])
def test_changed_bytes_are_an_error_or_a_value(name, tmp_path):
    np.save(tmp_path / "array.npy", sample("int16", (2, 3)))
    np.savez_compressed(tmp_path / "arrays.npz", sample("float32", (5,)))
    content = (tmp_path / name).read_bytes()
    random.seed(0)
    for _ in range(10_000 if os.environ.get("SIMPLE_LONG_TESTS") else 500):
        changed = bytearray(content)
        changed[random.randrange(len(changed))] = random.randrange(256)
        (tmp_path / name).write_bytes(changed)
        assert OURS.is_io_or_value(str(tmp_path / name)), bytes(changed)
