"""Python's own types that torch.load(weights_only=True) reads, and which of them Simple reads and writes: the table in
docs/training.md."""

from __future__ import annotations

import os
from collections import Counter, OrderedDict
from fractions import Fraction

import pytest

if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
from compare_optimizers import torch
from simple_torch import run

SIMPLE = run(
    """
    use torch
    use torch.nn
    use dl.config.{Device}
    fn save(value, path): torch.save(value, path)
    fn load(path): torch.load(path)
    fn saved_again(path, other): torch.save(torch.load(path), other)
    fn kind(path): type_of(torch.load(path))
    fn shown(path): "{torch.load(path)}"
    fn complex(path): torch.save(torch.ones([1], dtype: torch.complex64).item(), path)
    fn own(path): torch.save({"bytes": [1u8, 255u8], "device": Device.CPU, "complex": torch.Complex(1.5, -2.0)}, path)
    fn mixed(object, path):
        val (one, two) = (nn.Parameter(torch.ones([1])), nn.Parameter(torch.ones([1]), requires_grad: false))
        torch.save({"object": object, "parameter": one, "frozen": two, "state": nn.Linear(1, 1).state_dict(),
            "bytes": [1u8, 255u8], "tuple": (1, "a"), "none": nil}, path)
    """
)
UMASK = os.umask(0)
os.umask(UMASK)


def with_attribute():
    tensor = torch.ones(2)
    tensor.note = 1
    return tensor


# Python reads them with weights_only=True.
REJECTED = [
    (2**70, "contains an integer of more than 64 bits, which is not supported"),
    (2**63, "contains an integer of more than 64 bits"),
    (-(2**63) - 1, "contains an integer of more than 64 bits"),
    (torch.ones(2, device="meta"), "contains a torch._utils._rebuild_meta_tensor_no_storage"),
]


def shown(value: object) -> str:
    """The same text in each process, which xdist requires: the order of a set depends on the hash seed."""
    return str(sorted(value, key=str)) if isinstance(value, (set, frozenset)) else str(value)


@pytest.mark.parametrize(("value", "message"), REJECTED, ids=[str(k) for k in range(len(REJECTED))])
def test_types_that_only_python_reads_are_rejected_by_name(value, message, tmp_path):
    torch.save({"value": value}, tmp_path / "file.pt")
    torch.load(tmp_path / "file.pt", weights_only=True)
    with pytest.raises(RuntimeError, match=message):
        SIMPLE.load(str(tmp_path / "file.pt"))


@pytest.mark.filterwarnings("ignore")
def test_quantized_tensors_are_rejected_by_name(tmp_path):
    torch.save(torch.quantize_per_tensor(torch.ones(2), 0.5, 0, torch.qint8), tmp_path / "file.pt")
    with pytest.raises(RuntimeError, match="it contains tensors of unknown storage class QInt8Storage"):
        SIMPLE.load(str(tmp_path / "file.pt"))


class CustomTensor(torch.Tensor):
    pass


def test_tensor_subclass_is_rejected_by_name(tmp_path):
    torch.save(torch.ones(2).as_subclass(CustomTensor), tmp_path / "file.pt")
    with pytest.raises(RuntimeError, match=r"a tensor of class [a-z_.]*test_python_types\.CustomTensor"):
        SIMPLE.load(str(tmp_path / "file.pt"))


@pytest.mark.parametrize("value", [slice(1, 2), range(3)], ids=str)
def test_both_reject_values_that_are_not_data(value, tmp_path):
    torch.save(value, tmp_path / "file.pt")
    with pytest.raises(Exception, match=r"weights_only|Weights only"):
        torch.load(tmp_path / "file.pt", weights_only=True)
    with pytest.raises(RuntimeError, match="cannot be read: it contains a "):
        SIMPLE.load(str(tmp_path / "file.pt"))


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (torch.Size([2, 3]), "tuple"),
        (OrderedDict(b=1, a=2), "dict"),
        (OrderedDict(a=torch.ones(1)), "StateDict"),
        (torch.float16, "DType"),
        (2**63 - 1, "i64"),
        (-(2**63), "i64"),
        (float("inf"), "f64"),
        (3 - 0.5j, "Complex"),
        (complex("-inf"), "Complex"),
        (torch.device("cuda", 3), "text"),
        (torch.device("cpu"), "text"),
        (bytes(range(256)), "array"),
        ({1, 2, "x"}, "array"),
        (set(), "array"),
        (Counter("aab"), "dict"),
    ],
    ids=shown,
)
def test_both_read_and_write_the_type(value, kind, tmp_path):
    path = str(tmp_path / "file.pt")
    torch.save(value, path)
    assert SIMPLE.kind(path) == kind
    if kind not in ("StateDict", "tuple"):
        SIMPLE.save(value, path)
        again = torch.load(path, weights_only=True)
        assert again == value
        assert type(again) is (dict if isinstance(value, dict) else type(value))


def test_types_in_simple(tmp_path):
    path = str(tmp_path / "file.pt")
    for value, shown in [
        (1.5 - 2j, "(1.5-2.0j)"),
        (b"a\xff", "[97, 255]"),
        (bytearray(b"a\x00"), "[97, 0]"),
        (b"", "[]"),
        ({7}, "[7]"),
        (frozenset([7]), "[7]"),
        (torch.device("cuda:1"), "cuda:1"),
    ]:
        torch.save(value, path)
        assert SIMPLE.shown(path) == shown


