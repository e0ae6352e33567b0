"""PyArrow: arrays for one dimension (if the layout has one), tensors otherwise. Arrays are immutable."""

from __future__ import annotations

import pyarrow as pa
from common import (  # noqa: F401
    DEVICE,
    Producer,
    are_twos,
    bytes_of_pattern,
    flat,
    numpy_laid_out,
    ones_in,
    pattern,
    two,
    write_memory,
)


def take(producer):
    return pa.Tensor.from_dlpack(producer)  # new in PyArrow 26


def make(dtype, layout):
    if layout in ("rows", "offset"):
        return pa.array(pattern(dtype).ravel())[3 if layout == "offset" else 0 :]
    return pa.Tensor.from_numpy(numpy_laid_out(dtype, layout))


def address(array):
    if isinstance(array, pa.Tensor):
        return array.to_numpy().ctypes.data
    return array.buffers()[1].address + array.offset * array.type.byte_width


def values(array):
    return flat(array.to_numpy())


def has_ones(array):
    return ones_in(values(array))


def fill(tensor):
    array = tensor.to_numpy()
    array[...] = two(array.dtype.name)


def write(array):
    seen = array.to_numpy()
    if seen.flags.writeable:
        fill(array)
    else:
        write_memory(address(array), seen.dtype.name, 3 if 0 in seen.strides else seen.size)


def dtype_of(tensor):
    return tensor.to_numpy().dtype.name


def shape_of(tensor):
    return list(tensor.shape)
