"""Replays, through the C ABI, every aten call that PyTorch makes while Python code runs, and compares the results.

The tensors of a call are copied first, with their storages, so that the replay does not see changes by PyTorch's call.
Both calls start with the same random state. Compared are the results and every input, in case it was changed: dtype,
shape, strides (of dimensions with more than one element: DLPack does not carry the others) and each bit.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import torch
from embedded_abi import Abi, AbiError, Unreplayable
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map


@dataclass
class Tally:
    """The outcomes of the calls."""

    calls: int = 0
    identical: int = 0
    overloads: set[str] = field(default_factory=set)
    differing: dict[str, list[str]] = field(default_factory=dict)  # overload -> what differs
    left_out: Counter = field(default_factory=Counter)  # overload and reason -> calls

    def differs(self, overload: str, why: str) -> None:
        self.differing.setdefault(overload, []).append(why)

    @property
    def compared(self) -> int:
        return self.calls - sum(self.left_out.values())


class _Copies:
    """Copies of tensors on these kinds of devices; copies share memory as the originals do."""

    def __init__(self, devices: frozenset[str] = frozenset({"cpu"})) -> None:
        self._devices = devices
        self._storages: dict[int, torch.UntypedStorage] = {}

    def of(self, value):
        if not isinstance(value, torch.Tensor):
            return value
        if value.layout != torch.strided or value.is_quantized or type(value) is not torch.Tensor:
            raise Unreplayable(f"a {value.layout} {type(value).__name__}")
        if value.device.type not in self._devices:
            raise Unreplayable(f"a tensor on {value.device.type}")
        if value.is_conj() or value.is_neg():
            raise Unreplayable("a conjugate or negative view")
        if value._is_zerotensor():
            raise Unreplayable("zeros that are not written anywhere")
        storage = value.untyped_storage()
        key = storage.data_ptr() or id(storage)
        if key not in self._storages:
            self._storages[key] = storage.clone()
        copy = torch.empty(0, dtype=value.dtype, device=value.device)
        return copy.set_(self._storages[key], value.storage_offset(), value.size(), value.stride())


def _in_schema_order(func, args: tuple, kwargs: dict) -> list:
    """Positional values for each argument; omitted trailing arguments stay omitted."""
    arguments = func._schema.arguments
    values = list(args)
    for argument in arguments[len(args) :]:
        values.append(kwargs.get(argument.name, _default(argument)))
    return values


def _default(argument):
    return argument.default_value if argument.has_default_value() else None


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    flat = torch.empty(tensor.numel(), dtype=tensor.dtype, device=tensor.device)
    return flat.copy_(tensor.reshape(-1)).view(torch.uint8)


def _strides(tensor: torch.Tensor) -> list[int]:
    if tensor.numel() == 0:
        return []
    return [stride for size, stride in zip(tensor.shape, tensor.stride()) if size > 1]


class _RandomState:
    """The random state of the CPU and of a device, which can be restored."""

    def __init__(self, device: str) -> None:
        self._on_cuda = device == "cuda"
        self._host = torch.get_rng_state()
        self._device = torch.cuda.get_rng_state() if self._on_cuda else None

    def restore(self) -> None:
        torch.set_rng_state(self._host)
        if self._on_cuda:
            torch.cuda.set_rng_state(self._device)


def difference(expected, got) -> str | None:
    """The first difference, or None."""
    if not isinstance(expected, torch.Tensor):
        same = expected == got or (expected != expected and got != got)
        return None if same else f"{expected!r} against {got!r}"
    if not isinstance(got, torch.Tensor):
        return f"a tensor against {got!r}"
    for what in ("dtype", "shape", "device"):
        if getattr(expected, what) != getattr(got, what):
            return f"{what} {getattr(expected, what)} against {getattr(got, what)}"
    if _strides(expected) != _strides(got):
        return f"strides {expected.stride()} against {got.stride()}"
    return None if torch.equal(_bits(expected), _bits(got)) else "values"


class Replay(TorchDispatchMode):
    """While active, makes each call twice: by PyTorch, then by the C ABI on copies."""

    def __init__(self, abi: Abi, tally: Tally, device: str = "cpu") -> None:
        super().__init__()
        self._abi, self._tally, self._device = abi, tally, device

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        tally, overload = self._tally, str(func)
        try:
            copies = _Copies(frozenset({"cpu", self._device}))
            copied_args, copied_kwargs = tree_map(copies.of, (tuple(args), kwargs))
        except Unreplayable as reason:
            tally.calls += 1
            tally.left_out[f"{overload}: {reason}"] += 1
            return func(*args, **kwargs)
        before = _RandomState(self._device)
        result = func(*args, **kwargs)  # a call that PyTorch itself rejects is not counted
        tally.calls += 1
        after = _RandomState(self._device)
        before.restore()
        try:
            self._compare(func, overload, (args, kwargs), (copied_args, copied_kwargs), result)
        finally:
            after.restore()
        return result

    def _compare(self, func, overload: str, originals, copies, result) -> None:
        tally = self._tally
        try:
            name = func._schema.name
            values = self._abi.call(name, func._schema.overload_name, _in_schema_order(func, *copies))
        except Unreplayable as reason:
            tally.left_out[f"{overload}: {reason}"] += 1
            return
        except AbiError as error:
            tally.overloads.add(overload)
            tally.differs(overload, f"rejected: {error}")
            return
        tally.overloads.add(overload)
        expected = result if isinstance(result, (tuple, list)) and len(func._schema.returns) > 1 else [result]
        if not func._schema.returns:
            expected = []
        pairs = list(zip(tree_flatten(list(expected))[0], tree_flatten(values)[0], strict=True))
        if (
            torch.Tag.inplace_view not in func.tags
        ):  # a call that changes only the tensor object is checked by its result
            pairs += zip(tree_flatten(originals)[0], tree_flatten(copies)[0], strict=True)
        for wanted, got in pairs:
            try:
                why = difference(wanted, got)
            except (RuntimeError, NotImplementedError) as error:
                why = f"cannot be compared: {error}"
            if why:
                tally.differs(overload, why)
                return
        tally.identical += 1
