"""The library as a guest in a Python process that has torch: one LibTorch, the same memory on both sides."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)

ROOT = Path(__file__).resolve().parents[2]
Handle = ctypes.c_int64


@pytest.fixture(scope="module")
def library():
    """The front, told to use this process's torch."""
    host = os.environ.get("SIMPLE_HOST")
    folder = Path(host).parent.parent / "lib" if host else ROOT / "build" / "release" / "lib"
    os.environ["SIMPLE_TORCH"] = os.path.dirname(torch.__file__)
    front = ctypes.CDLL(str(folder / "libspl_torch.so"))
    front.spt_last_error_message.restype = ctypes.c_char_p
    available = ctypes.c_bool()
    front.spt_available(ctypes.byref(available))
    assert available.value
    yield front
    del os.environ["SIMPLE_TORCH"]


def check(front, status: int) -> None:
    assert status == 0, front.spt_last_error_message().decode()


def taken_over(front, tensor) -> Handle:
    """The tensor behind a handle, by way of a DLPack capsule."""
    capsule = tensor.__dlpack__(max_version=(1, 0))
    api = ctypes.pythonapi
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
    managed = api.PyCapsule_GetPointer(capsule, b"dltensor_versioned")
    api.PyCapsule_SetName(capsule, b"used_dltensor_versioned")
    handle = Handle()
    check(front, front.spt_from_dlpack(ctypes.c_void_p(managed), ctypes.byref(handle)))
    return handle


def address(front, handle: Handle) -> int:
    pointer = ctypes.c_void_p()
    check(front, front.spt_data_ptr(handle, ctypes.byref(pointer)))
    return pointer.value


DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")),
]


@pytest.mark.parametrize("device", DEVICES)
def test_a_write_on_one_side_is_seen_on_the_other(library, device):
    tensor = torch.arange(4.0, device=device)
    handle = taken_over(library, tensor)
    assert address(library, handle) == tensor.data_ptr()
    check(library, library.spt_mul_scalar_(handle, ctypes.c_double(10.0)))
    assert tensor.tolist() == [0.0, 10.0, 20.0, 30.0]
    tensor[0] = 7
    text = ctypes.c_char_p()
    check(library, library.spt_tensor_text(handle, ctypes.byref(text)))
    assert text.value.decode() == repr(tensor)
    check(library, library.spt_release(handle))


@pytest.mark.parametrize("device", DEVICES)
def test_results_are_bitwise_those_of_python(library, device):
    torch.manual_seed(0)
    a = torch.randn(33, 17, device=device)
    b = torch.randn(17, 9, device=device)
    left, right, product = taken_over(library, a), taken_over(library, b), Handle()
    check(library, library.spt_matmul(left, right, ctypes.byref(product)))
    values, count = ctypes.POINTER(ctypes.c_double)(), ctypes.c_int64()
    check(library, library.spt_to_list(product, ctypes.byref(values), ctypes.byref(count)))
    assert values[: count.value] == (a @ b).flatten().tolist()
    library.spt_free(values)
    for handle in (left, right, product):
        check(library, library.spt_release(handle))


@pytest.mark.parametrize("device", DEVICES)
def test_the_memory_outlives_the_python_tensor(library, device):
    tensor = torch.full((3,), 5.0, device=device)
    handle = taken_over(library, tensor)
    del tensor
    total = ctypes.c_double()
    check(library, library.spt_sum_value(handle, ctypes.byref(total)))
    assert total.value == 15.0
    check(library, library.spt_release(handle))
