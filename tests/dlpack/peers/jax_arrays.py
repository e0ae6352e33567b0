"""JAX arrays on the platform that JAX_PLATFORMS selects, with 64-bit dtypes. Without strides; immutable."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from common import flat, numpy_laid_out

jax.config.update("jax_enable_x64", True)
take = jax.dlpack.from_dlpack


def make(dtype, layout):
    if layout == "read-only":
        raise TypeError("JAX cannot create read-only arrays; all are immutable")
    return jax.block_until_ready(jnp.array(numpy_laid_out(dtype, layout)))


def address(array):
    return array.unsafe_buffer_pointer()


def values(array):
    return flat(np.asarray(array))


def fill(array):
    array[...] = 2


def dtype_of(array):
    return array.dtype.name


def shape_of(array):
    return list(array.shape)
