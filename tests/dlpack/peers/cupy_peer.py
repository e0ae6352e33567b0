"""CuPy on a CUDA device."""

from __future__ import annotations

import cupy
from common import CudaProducer as Producer  # noqa: F401
from common import are_twos, bytes_of_pattern, flat, laid_out, ones_in, pattern, two  # noqa: F401

DEVICE = "cuda:0"
take = cupy.from_dlpack


def make(dtype, layout):
    if layout == "read-only":
        raise TypeError("CuPy has no read-only arrays")
    base = cupy.asarray(pattern(dtype))
    return cupy.broadcast_to(base[0], (2, 3)) if layout == "broadcast" else laid_out(base, layout)


def address(array):
    return array.data.ptr


def values(array):
    return flat(cupy.asnumpy(array))


def has_ones(array):
    return ones_in(values(array))


def fill(array):
    array.fill(two(dtype_of(array)))


write = fill


def dtype_of(array):
    return array.dtype.name


def shape_of(array):
    return list(array.shape)
