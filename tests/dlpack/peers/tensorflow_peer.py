"""TensorFlow on the CPU. Its tensors have no strides and are immutable."""

from __future__ import annotations

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
from common import (  # noqa: F401
    DEVICE,
    Producer,
    are_twos,
    bytes_of_pattern,
    flat,
    numpy_laid_out,
    ones_in,
    write_memory,
)


def make(dtype, layout):
    if layout == "read-only":
        raise TypeError("TensorFlow cannot create read-only tensors; all are immutable")
    return tf.constant(numpy_laid_out(dtype, layout))


def take(exporter):
    """Accepts only legacy capsules."""
    return tf.experimental.dlpack.from_dlpack(exporter.__dlpack__())


def address(tensor):
    """The address of the buffer. bfloat16 has no buffer; a bitcast shares the memory."""
    seen = tf.bitcast(tensor, tf.uint16) if tensor.dtype == tf.bfloat16 else tensor
    return np.asarray(memoryview(seen)).ctypes.data


def values(tensor):
    return flat(tensor.numpy())


def has_ones(tensor):
    return ones_in(values(tensor))


def fill(tensor):
    tensor[...] = 2


def write(tensor):
    write_memory(address(tensor), tensor.dtype.name, int(tf.size(tensor)))


def dtype_of(tensor):
    return tensor.dtype.name


def shape_of(tensor):
    return tensor.shape.as_list()
