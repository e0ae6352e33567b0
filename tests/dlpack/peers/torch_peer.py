"""PyTorch in Python."""

from __future__ import annotations

import numpy as np
import torch
from common import DEVICE, FLOAT4, Producer, are_twos, bytes_of_pattern, flat, laid_out, ones_in, two  # noqa: F401

take = torch.from_dlpack


def make(dtype, layout, device=DEVICE):
    if layout in ("reversed", "read-only"):
        raise TypeError(f"torch has no {layout} tensors")
    base = torch.frombuffer(bytearray(bytes_of_pattern(dtype)), dtype=getattr(torch, dtype)).reshape(2, 3).to(device)
    return base[0].expand(2, 3) if layout == "broadcast" else laid_out(base, layout)


def address(tensor):
    return tensor.data_ptr()


def values(tensor):
    if tensor.dtype == getattr(torch, FLOAT4):
        tensor = tensor.view(torch.uint8)
    wide = tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)
    return flat(np.array(wide.cpu()))


def has_ones(tensor):
    return ones_in(values(tensor))


def fill(tensor):
    if tensor.dtype == getattr(torch, FLOAT4):
        tensor = tensor.view(torch.uint8)
    tensor.fill_(two(dtype_of(tensor)))


write = fill


def dtype_of(tensor):
    return str(tensor.dtype).removeprefix("torch.")


def shape_of(tensor):
    return list(tensor.shape)
