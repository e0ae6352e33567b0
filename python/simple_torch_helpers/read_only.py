"""Tensors on read-only memory as read-only arrays of NumPy."""

from __future__ import annotations

import functools
from typing import Any

NO_POINTER = "Cannot access data pointer of Tensor"  # of torch's error


class Memory:
    """The memory of a tensor for NumPy, which keeps this object with the array."""

    def __init__(self, tensor: Any) -> None:
        import torch
        from simple_torch._core import from_dlpack

        self.tensor = from_dlpack(tensor.detach())
        dtype = torch.empty(0, dtype=tensor.dtype).numpy().dtype
        self.__array_interface__ = {
            "version": 3,
            "typestr": dtype.str,
            "shape": tuple(tensor.shape),
            "strides": tuple(stride * dtype.itemsize for stride in tensor.stride()),
            "data": (self.tensor.data_ptr(), True),
        }


def extend_numpy_method() -> None:
    """Make torch.Tensor.numpy() return a read-only array for read-only memory, of which torch has no other name."""
    import torch

    original = torch.Tensor.numpy

    @functools.wraps(original)
    def numpy(self: Any, *, force: bool = False) -> Any:
        try:
            return original(self, force=force)
        except RuntimeError as error:
            if not str(error).startswith(NO_POINTER):
                raise
            array = read_only_array(self)
            if array is None:
                raise
        return array

    torch.Tensor.numpy = numpy  # type: ignore[method-assign]


def read_only_array(tensor: Any) -> Any:
    """Return the array; None for a tensor without memory, such as a FakeTensor."""
    import numpy

    try:
        return numpy.asarray(Memory(tensor))
    except (BufferError, RuntimeError):
        return None