def test_bytes_keys_are_read_as_strings(tmp_path):
    torch.save({b"data\xe9": 1, "x": 2}, tmp_path / "file.pt")
    assert SIMPLE.load(str(tmp_path / "file.pt")) == {"data\xe9": 1, "x": 2}


@pytest.mark.parametrize("value", [1j, b"ab\xff", torch.float32], ids=str)
def test_file_read_and_written_again_is_equal(value, tmp_path):
    torch.save({"a": [value, (value, None)]}, tmp_path / "one.pt")
    SIMPLE.saved_again(str(tmp_path / "one.pt"), str(tmp_path / "other.pt"))
    assert torch.load(tmp_path / "other.pt", weights_only=True) == {"a": [value, (value, None)]}


@pytest.mark.parametrize("layout", ["sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"])
@pytest.mark.filterwarnings("ignore")
def test_sparse_tensors_round_trip(layout, tmp_path):
    dense = torch.tensor([[0.0, 2, 0, 0], [3, 0, 0, 4]])
    blocks = {"blocksize": (1, 2)} if layout in ("sparse_bsr", "sparse_bsc") else {}
    tensor = dense.to_sparse(layout=getattr(torch, layout), **blocks)
    there, back = tmp_path / "there.pt", tmp_path / "back.pt"
    torch.save([tensor, tensor], there)
    SIMPLE.saved_again(str(there), str(back))
    for again in torch.load(back, weights_only=True):
        assert again.layout == tensor.layout
        assert torch.equal(again.to_dense(), dense)
        assert layout != "sparse_coo" or again.is_coalesced()


def test_sparse_indices_out_of_range_are_rejected(tmp_path):
    tensor = torch.sparse_coo_tensor([[0, 9]], [1.0, 2.0], (3,), check_invariants=False)
    torch.save(tensor, tmp_path / "file.pt")
    with pytest.raises(RuntimeError, match=r"file\.pt cannot be read: size is inconsistent with indices"):
        SIMPLE.load(str(tmp_path / "file.pt"))


@pytest.mark.parametrize("value", [torch.nn.Buffer(torch.arange(2.0)), with_attribute()], ids=["buffer", "attribute"])
def test_tensor_attributes_are_dropped(value, tmp_path):
    torch.save({"value": value}, tmp_path / "file.pt")
    assert torch.equal(SIMPLE.load(str(tmp_path / "file.pt"))["value"], value)


@pytest.mark.parametrize("value", [2**70, range(0, 9, 2), range(3), Fraction(1, 3), slice(1, 2)], ids=str)
def test_other_objects_of_python_are_saved_by_python(value, tmp_path):
    file = tmp_path / "file.pt"
    SIMPLE.save({"value": value, "w": torch.ones(2), "items": [(value, b"ab", None)]}, str(file))
    back = torch.load(file, weights_only=False)
    assert back["value"] == value
    assert type(back["value"]) is type(value)
    assert torch.equal(back["w"], torch.ones(2))
    assert back["items"] == [(value, b"ab", None)]
    assert [path.name for path in tmp_path.iterdir()] == ["file.pt"]
    assert file.stat().st_mode & 0o777 == 0o666 & ~UMASK


def test_values_of_simple_next_to_an_object_of_python_keep_their_types(tmp_path):
    SIMPLE.mixed(Fraction(1, 3), str(tmp_path / "file.pt"))
    back = torch.load(tmp_path / "file.pt", weights_only=False)
    assert back["object"] == Fraction(1, 3)
    assert type(back["parameter"]) is torch.nn.Parameter
    assert not back["frozen"].requires_grad
    assert list(back["state"]) == ["weight", "bias"]
    assert (back["bytes"], back["tuple"], back["none"]) == (b"\x01\xff", (1, "a"), None)


def test_a_file_with_other_objects_is_rejected_by_load(tmp_path):
    SIMPLE.save([Fraction(1, 3)], str(tmp_path / "file.pt"))
    with pytest.raises(RuntimeError, match=r"it contains a fractions\.Fraction; only .* because .* can run any code"):
        SIMPLE.load(str(tmp_path / "file.pt"))


def test_an_object_that_pickle_rejects_leaves_the_earlier_file(tmp_path):
    file = tmp_path / "file.pt"
    SIMPLE.save([1], str(file))
    with pytest.raises(Exception, match=r"Can't pickle|cannot pickle"):
        SIMPLE.save([lambda: 1], str(file))
    assert torch.load(file) == [1]
    assert [path.name for path in tmp_path.iterdir()] == ["file.pt"]


def test_a_folder_that_is_absent_is_named(tmp_path):
    file = tmp_path / "absent" / "file.pt"
    with pytest.raises(FileNotFoundError) as caught:
        SIMPLE.save([Fraction(1, 3)], str(file))
    assert caught.value.filename == str(file)


@pytest.mark.parametrize("value", [{1, "a"}, frozenset([1.5])], ids=shown)
def test_sets_are_saved(value, tmp_path):
    for whole in (value, {"value": value}):
        SIMPLE.save(whole, str(tmp_path / "file.pt"))
        assert torch.load(tmp_path / "file.pt", weights_only=True) == whole


def test_simple_values_are_saved(tmp_path):
    SIMPLE.complex(str(tmp_path / "file.pt"))
    assert torch.load(tmp_path / "file.pt", weights_only=True) == 1 + 0j
    SIMPLE.own(str(tmp_path / "file.pt"))
    assert torch.load(tmp_path / "file.pt", weights_only=True) == {
        "bytes": b"\x01\xff",
        "device": torch.device("cpu"),
        "complex": 1.5 - 2j,
    }
