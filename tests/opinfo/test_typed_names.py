"""Each typed function of the C ABI, compared with the PyTorch function that its row names as its source.

For every row a search over small arguments finds calls that PyTorch accepts. The same call of the typed function must
return the same dtype, shape and bits, and change the same tensors in place. Rows without such a call are printed; each
of them has its own test.
"""

from __future__ import annotations

import ctypes
import math
import random
import re
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)

from aten_replay import difference  # noqa: E402
from embedded_abi import Abi, AbiError  # noqa: E402

from abi_generator import table  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
TRIES, WANTED = 400, 3  # calls tried for each row, accepted ones wanted
C_TYPES = {"i64": ctypes.c_int64, "i32": ctypes.c_int32, "f64": ctypes.c_double, "bool": ctypes.c_bool}

# The same name with another contract: upstream's, or one that C needs. Each has its own test of the contract.
A_CODE, A_NUMBER, UPSTREAM = "a code stands for the dtype", "one number, of the whole tensor", "upstream's contract"
MEMORY = "its elements are whatever the memory held"
OTHER_CONTRACT = {
    "zeros_float64": "float64, whatever the default dtype",
    "default_dtype": A_CODE,
    "autocast_increment_nesting": "a counter of the thread, which Python's call has changed, too",
    "autocast_decrement_nesting": "a counter of the thread, which Python's call has changed, too",
    "empty": MEMORY,
    "empty_like": MEMORY,
    "zeros_int": "int64 instead of the default dtype",
    "ones_int": "int64 instead of the default dtype",
    "rpow_scalar": "the number is the base, as in number ** tensor",
    "rpow_int": "the number is the base, as in number ** tensor",
    "std_all": A_NUMBER,
    "var_all": A_NUMBER,
    "det_value": A_NUMBER,
    "max_dim": UPSTREAM + ": the values without their indices",
    "min_dim": UPSTREAM + ": the values without their indices",
    "argmax": UPSTREAM + ": a negative dim stands for the whole tensor",
    "argmin": UPSTREAM + ": a negative dim stands for the whole tensor",
    "svd_u": UPSTREAM + ": U alone",
    "eig_real": UPSTREAM + ": the real parts",
    "to_dtype": A_CODE + "; where there is a GPU Python takes a number for its device",
    "to_float": UPSTREAM + ": float64",
    "to_int": UPSTREAM + ": int64",
    "to_list": "one flat list",
    "to_int_list": "one flat list",
    "set_grad_enabled": "returns the previous mode",
}
REDUCTIONS = ["none", "mean", "sum"]


def tensors() -> list[torch.Tensor]:
    """Small tensors with the shapes and dtypes that operators need."""
    torch.manual_seed(7)
    square = torch.rand(3, 3) + torch.eye(3)
    return [
        torch.rand(3),
        torch.rand(4),
        torch.rand(2, 3),
        torch.randn(3, 4),
        square,
        square @ square.T,
        torch.rand(3, 3, dtype=torch.float64),
        torch.randn(2, 3, 4),
        torch.rand(1, 1, 6, 6),
        torch.rand(2, 1, 3, 3),
        torch.rand(1, 2, 8),
        torch.rand(2, 2, 3),
        torch.tensor(2.5),
        torch.tensor([1, 0, 2]),
        torch.tensor([[0, 1, 1], [2, 0, 1]]),
        torch.tensor([True, False, True]),
        torch.tensor([[True, False, True], [False, False, True]]),
        torch.tensor([1.0, math.nan, -math.inf]),
        torch.randn(2, 3, dtype=torch.complex64),
    ]


INTEGERS = [0, 1, 2, 3, -1, 6]
FLOATS = [0.0, 0.5, 1.0, 2.0, -1.5, 1e-5]
LISTS = [[], [1], [2], [3], [0], [1, 1], [2, 2], [0, 1], [1, 0], [2, 3], [3, 2], [6], [-1], [2, 0, 1], [3, 3]]


def pool(kind: str, samples: list[torch.Tensor]) -> list | None:
    """Possible arguments of this kind; None for kinds that are not plain values."""
    return {
        "tensor": samples,
        "tensor?": [None, *samples],
        "tensors": [[a, a] for a in samples],
        "i64": INTEGERS,
        "i32": INTEGERS,
        "f64": FLOATS,
        "bool": [False, True],
        "dims": LISTS,
        "f64s": [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]],
    }.get(kind)


def source_of(function) -> object | None:
    """The callable that the row names, or None."""
    path = re.match(r"torch((?:\.\w+)+)$", function.fields.get("source", ""))
    found: object = torch
    for part in path[1].split(".")[1:] if path else []:
        found = getattr(found, part, None)
    return found if path and callable(found) else None


def cloned(value):
    if isinstance(value, torch.Tensor):
        return value.clone()
    return [cloned(item) for item in value] if isinstance(value, list) else value


def named_value(name: str, value):
    return REDUCTIONS[value] if name == "reduction" else value


def by_python(source, function, values: list):
    """PyTorch's result, called positionally or by name; None if it raises."""
    tensors_first = sum(arg.kind.startswith("tensor") for arg in function.args)
    if any(arg.name == "reduction" for arg in function.args):
        ways = [tensors_first, 2]
    else:
        ways = [len(values), 1, 0]
    for positional in ways:
        torch.manual_seed(3)
        named = {
            arg.name: named_value(arg.name, value)
            for arg, value in zip(function.args[positional:], values[positional:])
        }
        try:
            return True, source(*values[:positional], **named)
        except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError, AttributeError, AssertionError):
            continue
    return False, None


