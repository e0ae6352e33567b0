"""Files of pickle.dump, of each protocol and of Python 2, compared with pickle.load; code in a file is not executed."""

from __future__ import annotations

import os
import pickle
import random
from pathlib import Path

import numpy
import pytest

if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
from compare_optimizers import torch
from python2_pickles import python2_pickle
from simple_torch import run

SIMPLE = run(
    """
    use torch
    use torch.serialization.{load_pickle}
    fn load(path): load_pickle(path)
    fn shown(path): "{load_pickle(path)}"
    """
)


def loaded(path: Path, content: bytes):
    path.write_bytes(content)
    return SIMPLE.load(str(path))


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_values_of_each_protocol(protocol, tmp_path):
    value = {"a": [1, -3, 5000000000, 1.5, None, True, "é"], "b": ({1: "x"}, [], ())}
    assert loaded(tmp_path / "p", pickle.dumps(value, protocol)) == {"a": value["a"], "b": ({1: "x"}, [], ())}
    assert loaded(tmp_path / "p", pickle.dumps({"x": {3}, "y": frozenset([4])}, protocol)) == {"x": [3], "y": [4]}
    for each in (b"a\xff", bytearray(b"a\xff")):
        (tmp_path / "p").write_bytes(pickle.dumps(each, protocol))
        assert SIMPLE.shown(str(tmp_path / "p")) == "[97, 255]"


DTYPES = ["?", "i1", "<i2", ">i2", "<i4", ">i4", "<i8", "u1", "<f2", "<f4", ">f8", "<c8", ">c16"]


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_arrays_are_read_as_tensors(dtype, protocol, tmp_path):
    array = numpy.arange(24).reshape(2, 3, 4).astype(dtype)
    if array.dtype.kind == "c":
        array.imag = array.real + 0.5
    for each in (array, numpy.asfortranarray(array), array[:, :0], numpy.array(array[0, 0, 1])):
        found = loaded(tmp_path / "p", pickle.dumps(each, protocol))
        wanted = torch.from_numpy(numpy.array(each.astype(each.dtype.newbyteorder("="))))
        assert found.dtype == wanted.dtype
        assert torch.equal(found, wanted)


def test_legacy_numpy_module_name(tmp_path):
    content = pickle.dumps(numpy.arange(3, dtype=numpy.uint8), 2)
    older, newer = b"numpy.core.multiarray", b"numpy._core.multiarray"
    assert content.count(older) + content.count(newer) == 1
    for name in (older, newer):
        assert loaded(tmp_path / "p", content.replace(newer, older).replace(older, name)).tolist() == [0, 1, 2]


def test_python_2_files(tmp_path):
    value = {b"label": b"caf\xe9", "list": [b"x" * 300, 1]}
    assert pickle.loads(python2_pickle(value), encoding="latin1") == {"label": "caf\xe9", "list": ["x" * 300, 1]}
    assert loaded(tmp_path / "p", python2_pickle(value)) == {"label": "caf\xe9", "list": ["x" * 300, 1]}
    array = numpy.arange(6, dtype=numpy.uint8).reshape(2, 3) + 250
    assert numpy.array_equal(pickle.loads(python2_pickle(array), encoding="latin1"), array)
    assert loaded(tmp_path / "p", python2_pickle(array)).tolist() == array.tolist()


class CustomArray(numpy.ndarray):
    pass


class Malicious:
    def __reduce__(self):
        return Path.touch, (Path("was_run"),)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (Malicious(), r"it contains a (pathlib\.|_io|builtins|__builtin__)"),
        (numpy.array(["a", "b"]), r"dtype 'U1'; only arrays of numbers and bools are supported"),
        (numpy.array([1, None]), r"dtype 'O8'; only arrays of numbers"),
        (numpy.zeros(2, [("a", "i4")]), r"dtype 'V4'|expected plain dtype"),
        (numpy.ma.array([1]), r"it contains a numpy\.ma\.core\._mareconstruct"),
        (pickle.PickleBuffer, r"it contains a |ends with"),
        (CustomArray(2), r"an array of class CustomArray"),
    ],
    ids=["code", "texts", "objects", "records", "masked", "class", "array of a class"],
)
@pytest.mark.parametrize("protocol", [2, 4])
def test_other_types_are_rejected_by_name_without_running_code(value, message, protocol, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RuntimeError, match=message):
        loaded(tmp_path / "p", pickle.dumps(value, protocol))
    assert os.listdir(tmp_path) == ["p"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "'.*p' cannot be read: the pickle is corrupt: it is truncated"),
        (b"\x80\x02]", "it is truncated"),
        (b"\x80\x02U\xffab.", "it is truncated"),
        (b"\x80\x02X\xff\xff\xff\xffab.", "it is truncated"),
        (b"\x80\x02]q\x00h\x00a.", "a collection that contains itself"),
        (b"\x80\x02X\x01\x00\x00\x000Q.", "not a storage|a value is missing"),
        (b"not a pickle", "the pickle "),
        (b"\x80\x02" + b"]" * 100_000 + b"a" * 99_999 + b".", "nested too deep"),
        (b"\x80\x02\x8a\x0b" + b"\x01" * 11 + b".", "an integer of more than 64 bits"),
    ],
    ids=range(9),
)
def test_corrupt_pickles_are_reported(content, message, tmp_path):
    with pytest.raises(RuntimeError, match=message):
        loaded(tmp_path / "p", content)


def test_long_encodings_of_small_integers_are_read(tmp_path):
    for bytes_ in (b"\x05" + b"\x00" * 11, b"\xfb" + b"\xff" * 11):
        wanted = int.from_bytes(bytes_, "little", signed=True)
        assert loaded(tmp_path / "p", b"\x80\x02\x8a\x0c" + bytes_ + b".") == wanted


def test_array_with_inconsistent_sizes_is_rejected(tmp_path):
    content = pickle.dumps(numpy.zeros((2, 3), numpy.uint8), 3)
    assert content.count(b"K\x02K\x03\x86") == 1
    for sizes in (
        b"K\x02K\x04\x86",
        b"J\xff\xff\xff\xffJ\xfa\xff\xff\xff\x86",
        b"J\xff\xff\xff\x7fJ\xff\xff\xff\x7f\x86",
    ):
        with pytest.raises(RuntimeError, match="an array's shape does not match its 6 bytes"):
            loaded(tmp_path / "p", content.replace(b"K\x02K\x03\x86", sizes))


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_flipped_bytes_are_errors_or_values(protocol, tmp_path):
    value = {"a": numpy.arange(5, dtype=numpy.int32), "b": [b"xy", {2}, 1j, "text"], "c": (1.5, None)}
    good = pickle.dumps(value, protocol)
    generator = random.Random(protocol)
    counted = {"value": 0, "error": 0}
    for _ in range(700):
        changed = bytearray(good)
        for _ in range(generator.randint(1, 3)):
            changed[generator.randrange(len(changed))] = generator.randrange(256)
        try:
            loaded(tmp_path / "p", bytes(changed))
            counted["value"] += 1
        except RuntimeError as error:
            assert "'%s' cannot be read" % (tmp_path / "p") in str(error) or "the file" in str(error)
            counted["error"] += 1
    assert min(counted.values()) > 50, counted
