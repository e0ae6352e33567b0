"""Repeats each operator that PyTorch calls while Python code runs, on read-only memory.

Each call uses copies. First, the arguments that the schema only reads are imported read-only: an error means that
LibTorch rejects a reader. Then each argument that the schema writes is imported read-only alone: the call must fail and
no bit may change. The same applies to the operator's in-place and `out=` forms.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

import torch
from aten_replay import _Copies, _in_schema_order
from embedded_abi import Abi, AbiError, Unreplayable
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

READ_ONLY = 1


class _Header(ctypes.Structure):
    """The first fields of DLManagedTensorVersioned."""

    _fields_ = (
        ("version", ctypes.c_uint32 * 2),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
    )


class ReadOnlyAbi(Abi):
    """Locked tensors are imported as read-only memory; results are released."""

    def __init__(self) -> None:
        super().__init__()
        self._locked: list[torch.Tensor] = []

    def call_locked(self, func, values: list, locked: list[torch.Tensor]) -> None:
        self._locked = locked
        self.call(func._schema.name, func._schema.overload_name, values)

    def call_by_name_locked(self, name: str, args: list, named: dict) -> None:
        self._locked = _tensors([args, named])
        self.call_by_name(name, args, named)

    def export(self, tensor: torch.Tensor) -> int:
        managed = super().export(tensor)
        if any(tensor is each for each in self._locked):
            _Header.from_address(managed).flags |= READ_ONLY
        return managed

    def leave(self, handle: int) -> None:
        self.release(handle)


@dataclass
class Findings:
    """The outcomes of the calls."""

    calls: Counter = field(default_factory=Counter)  # (overload, dtypes of its tensors) -> calls by PyTorch
    rejected: dict[str, set[str]] = field(default_factory=dict)  # reader -> arguments that must not be read-only
    failed: dict[str, str] = field(default_factory=dict)  # reader -> another error
    writers: dict[str, Counter] = field(default_factory=dict)  # overload -> rejected, nothing written, other error
    changed: set[str] = field(default_factory=set)  # overloads that wrote to read-only memory
    messages: set[str] = field(default_factory=set)  # of the errors

    def overloads(self) -> set[str]:
        return {overload for overload, *_ in self.calls}


class Probe(TorchDispatchMode):
    """While active, tries the first few calls of each overload with each dtype (of some: each call) on read-only
    memory."""

    def __init__(self, abi: ReadOnlyAbi, findings: Findings, most: int, each_call_of: Collection[str] = ()) -> None:
        super().__init__()
        self._abi, self._found, self._most, self._each_call_of = abi, findings, most, each_call_of

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        overload = str(func)
        kind = overload, *sorted({str(tensor.dtype) for tensor in _tensors((args, kwargs))})
        self._found.calls[kind] += 1
        if self._found.calls[kind] > self._most and overload not in self._each_call_of:
            return func(*args, **kwargs)
        try:
            values = _in_schema_order(func, *tree_map(_Copies().of, (tuple(args), kwargs)))
        except Unreplayable:
            return func(*args, **kwargs)
        result = func(*args, **kwargs)
        self.try_readers(func, values)
        for form, arguments in [(func, values), *_writing_forms(func, values, result)]:
            for index in _written(form):
                self._try_writer(form, arguments, index)
        return result

    def try_readers(self, func, values: list) -> None:
        """Locks all arguments that are read; if that fails, each alone."""
        read = [i for i in range(len(values)) if i not in _written(func) and _tensors(values[i])]
        outcome = self._attempt(func, values, read) if read else None
        if outcome == "read-only":
            names = {func._schema.arguments[i].name for i in read if self._attempt(func, values, [i]) == outcome}
            self._found.rejected.setdefault(str(func), set()).update(names)
        elif outcome is not None:
            self._found.failed[str(func)] = outcome

    def _try_writer(self, func, values: list, index: int) -> None:
        if any(tensor.numel() for tensor in _tensors(values[index])):
            outcome = self._attempt(func, values, [index]) or "nothing written"
            self._found.writers.setdefault(str(func), Counter())[outcome] += 1

    def _attempt(self, func, values: list, locked_arguments: list[int]) -> str | None:
        """The error of a call on fresh copies, "read-only" for short; None if it succeeds."""
        try:
            copies = tree_map(_Copies().of, values)
        except Unreplayable:
            return None
        locked = _tensors([copies[i] for i in locked_arguments])
        free = {t.untyped_storage().data_ptr() for t in _tensors(copies) if not any(t is each for each in locked)}
        watched = [t.untyped_storage() for t in locked if t.untyped_storage().data_ptr() not in free]
        before = [bytes(storage) for storage in watched]
        outcome = None
        try:
            self._abi.call_locked(func, copies, locked)
        except Unreplayable:
            pass
        except AbiError as error:
            outcome = str(error)
            if "read-only" in outcome:
                self._found.messages.add(outcome)
                outcome = "read-only"
        if before != [bytes(storage) for storage in watched]:
            self._found.changed.add(str(func))
        return outcome


def _tensors(values) -> list[torch.Tensor]:
    return [leaf for leaf in tree_flatten(values)[0] if isinstance(leaf, torch.Tensor)]


def _written(func) -> list[int]:
    arguments = func._schema.arguments
    return [i for i, each in enumerate(arguments) if each.alias_info is not None and each.alias_info.is_write]


def _writing_forms(func, values: list, result) -> Iterator[tuple]:
    """The overloads, with arguments, that write where `func` returns a new tensor."""
    if func._schema.is_mutable or func.namespace != "aten":
        return
    name = func._schema.name.split("::")[1]
    arguments = [(each.name, str(each.type)) for each in func._schema.arguments]
    for packet in (name, f"{name}_"):
        found = getattr(torch.ops.aten, packet, None)
        for overload in found.overloads() if found else ():
            form = getattr(found, overload)
            outs = [each for each in form._schema.arguments if each.is_out]
            call_arguments = [(each.name, str(each.type)) for each in form._schema.arguments if not each.is_out]
            if call_arguments == arguments and outs and len(outs) == len(_tensors(result)):
                yield form, [*_full(func, values), *map(_with_other_values, _tensors(result))]
            elif call_arguments == arguments and not outs and form._schema.is_mutable:
                yield form, values


def _full(func, values: list) -> list:
    """The values with the defaults of omitted trailing arguments."""
    rest = func._schema.arguments[len(values) :]
    return [*values, *(each.default_value for each in rest)]


def _with_other_values(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor of the same layout in which each byte differs, so that a write is detected."""
    other = torch.empty(0, dtype=tensor.dtype)
    storage = tensor.untyped_storage().clone()
    torch.empty(0, dtype=torch.uint8).set_(storage).bitwise_xor_(1)
    return other.set_(storage, tensor.storage_offset(), tensor.size(), tensor.stride())