class Typed:
    """Calls spt_ functions with Python values."""

    def __init__(self, abi: Abi) -> None:
        self.abi = abi

    def call(self, function, values: list) -> list:
        handles: list[int] = []
        kept: list[object] = []
        arguments = [
            part
            for arg, value in zip(function.args, values)
            for part in self.to_arguments(arg.kind, value, handles, kept)
        ]
        outs = [[(C_TYPES.get(result.kind) or ctypes.c_int64)()] for result in function.results]
        for out, result in zip(outs, function.results):
            if result.kind in table.LISTS:
                out[:] = [ctypes.c_void_p(), ctypes.c_int64()]
        self.abi.check(self.abi.front.spt_manual_seed(ctypes.c_int64(3)))
        try:
            status = getattr(self.abi.front, f"spt_{function.name}")(
                *arguments, *[ctypes.byref(part) for out in outs for part in out]
            )
            self.abi.check(status)
        finally:
            for handle in handles:
                self.abi.release(handle)
        return [self.to_python(result.kind, out) for result, out in zip(function.results, outs)]

    def to_arguments(self, kind: str, value, handles: list[int], kept: list[object]) -> list:
        if kind in {"tensor", "tensor?"}:
            handles += [] if value is None else [self.abi.enter(value)]
            return [ctypes.c_int64(0 if value is None else handles[-1])]
        if kind in {"tensors", "dims", "f64s"}:
            items = value
            if kind == "tensors":
                items = [self.abi.enter(each) for each in value]
                handles += items
            c_type = ctypes.c_double if kind == "f64s" else ctypes.c_int64
            kept.append((c_type * max(len(items), 1))(*items))
            return [kept[-1], ctypes.c_int64(len(items))]
        return [C_TYPES[kind](value)]

    def to_python(self, kind: str, out: list):
        if kind == "tensor":
            return self.abi.leave(out[0].value) if out[0].value else None
        if kind in table.LISTS:
            c_type = ctypes.c_double if kind == "f64s" else ctypes.c_int64
            items = (c_type * out[1].value).from_address(out[0].value)[:]
            self.abi.front.spt_free(out[0])
            return [self.abi.leave(item) for item in items] if kind == "tensors" else items
        return out[0].value


def same(expected, got) -> bool:
    """Same dtype, shape and bits; a number matches a 0-d tensor."""
    if isinstance(expected, torch.Tensor) and isinstance(got, torch.Tensor):
        return difference(expected, got) is None
    if isinstance(expected, torch.Tensor) and expected.dim() == 0:
        expected = expected.item()
    if isinstance(expected, (tuple, list)):
        got = got if isinstance(got, (tuple, list)) else [got]
        return len(expected) == len(got) and all(map(same, expected, got))
    if isinstance(expected, float) and isinstance(got, float):
        return expected == got or (math.isnan(expected) and math.isnan(got))
    return expected == got


@dataclass
class Comparison:
    compared: list[str] = field(default_factory=list)
    calls: int = 0
    different: dict[str, str] = field(default_factory=dict)
    not_reached: list[str] = field(default_factory=list)


def compare(found: Comparison, typed: Typed, function, samples: list[torch.Tensor]) -> None:
    source = source_of(function)
    pools = [[0, 1, 2] if arg.name == "reduction" else pool(arg.kind, samples) for arg in function.args]
    results = {"tensor", "tensors", "dims", "f64s", *C_TYPES}
    if source is None or None in pools or any(result.kind not in results for result in function.results):
        found.not_reached.append(function.name)
        return
    chosen = random.Random(function.name)
    accepted = 0
    for _ in range(TRIES):
        values = [chosen.choice(choices) for choices in pools]
        theirs, ours = cloned(values), cloned(values)
        went, expected = by_python(source, function, theirs)
        if not went:
            continue
        try:
            got = typed.call(function, ours)
        except AbiError as error:
            if isinstance(expected, torch.Tensor) and not expected.is_complex():
                found.different.setdefault(function.name, f"rejects {values}: {error}")
            continue
        accepted += 1
        found.calls += 1
        result_value = got[0] if len(got) == 1 else got
        if (function.results and not same(expected, result_value)) or not same(theirs, ours):
            found.different[function.name] = f"{values}: PyTorch {expected}, here {result_value}"
        if accepted == WANTED:
            break
    if accepted:
        found.compared.append(function.name)
    else:
        found.not_reached.append(function.name)


@pytest.fixture(autouse=True, scope="module")
def modes_as_before():
    """Restores modes: some of the functions disable recording or enable autocast on this thread."""
    with torch.enable_grad(), torch.autocast("cpu", enabled=False):
        yield


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    found, typed, samples = Comparison(), Typed(Abi()), tensors()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for function in table.load_table(ROOT):
            if function.home == "backend":
                compare(found, typed, function, samples)
    print(
        f"\ntyped names: {len(found.compared)} compared in {found.calls} calls, {len(found.not_reached)} not reached:"
    )
    print("  " + " ".join(found.not_reached))
    return found


def test_typed_functions_match_pytorch(comparison: Comparison) -> None:
    assert {name: why for name, why in comparison.different.items() if name not in OTHER_CONTRACT} == {}


def test_every_name_that_is_not_reached_has_its_own_test(comparison: Comparison) -> None:
    tests = "\n".join(
        file.read_text() for file in (ROOT / "tests").rglob("*") if file.suffix in {".cpp", ".c", ".h", ".py", ".spl"}
    )
    # tests/bridge and tests/spec/python_spec.spl test those of Python objects.
    called = set(re.findall(r"\b(?:spt|rt)_\w+", tests))
    names = {f.name: {f"spt_{f.name}", *(s.name for s in f.spellings)} for f in table.load_table(ROOT)}
    assert [n for n in comparison.not_reached if not names[n] & called and not n.startswith("py_")] == []
