"""JAX on the CPU, with its 64-bit dtypes. Its arrays have no strides and are never written."""

from __future__ import annotations

import os

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from common import (  # noqa: F401
    Lent,
    are_twos,
    bytes_of_pattern,
    flat,
    numpy_laid_out,
    ones_in,
    read_memory,
    write_memory,
)

jax.config.update("jax_enable_x64", True)
take = jax.dlpack.from_dlpack


def make(dtype, layout):
    if layout == "read-only":
        raise TypeError("JAX has no read-only arrays beside those that all are")
    return jax.block_until_ready(jnp.array(numpy_laid_out(dtype, layout)))


def address(array):
    return array.unsafe_buffer_pointer()


def values(array):
    return flat(np.asarray(array))


def has_ones(array):
    """By its memory: JAX keeps a transposed array as it was read once."""
    return ones_in(flat(read_memory(address(array), array.dtype.name, array.size)))


def fill(array):
    array[...] = 2


def write(array):
    write_memory(address(array), array.dtype.name, array.size)


def dtype_of(array):
    return array.dtype.name


def shape_of(array):
    return list(array.shape)
