"""What Python's torch.load(weights_only=True) reads of Python's own types, and what of it is read here: the table in
docs/training.md."""

from __future__ import annotations

import os
from collections import Counter, OrderedDict, defaultdict

import pytest

if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
from optimizers_of_both import torch
from simple_torch import run

SIMPLE = run(
    """
    use torch
    fn save(value, path): torch.save(value, path)
    fn load(path): torch.load(path)
    fn kind(path): type_of(torch.load(path))
    fn complex(path): torch.save(torch.ones([1], dtype: torch.complex64).item(), path)
    """
)


def with_attribute():
    tensor = torch.ones(2)
    tensor.note = 1
    return tensor


# Python reads them with weights_only=True.
REFUSED = [
    (1j, "holds a __builtin__.complex"),
    (b"ab", "holds a _codecs.encode"),
    (bytearray(b"ab"), "holds a _codecs.encode"),
    ({1, 2}, "holds a __builtin__.set"),
    (torch.device("cpu"), "holds a torch.device"),
    (Counter("aab"), "holds a collections.Counter"),
    (2**70, "holds an integer of more than 64 bits"),
    (torch.eye(2).to_sparse(), "holds a torch.serialization._get_layout"),
    (torch.ones(2, device="meta"), "holds a torch._utils._rebuild_meta_tensor_no_storage"),
    (torch.nn.Buffer(torch.ones(2)), "holds a torch._tensor._rebuild_from_type_v2"),
    (with_attribute(), "holds a torch._tensor._rebuild_from_type_v2"),
]


@pytest.mark.parametrize(("value", "message"), REFUSED, ids=[str(k) for k in range(len(REFUSED))])
def test_python_reads_them_and_we_refuse_them_by_name(value, message, tmp_path):
    torch.save({"value": value}, tmp_path / "file.pt")
    torch.load(tmp_path / "file.pt", weights_only=True)
    with pytest.raises(RuntimeError, match=message):
        SIMPLE.load(str(tmp_path / "file.pt"))


@pytest.mark.parametrize("value", [frozenset([1]), slice(1, 2), range(3), defaultdict(int, {1: 2})], ids=str)
def test_both_refuse_what_is_no_data_of_a_state(value, tmp_path):
    torch.save(value, tmp_path / "file.pt")
    with pytest.raises(Exception, match=r"weights_only|Weights only"):
        torch.load(tmp_path / "file.pt", weights_only=True)
    with pytest.raises(RuntimeError, match="cannot be read: it holds a "):
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
    ],
    ids=str,
)
def test_both_read_them(value, kind, tmp_path):
    path = str(tmp_path / "file.pt")
    torch.save(value, path)
    assert SIMPLE.kind(path) == kind
    if kind not in ("StateDict", "tuple"):
        SIMPLE.save(value, path)
        assert torch.load(path, weights_only=True) == value


@pytest.mark.parametrize(
    ("value", "name"),
    [(1j, "complex"), ({1}, "set"), (torch.device("cpu"), "torch.device"), (2**70, "int"), (range(3), "range")],
    ids=str,
)
def test_what_is_not_saved_is_named_and_leaves_no_file(value, name, tmp_path):
    with pytest.raises(RuntimeError, match=rf"save\(\) takes no [a-z.]*{name} of Python's"):
        SIMPLE.save({"value": value}, str(tmp_path / "file.pt"))
    assert not list(tmp_path.iterdir())


def test_simples_own_complex_numbers_are_not_saved(tmp_path):
    with pytest.raises(RuntimeError, match=r"save\(\) takes no Complex: tensors, numbers, texts"):
        SIMPLE.complex(str(tmp_path / "file.pt"))
