"""tvm-ffi, whose tensors wrap foreign memory: NumPy's, or PyTorch's for dtypes that NumPy lacks."""

from __future__ import annotations

import numpy as np
import torch
import torch_peer
import tvm_ffi
from common import DEVICE, Producer, are_twos, bytes_of_pattern, numpy_laid_out  # noqa: F401

take = tvm_ffi.from_dlpack


def make(dtype, layout):
    has = hasattr(np, dtype) or dtype == "bool"
    return tvm_ffi.from_dlpack(numpy_laid_out(dtype, layout) if has else torch_peer.make(dtype, layout))


def address(tensor):
    return tensor.data_ptr()


def as_torch(tensor):
    return torch.from_dlpack(tensor)


def values(tensor):
    return torch_peer.values(as_torch(tensor))


def has_ones(tensor):
    return torch_peer.has_ones(as_torch(tensor))


def fill(tensor):
    torch_peer.fill(as_torch(tensor))


write = fill


def dtype_of(tensor):
    """Its own name; it has none for complex numbers."""
    try:
        return str(tensor.dtype)
    except ValueError:
        return torch_peer.dtype_of(as_torch(tensor))


def shape_of(tensor):
    return list(tensor.shape)
