"""JAX on a CUDA device, without preallocation of memory."""

from __future__ import annotations

import os

os.environ["JAX_PLATFORMS"] = "cuda"
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"

import numpy as np
from common import CudaProducer as Producer  # noqa: F401
from common import are_twos, bytes_of_pattern, flat, numpy_dtype, ones_in, two  # noqa: F401
from cupy.cuda import runtime
from jax_arrays import address, dtype_of, fill, make, shape_of, take, values  # noqa: F401

DEVICE = "cuda:0"


def has_ones(array):
    """Reads the memory, because JAX caches what it has read."""
    here = np.empty(array.size, array.dtype)
    runtime.deviceSynchronize()
    runtime.memcpy(here.ctypes.data, address(array), here.nbytes, runtime.memcpyDeviceToHost)
    return ones_in(flat(here))


def write(array):
    here = np.full(array.size, two(array.dtype.name), numpy_dtype(array.dtype.name))
    runtime.memcpy(address(array), here.ctypes.data, here.nbytes, runtime.memcpyHostToDevice)
    runtime.deviceSynchronize()
