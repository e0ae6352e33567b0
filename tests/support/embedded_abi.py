"""PyTorch's operators through the C ABI only, for a Python process: tensors are passed and returned by DLPack.

Nothing here calls PyTorch's operators; torch is only used to create and consume DLPack capsules and to name dtypes.
"""

from __future__ import annotations

import ctypes
import gc
import os
from pathlib import Path
from unittest.mock import patch

import torch

ROOT = Path(__file__).resolve().parents[2]

NIL, BOOL, INT, FLOAT, STRING, ARRAY = range(6)
TENSOR, COMPLEX, GENERATOR = 16, 17, 18
BUFFER_SIZE = 16  # capacity for the results of one call

_VERSIONED, _USED = b"dltensor_versioned", b"used_dltensor_versioned"


class SplArray(ctypes.Structure):
    pass


class _Payload(ctypes.Union):
    _fields_ = (
        ("as_bool", ctypes.c_bool),
        ("as_int", ctypes.c_int64),
        ("as_float", ctypes.c_double),
        ("as_string", ctypes.c_char_p),
        ("as_array", ctypes.POINTER(SplArray)),
    )


class SplValue(ctypes.Structure):
    _anonymous_ = ("payload",)
    _fields_ = (("tag", ctypes.c_int32), ("payload", _Payload))


SplArray._fields_ = (("items", ctypes.POINTER(SplValue)), ("len", ctypes.c_int64), ("cap", ctypes.c_int64))


