"""DLPack structures of a producer that is written in Python, with any field set to any value."""

from __future__ import annotations

import ctypes
from collections.abc import Callable


class Struct(ctypes.Structure):
    """A DLManagedTensorVersioned with one dimension."""

    _fields_ = [
        ("version", ctypes.c_uint32 * 2),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("flags", ctypes.c_uint64),
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    ]


_kept = []  # objects that C structures point to


def foreign_capsule(
    deleter: Callable = lambda _: None, *, version=(1, 0), flags=0, code=2, bits=32, lanes=1, byte_offset=0
):
    """Four numbers of a producer with an unguarded deleter in Python."""
    data, shape, strides = (ctypes.c_float * 4)(), (ctypes.c_int64 * 1)(4), (ctypes.c_int64 * 1)(1)
    struct = Struct(version, None, Struct._fields_[2][1](deleter), flags)
    struct.data, struct.shape, struct.strides = (ctypes.addressof(part) for part in (data, shape, strides))
    struct.device, struct.ndim = (1, 0), 1
    struct.code, struct.bits, struct.lanes = code, bits, lanes
    struct.byte_offset = byte_offset
    _kept.append((data, shape, strides, struct))
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(ctypes.addressof(struct), b"dltensor_versioned", None)
