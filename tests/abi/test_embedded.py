"""The library embedded in a Python process that has torch: one LibTorch, shared memory."""

from __future__ import annotations

import ctypes

import pytest

torch = pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)

from embedded_abi import Abi  # noqa: E402

Handle = ctypes.c_int64


@pytest.fixture(scope="module")
def abi() -> Abi:
    return Abi()


def entered(abi: Abi, tensor) -> Handle:
    return Handle(abi.enter(tensor))


def address(abi: Abi, handle: Handle) -> int:
    pointer = ctypes.c_void_p()
    abi.check(abi.front.spt_data_ptr(handle, ctypes.byref(pointer)))
    return pointer.value


DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")),
]


@pytest.mark.parametrize("device", DEVICES)
def test_a_write_on_one_side_is_visible_on_the_other(abi: Abi, device: str):
    tensor = torch.arange(4.0, device=device)
    handle = entered(abi, tensor)
    assert address(abi, handle) == tensor.data_ptr()
    abi.check(abi.front.spt_mul_scalar_(handle, ctypes.c_double(10.0)))
    assert tensor.tolist() == [0.0, 10.0, 20.0, 30.0]
    tensor[0] = 7
    text = ctypes.c_char_p()
    abi.check(abi.front.spt_tensor_text(handle, ctypes.byref(text)))
    assert text.value.decode() == repr(tensor)
    abi.release(handle.value)


@pytest.mark.parametrize("device", DEVICES)
def test_results_are_bitwise_equal_to_pythons(abi: Abi, device: str):
    torch.manual_seed(0)
    a = torch.randn(33, 17, device=device)
    b = torch.randn(17, 9, device=device)
    left, right, product = entered(abi, a), entered(abi, b), Handle()
    abi.check(abi.front.spt_matmul(left, right, ctypes.byref(product)))
    values, count = ctypes.POINTER(ctypes.c_double)(), ctypes.c_int64()
    abi.check(abi.front.spt_to_list(product, ctypes.byref(values), ctypes.byref(count)))
    assert values[: count.value] == (a @ b).flatten().tolist()
    abi.front.spt_free(values)
    for handle in (left, right, product):
        abi.release(handle.value)


@pytest.mark.parametrize("device", DEVICES)
def test_memory_outlives_the_python_tensor(abi: Abi, device: str):
    tensor = torch.full((3,), 5.0, device=device)
    handle = entered(abi, tensor)
    del tensor
    total = ctypes.c_double()
    abi.check(abi.front.spt_sum_value(handle, ctypes.byref(total)))
    assert total.value == 15.0
    abi.release(handle.value)