class AbiError(Exception):
    """A status other than SPT_OK: `kind` is its number."""

    def __init__(self, kind: int, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Unreplayable(Exception):
    """A value that cannot be passed or returned, for example a sparse tensor."""


def open_front() -> ctypes.CDLL:
    """Loads libspl_torch.so with this process's torch."""
    host = os.environ.get("SIMPLE_HOST")
    folder = Path(host).parent.parent / "lib" if host else ROOT / "build" / "release" / "lib"
    front = ctypes.CDLL(str(folder / "libspl_torch.so"))
    front.spt_last_error_message.restype = ctypes.c_char_p
    available = ctypes.c_bool()
    with patch.dict(os.environ, SIMPLE_TORCH=os.path.dirname(torch.__file__)):
        front.spt_available(ctypes.byref(available))
    assert available.value
    for name in ("spt_op_find", "spt_op_call", "spt_from_dlpack", "spt_to_dlpack", "spt_release", "spt_live_handles"):
        getattr(front, name).restype = ctypes.c_int32
    return front


class Abi:
    """Calls operators by name and overload. Tensors are passed without a copy."""

    def __init__(self) -> None:
        self.front = open_front()
        self._found: dict[tuple[str, str], ctypes.c_int64] = {}
        api = ctypes.pythonapi
        api.PyCapsule_GetPointer.restype = ctypes.c_void_p
        api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
        api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
        api.PyCapsule_New.restype = ctypes.py_object
        api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        gc.collect()  # garbage that is collected later must not be counted
        self._before = self._all_live()

    def call(self, name: str, overload: str, args: list) -> list:
        """The results of `name.overload` for the arguments of its schema, in order."""
        op = self._find(name, overload)
        call = _Call(self)
        try:
            array_result = (SplValue * max(len(args), 1))(*[call.value(arg) for arg in args])
            buffer, count = (SplValue * BUFFER_SIZE)(), ctypes.c_int64()
            self.check(
                self.front.spt_op_call(
                    op,
                    array_result,
                    ctypes.c_int64(len(args)),
                    buffer,
                    ctypes.c_int64(BUFFER_SIZE),
                    ctypes.byref(count),
                )
            )
        finally:
            call.release()
        return [self._to_python(buffer[i]) for i in range(count.value)]

    def call_by_name(self, name: str, args: list, named: dict) -> None:
        """Calls an operator as Simple does, with overload resolution, and releases the results."""
        call = _Call(self)
        try:
            out = self._called_by_name(call, name, args, named)
        finally:
            call.release()
        self._free_array(out.contents)
        self.front.spl_array_free(out)

    def _called_by_name(self, call: _Call, name: str, args: list, named: dict):
        """The array that spt_op returns: letters, names, values. The caller owns it."""
        letters, values = zip(*map(call.lettered, [*args, *named.values()])) if args or named else ("", ())
        names = (ctypes.c_char_p * max(len(named), 1))(*[name.encode() for name in named])
        out = ctypes.POINTER(SplArray)()
        self.check(
            self.front.spt_op(
                name.encode(),
                "".join(letters).encode(),
                ctypes.byref(call.array(values)),
                names,
                ctypes.c_int64(len(named)),
                ctypes.byref(out),
            )
        )
        return out

    def _free_array(self, array_result: SplArray) -> None:
        for letter, i in zip(array_result.items[0].as_string.decode(), range(2, array_result.len)):
            if letter == "t" and array_result.items[i].as_int != 0:
                self.release(array_result.items[i].as_int)
            elif letter == "l":
                inner = array_result.items[i].as_array.contents
                for j in range(inner.len):
                    self.release(inner.items[j].as_int)

    def live(self) -> int:
        """The number of live handles since construction: modules of Simple in this process keep theirs."""
        return self._all_live() - self._before

    def _all_live(self) -> int:
        count = ctypes.c_int64()
        self.check(self.front.spt_live_handles(0, ctypes.byref(count)))
        return count.value

    def check(self, status: int) -> None:
        if status != 0:
            raise AbiError(status, self.front.spt_last_error_message().decode())

    def knows(self, name: str) -> bool:
        """Whether the operator exists."""
        text = ctypes.c_char_p()
        self.check(self.front.spt_op_schemas(name.encode(), ctypes.byref(text)))
        known = bool(text.value)
        self.front.spt_free(text)
        return known

    def _find(self, name: str, overload: str) -> ctypes.c_int64:
        key = (name, overload)
        if key not in self._found:
            op = ctypes.c_int64()
            self.check(self.front.spt_op_find(name.encode(), overload.encode(), ctypes.byref(op)))
            self._found[key] = op
        return self._found[key]

    def enter(self, tensor: torch.Tensor) -> int:
        """A handle to the tensor's memory."""
        handle = ctypes.c_int64()
        self.check(self.front.spt_from_dlpack(ctypes.c_void_p(self.export(tensor)), ctypes.byref(handle)))
        return handle.value

    def export(self, tensor: torch.Tensor) -> int:
        """The address of a DLPack structure for the tensor's memory; the importer owns it."""
        try:
            capsule = tensor.__dlpack__(max_version=(1, 0))
        except (BufferError, RuntimeError, TypeError, NotImplementedError) as error:
            raise Unreplayable(f"cannot be exported: {error}") from error
        managed = ctypes.pythonapi.PyCapsule_GetPointer(capsule, _VERSIONED)
        ctypes.pythonapi.PyCapsule_SetName(capsule, _USED)
        return managed

    def release(self, handle: int) -> None:
        self.check(self.front.spt_release(ctypes.c_int64(handle)))

    def leave(self, handle: int) -> torch.Tensor:
        """The tensor of a handle, which is consumed."""
        managed = ctypes.c_void_p()
        try:
            self.check(self.front.spt_to_dlpack(ctypes.c_int64(handle), False, ctypes.byref(managed)))
        except AbiError as error:
            raise Unreplayable(f"leaves not: {error}") from error
        finally:
            self.release(handle)
        return torch.from_dlpack(ctypes.pythonapi.PyCapsule_New(managed, _VERSIONED, None))

    def _to_python(self, value: SplValue):
        """Converts a result to a Python value."""
        match value.tag:
            case 0:
                return None
            case 1:
                return value.as_bool
            case 2:
                return value.as_int
            case 3:
                return value.as_float
            case 4:
                return value.as_string.decode()
            case 16:
                return None if value.as_int == 0 else self.leave(value.as_int)
            case 17:
                parts = value.as_array.contents.items
                return complex(parts[0].as_float, parts[1].as_float)
            case 5:
                array = value.as_array.contents
                return [self._to_python(array.items[i]) for i in range(array.len)]
        raise Unreplayable(f"a result of tag {value.tag}")


class _Call:
    """The arguments of one call; keeps what they refer to alive."""

    def __init__(self, abi: Abi) -> None:
        self._abi = abi
        self._handles: list[int] = []
        self._kept: list[object] = []

    def release(self) -> None:
        for handle in self._handles:
            self._abi.release(handle)

    def value(self, arg) -> SplValue:
        value = SplValue()
        if arg is None:
            value.tag = NIL
        elif isinstance(arg, torch.Tensor):
            value.tag, value.as_int = TENSOR, self._handle(arg)
        elif isinstance(arg, bool):
            value.tag, value.as_bool = BOOL, arg
        elif isinstance(arg, int):
            value.tag, value.as_int = INT, arg
        elif isinstance(arg, float):
            value.tag, value.as_float = FLOAT, arg
        elif isinstance(arg, complex):
            value = self._array([arg.real, arg.imag])
            value.tag = COMPLEX
        elif isinstance(arg, (list, tuple)):
            return self._array(arg)
        elif isinstance(arg, (str, torch.dtype, torch.layout, torch.memory_format, torch.device)):
            text = str(arg).encode()
            self._kept.append(text)
            value.tag, value.as_string = STRING, text
        else:
            raise Unreplayable(f"an argument of type {type(arg).__name__}")
        return value

    def lettered(self, arg) -> tuple[str, SplValue]:
        """A value and its letter, for a call by name."""
        if isinstance(arg, torch.Tensor):
            return "t", self.value(self._handle(arg))
        if isinstance(arg, (list, tuple)) and any(isinstance(item, torch.Tensor) for item in arg):
            return "l", self._array([0 if item is None else self._handle(item) for item in arg])
        if isinstance(arg, complex):
            return "c", self._array([arg.real, arg.imag])
        return "v", self.value(arg)

    def _handle(self, tensor: torch.Tensor) -> int:
        handle = self._abi.enter(tensor)
        self._handles.append(handle)
        return handle

    def array(self, values) -> SplArray:
        """An array of SplValues."""
        items = (SplValue * max(len(values), 1))(*values)
        array = SplArray(items, len(values), len(values))
        self._kept += [items, array]
        return array

    def _array(self, items) -> SplValue:
        value = SplValue()
        value.tag, value.as_array = ARRAY, ctypes.pointer(self.array([self.value(item) for item in items]))
        return value
