"""Files of torch.save before PyTorch 1.6, which new versions write on request, and broken ones."""

from __future__ import annotations

import pickle
from collections import OrderedDict, defaultdict

import pytest
from embedded_simple import run, torch

numpy = pytest.importorskip("numpy")
OURS = run(
    """
    use torch
    fn load(path): torch.load(path)
    fn load_with(path): torch.load(path, weights_only: true, map_location: "cpu", mmap: false)
    fn kind(path): type_of(torch.load(path))
    fn save(value, path): torch.save(value, path)
    fn copy(source, target): torch.save(torch.load(source), target)
    fn error(path):
        match torch.attempt(\\: torch.load(path)).unwrap_err():
            case torch.TorchError.Io(message): message
            case other: "another: {other.message()}"
    """
)


def legacy(value, path, **options):
    torch.save(value, path, _use_new_zipfile_serialization=False, **options)
    return str(path)


def same(ours, theirs):
    return ours.dtype == theirs.dtype and ours.stride() == theirs.stride() and ours.equal(theirs)


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_values_of_a_legacy_file_are_read(protocol, tmp_path):
    value = {"a": torch.arange(6).reshape(2, 3).t(), "b": [1, 2.5, "é", None, True], "c": (torch.tensor(1.5), {})}
    path = legacy(value, tmp_path / "old.pt", pickle_protocol=protocol)
    expected = torch.load(path) if protocol == 2 else value
    ours = OURS.load(path)
    assert same(ours["a"], expected["a"])
    assert ours["b"] == expected["b"]
    assert same(ours["c"][0], expected["c"][0])


@pytest.mark.parametrize(
    "dtype",
    [torch.float64, torch.float16, torch.bfloat16, torch.bool, torch.uint8, torch.complex64, torch.int16, torch.uint16],
    ids=str,
)
def test_each_dtype_of_a_legacy_file_is_read(dtype, tmp_path):
    x = torch.arange(12).remainder(2).reshape(3, 4).to(dtype)[1:]
    assert same(OURS.load(legacy(x, tmp_path / "old.pt")), x)


def test_shared_and_empty_storages_of_a_legacy_file(tmp_path):
    x = torch.arange(6)
    path = legacy({"whole": x, "part": x[2:], "none": torch.empty(0, 3)}, tmp_path / "old.pt")
    ours = OURS.load(path)
    ours["whole"][3] = 77
    assert ours["part"].tolist() == [2, 77, 4, 5]
    assert ours["none"].shape == (0, 3)


def test_a_state_dict_and_parameters_of_a_legacy_file(tmp_path):
    model = torch.nn.Linear(3, 2)
    path = legacy(model.state_dict(), tmp_path / "old.pt")
    assert OURS.kind(path) == "StateDict"
    assert same(OURS.load(path)["weight"], model.weight.detach())
    parameter = OURS.load(legacy(torch.nn.Parameter(torch.ones(2)), tmp_path / "p.pt"))
    assert parameter.requires_grad


def test_the_arguments_of_python_are_accepted(tmp_path):
    path = tmp_path / "new.pt"
    torch.save([1, 2], path)
    assert OURS.load_with(str(path)) == [1, 2]


@pytest.mark.parametrize("cut", [1, 9, 60, 200])
def test_a_truncated_legacy_file_is_an_io_error(cut, tmp_path):
    path = tmp_path / "old.pt"
    legacy(torch.arange(100), path)
    content = path.read_bytes()
    path.write_bytes(content[:-cut])
    with pytest.raises(Exception):  # noqa: B017
        torch.load(path)
    assert "another" not in OURS.error(str(path))


def test_a_legacy_file_with_a_huge_storage_allocates_nothing(tmp_path):
    path = tmp_path / "old.pt"
    legacy(torch.arange(5), path)
    content = path.read_bytes().replace(b"K\x05N", b"\x8a\x07\xff\xff\xff\xff\xff\xff\x0fN")
    assert content != path.read_bytes()
    path.write_bytes(content)
    assert "a storage exceeds the file" in OURS.error(str(path))


def test_other_files_have_no_magic_number(tmp_path):
    path = tmp_path / "other.pt"
    path.write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(RuntimeError, match="Invalid magic number"):
        torch.load(path, weights_only=False)
    assert "Invalid magic number; corrupt file?" in OURS.error(str(path))


Z = torch.tensor([[1 + 2j, 3 - 4j]])
LAZY = {
    "conj": Z.conj(),
    "neg": Z.conj().imag,
    "both resolved": Z.conj().conj(),
    "transposed": Z.conj().t(),
    "parameter": torch.nn.Parameter(Z.conj()),
    "small": Z.to(torch.complex64).conj(),
}


@pytest.mark.parametrize("name", [*LAZY])
def test_conj_and_neg_bits_survive_in_both_directions(name, tmp_path):
    there, back = str(tmp_path / "there.pt"), str(tmp_path / "back.pt")
    torch.save(LAZY[name], there)
    OURS.save(OURS.load(there), back)
    theirs = torch.load(there)
    for x in (OURS.load(there), torch.load(back)):
        assert (x.is_conj(), x.is_neg(), x.dtype) == (theirs.is_conj(), theirs.is_neg(), theirs.dtype)
        assert x.resolve_conj().resolve_neg().equal(theirs.resolve_conj().resolve_neg())


def test_strings_with_nul_survive_in_both_directions(tmp_path):
    there, back = str(tmp_path / "there.pt"), str(tmp_path / "back.pt")
    value = {"a": "x\0y", "b\0": ["\0", "", "\0\0é"]}
    torch.save(value, there)
    OURS.copy(there, back)
    assert torch.load(back) == torch.load(there)


NUMBERS = ["float64", "float32", "float16", "int64", "int8", "uint16", "bool_"]


@pytest.mark.parametrize("name", NUMBERS)
def test_numpy_numbers_are_plain_numbers(name, tmp_path):
    path = tmp_path / "n.pt"
    value = getattr(numpy, name)(1.0 if name == "bool_" else 2.5 if "float" in name else 3)
    torch.save({"loss": value}, path)
    theirs = torch.load(path, weights_only=False)["loss"].item()
    ours = OURS.load(str(path))["loss"]
    assert ours == theirs
    assert type(ours) is type(theirs)


def test_default_dicts_are_dicts(tmp_path):
    path = tmp_path / "d.pt"
    value = defaultdict(list, {"a": [1], "b": [2, 3]})
    torch.save(OrderedDict(x=value), path)
    assert OURS.load(str(path))["x"] == torch.load(path, weights_only=False)["x"]
