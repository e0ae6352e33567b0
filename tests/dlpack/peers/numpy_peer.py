"""NumPy, with the dtypes of ml_dtypes."""

from __future__ import annotations

import numpy as np
from common import (  # noqa: F401
    DEVICE,
    Producer,
    are_twos,
    bytes_of_pattern,
    flat,
    numpy_laid_out,
    ones_in,
    two,
)

make = numpy_laid_out
take = np.from_dlpack


def address(array):
    return array.ctypes.data


def values(array):
    return flat(array)


def has_ones(array):
    return ones_in(flat(array))


def fill(array):
    array[...] = two(array.dtype.name)


def write(array):
    while not array.flags.writeable or 0 in array.strides:
        array = array.base
    fill(array)


def dtype_of(array):
    return array.dtype.name


def shape_of(array):
    return list(array.shape)
