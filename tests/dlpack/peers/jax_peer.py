"""JAX on the CPU."""

from __future__ import annotations

import os

os.environ["JAX_PLATFORMS"] = "cpu"

from common import DEVICE, Producer, are_twos, bytes_of_pattern, flat, ones_in, read_memory, write_memory  # noqa: F401
from jax_arrays import address, dtype_of, fill, make, shape_of, take, values  # noqa: F401


def has_ones(array):
    """Reads the memory, because JAX caches a transposed array that it has read."""
    return ones_in(flat(read_memory(address(array), array.dtype.name, array.size)))


def write(array):
    write_memory(address(array), array.dtype.name, array.size)
