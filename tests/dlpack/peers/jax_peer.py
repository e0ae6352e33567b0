"""JAX on the CPU."""

from __future__ import annotations

import os

os.environ["JAX_PLATFORMS"] = "cpu"

from common import DEVICE, Lent, are_twos, bytes_of_pattern, flat, ones_in, read_memory, write_memory  # noqa: F401
from jax_arrays import address, dtype_of, fill, make, shape_of, take, values  # noqa: F401


def has_ones(array):
    """By its memory: JAX keeps a transposed array as it was read once."""
    return ones_in(flat(read_memory(address(array), array.dtype.name, array.size)))


def write(array):
    write_memory(address(array), array.dtype.name, array.size)
