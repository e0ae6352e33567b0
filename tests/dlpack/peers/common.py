"""Shared by the peers: the values of the rows, their layouts, and direct access to memory."""

from __future__ import annotations

import ctypes

import ml_dtypes
import numpy as np

# Powers of two, which every dtype represents; bool and float4 (two per byte) have their own bytes.
_NUMBERS = [1, 2, 4, 8, 16, 32]
_BOOLS = [1, 1, 0, 1, 0, 0]
_FLOAT4S = [1, 2, 4, 0.5, 3, 6]
FLOAT4 = "float4_e2m1fn_x2"
DEVICE = "cpu"  # the device of the Simple tensors that a peer imports; GPU peers have their own


def numpy_dtype(name: str) -> np.dtype:
    """A dtype of NumPy, or of ml_dtypes, which JAX and TensorFlow use; its float4 has one byte per number."""
    return np.dtype(getattr(ml_dtypes, name.removesuffix("_x2"), name))


def pattern(dtype: str) -> np.ndarray:
    """2 x 3 numbers; complex numbers have an imaginary part of the same magnitude."""
    numbers = np.array({"bool": _BOOLS, FLOAT4: _FLOAT4S}.get(dtype, _NUMBERS), np.float64)
    return (numbers * (1 + 1j) if dtype.startswith("complex") else numbers).astype(numpy_dtype(dtype)).reshape(2, 3)


def bytes_of_pattern(dtype: str) -> bytes:
    return np.array(_NUMBERS, np.uint8).tobytes() if dtype == FLOAT4 else pattern(dtype).tobytes()


def laid_out(base, layout: str):
    """Applies the layout by NumPy's indexing."""
    match layout:
        case "rows" | "read-only":
            return base
        case "transposed":
            return base.T
        case "strided":
            return base[:, ::2]
        case "scalar":
            return base[1, 1]
        case "empty":
            return base[:0]
        case "reversed":
            return base[:, ::-1]
        case "offset":
            return base[1:]
    raise KeyError(layout)


def numpy_laid_out(dtype: str, layout: str) -> np.ndarray:
    base = pattern(dtype)
    if layout == "broadcast":
        return np.broadcast_to(base[0], (2, 3))
    array = base[1, 1, ...] if layout == "scalar" else laid_out(base, layout)
    array.flags.writeable = layout != "read-only"
    return array


def flat(array: np.ndarray) -> list[float]:
    """The numbers in row-major order; a complex number as two."""
    if array.dtype.kind == "c" or array.dtype.name in ("complex32", "bcomplex32"):
        return array.astype(np.complex128).reshape(-1).view(np.float64).tolist()
    return array.astype(np.float64).reshape(-1).tolist()


def ones_in(seen: list[float]) -> str:
    return "seen" if {*seen} <= {0.0, 1.0} and seen[::2] == [1.0] * len(seen[::2]) else "unseen"


def are_twos(seen: list[float]) -> bool:
    """For bool, the other value is 0."""
    return {*seen} <= {0.0, 2.0} and len({*seen[::2]}) <= 1


def two(dtype: str) -> int:
    return 0 if dtype.startswith("bool") else 2


def write_memory(address: int, dtype: str, count: int) -> None:
    """Writes 2 to a peer's memory directly: for peers with immutable arrays."""
    block = np.full(count, two(dtype), numpy_dtype(dtype)).tobytes()
    ctypes.memmove(address, block, len(block))


def read_memory(address: int, dtype: str, count: int) -> np.ndarray:
    """The current contents of the memory."""
    item = numpy_dtype(dtype)
    return np.frombuffer(ctypes.string_at(address, count * item.itemsize), item)


class Producer:
    """A producer that returns a capsule of Simple from `__dlpack__`, with DLPack's device."""

    device = (1, 0)

    def __init__(self, capsule: object) -> None:
        self.capsule = capsule

    def __dlpack__(self, **options: object) -> object:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device


class CudaProducer(Producer):
    device = (2, 0)
