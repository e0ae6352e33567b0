"""simple_torch.Tensor, the library's type in Python: import, export, its C exchange table, and errors."""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import re
import subprocess
import sys
import time
import weakref
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")
sys.path.insert(0, str(ROOT / "python"))
sys.path.insert(0, str(ROOT / "tests" / "support"))
import simple_torch  # noqa: E402
from foreign_structs import foreign_capsule  # noqa: E402

from programs import is_sanitized  # noqa: E402

from_dlpack = simple_torch.from_dlpack
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "python")}


def soon(condition) -> bool:
    """Waits: another thread releases memory periodically."""
    end = time.monotonic() + 10
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def resident_pages() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1])


# ---- import and export


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "int16", "uint16", "int64", "float16", "float32", "float64", "complex64"]
)
def test_numpy_memory_round_trip(dtype):
    array = np.arange(6).reshape(2, 3).T.astype(dtype, order="K")
    tensor = from_dlpack(array)
    back = np.from_dlpack(tensor)
    assert (tensor.shape, tensor.data_ptr(), back.ctypes.data) == ((3, 2), array.ctypes.data, array.ctypes.data)
    assert (back.dtype, back.strides) == (array.dtype, array.strides)
    array[2, 1] = 1
    assert back[2, 1] == 1
    back[0, 1] = 0
    assert array[0, 1] == 0


def test_torch_memory_round_trip():
    theirs = torch.arange(6.0).reshape(2, 3)[:, 1:]
    tensor = from_dlpack(theirs)
    again = torch.from_dlpack(tensor)
    assert (tensor.shape, tensor.data_ptr(), again.data_ptr()) == ((2, 2), theirs.data_ptr(), theirs.data_ptr())
    assert again.stride() == (3, 1)
    again[1, 1] = 9
    assert theirs[1, 1] == 9


def test_from_own_tensor_shares_memory_and_is_another_object():
    first = from_dlpack(np.zeros(2))
    second = from_dlpack(first)
    assert second is not first
    assert second.data_ptr() == first.data_ptr()


def test_to_torch_returns_the_same_tensor_each_time():
    tensor = from_dlpack(np.array([1.5, 2.0]))
    assert tensor.torch() is tensor.torch()
    assert tensor.torch().tolist() == [1.5, 2.0]
    assert repr(tensor) == "simple_torch.tensor([1.5000, 2.0000], dtype=torch.float64)"


def test_peers_import_by_exchange_table_or_method():
    tvm_ffi = pytest.importorskip("tvm_ffi")
    jax = pytest.importorskip("jax")
    tensor = from_dlpack(np.frombuffer(bytearray(64 * 4), np.float32)[:3])
    assert tvm_ffi.from_dlpack(tensor).shape == (3,)
    assert jax.numpy.from_dlpack(tensor).tolist() == [0.0, 0.0, 0.0]
    assert from_dlpack(jax.numpy.arange(3)).torch().tolist() == [0, 1, 2]


def test_immutable_arrays_are_imported_and_exported_read_only():
    jax = pytest.importorskip("jax")
    with jax.default_device(jax.devices("cpu")[0]):
        arrays = [jax.numpy.arange(3), jax.numpy.arange(3, dtype="bfloat16")]  # with and without a buffer
    for array in arrays:
        with pytest.raises(RuntimeError, match="data pointer"):
            from_dlpack(array).torch().fill_(1)
    assert not np.from_dlpack(from_dlpack(arrays[0])).flags.writeable
    assert from_dlpack(arrays[0], copy=True).torch().fill_(1).tolist() == [1, 1, 1]
    assert [array.tolist() for array in arrays] == [[0, 1, 2], [0, 1, 2]]


def test_numpy_subclasses_are_not_read_as_numpy_arrays():
    class Subclass(np.ndarray):
        pass

    pretender = type("numpy.ndarray", (), {})
    assert from_dlpack(np.zeros(3).view(Subclass)).torch().tolist() == [0, 0, 0]
    with pytest.raises(TypeError, match=r"cannot create a tensor from numpy\.ndarray"):
        from_dlpack(pretender())


def test_unusual_numpy_arrays_use_another_protocol():
    """Big-endian numbers, many dimensions, strides that are not whole items, arrays that warn when written."""
    structured = np.zeros(3, [("a", "i4"), ("b", "i2")])
    with pytest.raises(BufferError, match="big-endian"):
        from_dlpack(np.zeros(3, ">f4"))
    with pytest.raises(BufferError, match="must be a multiple of itemsize 4, got 6"):
        from_dlpack(structured["a"])
    with pytest.raises(BufferError):
        from_dlpack(structured)
    with pytest.raises(BufferError, match=r"cannot include dtype 'M'.*view it as integers") as raised:
        from_dlpack(np.zeros(2, "M8[s]"))
    assert isinstance(raised.value.__cause__, ValueError)
    many = np.arange(2.0).reshape((1,) * 11 + (2,))
    assert from_dlpack(many).shape == many.shape
    assert from_dlpack(many).data_ptr() == many.ctypes.data
    broadcast = np.broadcast_arrays(np.arange(3), np.zeros((2, 1)))[0]
    assert from_dlpack(broadcast).torch().tolist() == [[0, 1, 2], [0, 1, 2]]


@pytest.mark.parametrize("last", [lambda array: array, from_dlpack, lambda array: from_dlpack(array).torch()])
def test_long_chain_of_exporters_is_freed_without_recursion(last):
    """Each array keeps the tensor before it alive, and each tensor the array: freeing must not recurse."""
    gone = []
    first = np.zeros(3)
    weakref.finalize(first, gone.append, True)
    array = first
    for _ in range(100_000):
        array = np.from_dlpack(from_dlpack(array[:]))
    held = last(array)
    del first, array, held
    assert soon(lambda: gone == [True])


class Owner(np.ndarray):
    """An array that runs Python code when it is deallocated."""

    def __del__(self):
        self.act()


def owned_array(act) -> np.ndarray:
    """The owner has the memory itself: NumPy would keep only the base array of a view."""
    owner = Owner(1000)
    owner.act = act
    return np.asarray(owner)


def test_objects_released_by_a_deleter_are_freed_before_it_returns():
    seen = []

    def act():
        from_dlpack(owned_array(lambda: seen.append("inner")))
        seen.append("outer")

    from_dlpack(owned_array(act))
    assert seen == ["inner", "outer"]


def test_deleter_runs_without_the_pending_exception():
    seen = []

    def works(_) -> None:
        seen.append(len(str([1, 2])))  # CPython's functions fail if an exception is pending

    with pytest.raises(ZeroDivisionError):
        [from_dlpack(foreign_capsule(works)), 1 / 0]
    assert seen == [6]


# ---- shutdown

AT_EXIT = """
import sys, threading, time
import numpy as np
import simple_torch

class Owner(np.ndarray):
    def __del__(self): time.sleep(0.003)

def loop():
    while True:
        held = simple_torch.from_dlpack(np.asarray(Owner(10)))
        if sys.argv[1] == "by torch": held = held.torch()
        del held
        time.sleep(0.001)

for _ in range(3): threading.Thread(target=loop, daemon=True).start()
time.sleep(1)
print("end", flush=True)
"""


@pytest.mark.skipif(is_sanitized(), reason="the sanitizer does not support a stack that pthread_exit unwinds")
@pytest.mark.parametrize("dropped", ["by us", "by torch"])
def test_daemon_threads_in_deleters_neither_crash_nor_delay_exit(dropped):
    """Guards park_on_forced_unwind(): Python unwound a thread through a noexcept deleter, which ended the process."""
    command = [sys.executable, "-c", AT_EXIT, dropped]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=ENVIRONMENT)
    assert (run.returncode, run.stdout, run.stderr) == (0, "end\n", "")


def test_subinterpreter_import_is_rejected():
    # 3.12 itself rejects ctypes, which simple_torch imports first; _interpreters exists from 3.13 on.
    program = (
        "try: import _interpreters as sub\n"
        "except ImportError: import _xxsubinterpreters as sub\n"
        "try: print(sub.run_string(sub.create(), 'import simple_torch'))\n"
        "except sub.RunFailedError as error: print(error)\n"
    )
    by_python = "does not support loading in subinterpreters"
    by_us = "main interpreter only, not a subinterpreter"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60, env=ENVIRONMENT
    )
    assert (by_python if sys.version_info[:2] == (3, 12) else by_us) in run.stdout


def test_pickle_contains_the_values(tmp_path):
    tensor = from_dlpack(np.arange(6.0).reshape(2, 3)[:, ::2])
    again = pickle.loads(pickle.dumps(tensor))
    assert torch.equal(again.torch(), tensor.torch())
    assert again.data_ptr() != tensor.data_ptr()
    (tmp_path / "tensor").write_bytes(pickle.dumps(tensor))
    program = "import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb')).torch().tolist())"
    command = [sys.executable, "-c", program, str(tmp_path / "tensor")]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, env=ENVIRONMENT)
    assert run.stdout == "[[0.0, 2.0], [3.0, 5.0]]\n"


# ---- tensors without storage, and lookalikes


def wrapped():
    from torch.testing._internal.two_tensor import TwoTensor

    return TwoTensor(torch.ones(3), torch.zeros(3))


def fake():
    with torch._subclasses.FakeTensorMode():
        return torch.ones(3)


def emptied():
    tensor = torch.ones(3)
    tensor.untyped_storage().resize_(0)
    return tensor


@pytest.mark.parametrize("make", [wrapped, fake, emptied])
def test_tensors_without_storage_are_rejected(make):
    with pytest.raises(BufferError, match="whose storage does not hold their elements"):
        from_dlpack(make())


def test_functional_tensors_are_rejected():
    with pytest.raises(BufferError, match="to_dlpack: Can't export tensors"):
        torch.func.functionalize(lambda x: from_dlpack(x).torch() + 1)(torch.ones(2))


def test_copy_on_write_tensor_is_materialized_before_export():
    tensor = torch.ones(3)
    lazy = torch._lazy_clone(tensor)
    np.from_dlpack(from_dlpack(lazy))[:] = 2
    assert (tensor.tolist(), lazy.tolist()) == ([1, 1, 1], [2, 2, 2])


def test_padded_sub_byte_elements_are_rejected():
    with pytest.raises(BufferError, match="flags must not have IS_SUBBYTE_TYPE_PADDED"):
        from_dlpack(foreign_capsule(flags=4, code=17, bits=4, lanes=2))


def test_ctypes_arrays_are_imported():
    numbers = ((ctypes.c_double * 3) * 2)((1, 2, 3), (4, 5, 6))
    tensor = from_dlpack(numbers)
    assert tensor.torch().tolist() == [[1, 2, 3], [4, 5, 6]]
    numbers[1][2] = 7
    assert tensor.torch()[1, 2] == 7


def test_reversed_read_only_arrays_are_copied_on_request():
    array = np.arange(3)[::-1]
    array.flags.writeable = False
    assert from_dlpack(array, copy=True).torch().tolist() == [2, 1, 0]


def test_nonnumeric_tensorflow_tensors_are_rejected():
    tensorflow = pytest.importorskip("tensorflow")
    tensors = {"string": tensorflow.constant(["a"]), "resource": tensorflow.Variable(1.0).handle}
    for dtype, tensor in tensors.items():
        with pytest.raises(BufferError, match=f"cannot import a tensor of dtype {dtype}: not numeric"):
            from_dlpack(tensor)


def test_exported_array_cannot_be_resized():
    array = np.zeros(3)
    tensor = from_dlpack(array)
    with pytest.raises(ValueError, match="resize"):
        array.resize(1_000_000)
    array.shape = (3, 1)
    assert tensor.shape == (3,)


def test_copy_is_made_on_request():
    array = np.zeros(3)
    copy = from_dlpack(array, copy=True)
    assert copy.data_ptr() != array.ctypes.data
    assert from_dlpack(array, copy=False).data_ptr() == array.ctypes.data
    exported = np.from_dlpack(copy, copy=True)
    assert exported.ctypes.data != copy.data_ptr()


class ReturningProducer:
    """A producer that forwards the export of another."""

    def __init__(self, source):
        self.source = source

    def __dlpack__(self, **options):
        return self.source.__dlpack__(**options)


def test_exported_copy_is_shared_without_the_copied_flag():
    """IS_COPIED means that the consumer is the only user."""
    copy = from_dlpack(np.arange(3.0), copy=True)
    assert from_dlpack(ReturningProducer(copy), copy=False).data_ptr() == copy.data_ptr()
    other = from_dlpack(copy.__dlpack__(max_version=(1, 0)), copy=True)
    other.torch().zero_()
    assert copy.torch().tolist() == [0, 1, 2]


def test_copy_is_writable_even_if_the_producer_marks_it_read_only():
    read_only_copy = foreign_capsule(flags=3)
    assert from_dlpack(read_only_copy, copy=True).torch().fill_(2).tolist() == [2, 2, 2, 2]


CONJUGATED = torch.tensor([1 + 2j]).conj()


@pytest.mark.parametrize(("tensor", "values"), [(CONJUGATED, [1 - 2j]), (CONJUGATED.imag, [-2])])
def test_lazy_values_are_copied_on_request(tensor, values):
    with pytest.raises(BufferError, match="or copy=True"):
        from_dlpack(tensor)
    assert from_dlpack(tensor, copy=True).torch().tolist() == values


def test_masked_arrays_are_rejected():
    with pytest.raises(BufferError, match=r"cannot import a masked array.*call filled\(value\)"):
        from_dlpack(np.ma.array([1.0, 2.0], mask=[False, True]))
    assert from_dlpack(np.ma.array([1.0, 2.0], mask=[False, False])).torch().tolist() == [1, 2]
    assert from_dlpack(np.ma.array([1.0, 2.0])).torch().tolist() == [1, 2]


def test_capsule_on_another_device_is_rejected():
    with pytest.raises(BufferError, match=r"is on device \(1, 0\), expected \(2, 0\)|no CUDA device"):
        from_dlpack(torch.ones(2).__dlpack__(max_version=(1, 0)), device="cuda:0")


def resized_by_out(tensor):
    torch.add(torch.ones(1000), 1.0, out=tensor)


@pytest.mark.parametrize(
    "change",
    [lambda t: t.resize_(1_000_000), resized_by_out, lambda t: t.untyped_storage().resize_(0)],
    ids=["resize_", "out", "storage"],
)
def test_exported_memory_does_not_move(change):
    tensor = from_dlpack(torch.full((4,), 3.0))
    exported = np.from_dlpack(tensor)
    with pytest.raises(RuntimeError, match="not resizable"):
        change(tensor.torch())
    others = [torch.full((4,), 9.0) for _ in range(100)]
    assert (exported.tolist(), len(others)) == ([3, 3, 3, 3], 100)


@pytest.mark.parametrize("strategy", ["file_system", "file_descriptor"])
def test_exported_memory_stays_if_its_tensor_moves_to_shared_memory(strategy, monkeypatch):
    monkeypatch.setattr("torch.multiprocessing._sharing_strategy", strategy)
    tensor = from_dlpack(torch.full((3_000_000,), 3.0))
    exported = np.from_dlpack(tensor)
    address = exported.ctypes.data
    shared = tensor.torch().share_memory_()
    assert shared.is_shared()
    assert shared.data_ptr() != address
    others = [torch.full((3_000_000,), 9.0) for _ in range(3)]
    assert (exported.min(), exported.max(), len(others)) == (3, 3, 3)
    exported[:] = 4
    assert shared.sum() == 9_000_000


@pytest.mark.skipif(is_sanitized(), reason="the sanitizer keeps freed memory for a while")
def test_replaced_memory_is_freed_without_users():
    before = resident_pages()
    for _ in range(30):
        tensor = from_dlpack(torch.full((3_000_000,), 3.0))
        np.from_dlpack(tensor)
        tensor.torch().share_memory_()
    assert (resident_pages() - before) * os.sysconf("SC_PAGE_SIZE") < 100_000_000  # less than the 360,000,000


def test_empty_fake_tensors_are_rejected():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        fakes = [torch.ones(0), torch.ones(2)]
    for fake in fakes:
        with pytest.raises(BufferError, match="storage does not hold their elements"):
            from_dlpack(fake)


def test_python_errors_below_libtorch_are_reported():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode(), pytest.raises(BufferError, match="Python code of a mode or a tensor subclass failed"):
        from_dlpack(np.ones(3), copy=True)


def test_immutable_types_are_not_matched_by_name_alone():
    jax = pytest.importorskip("jax")
    pretender = type("ArrayImpl", (np.ndarray,), {"__module__": "jaxlib.none"})
    from_dlpack(np.zeros(2).view(pretender))
    with jax.default_device(jax.devices("cpu")[0]):
        array = jax.numpy.ones(4)
    with pytest.raises(RuntimeError, match="data pointer"):
        from_dlpack(array).torch().add_(1)
    assert array.tolist() == [1, 1, 1, 1]


def test_read_only_export_stays_read_only():
    tensor = from_dlpack(b"abc")
    out = np.from_dlpack(tensor)
    assert out.tolist() == [97, 98, 99]
    assert not out.flags.writeable
    with pytest.raises(BufferError, match="Can't export read-only tensors without DLPack 1 flags"):
        tensor.__dlpack__()


def test_memory_lives_while_one_side_uses_it():
    class Watched(np.ndarray):
        pass

    array = np.arange(4.0).view(Watched)
    gone = weakref.ref(array)
    tensor = from_dlpack(array)
    out = np.from_dlpack(tensor)
    del array, tensor
    gc.collect()
    assert gone() is not None
    assert out.tolist() == [0, 1, 2, 3]
    del out
    from_dlpack(np.zeros(1))  # an import drains the queue of pending releases
    assert soon(lambda: gone() is None)


# ---- errors


NOT_SHARED = {
    "objects": (lambda: np.array([object()]), "format 'O' has no torch dtype"),
    "a structure": (lambda: np.zeros(3, "i4,f4"), "has no torch dtype"),
    "longdouble": (lambda: np.zeros(2, np.longdouble), "format 'g' has no torch dtype"),
    "text": (lambda: np.array(["a"]), "format '1w' has no torch dtype"),
    "unaligned memory": (lambda: np.frombuffer(bytes(9), "f4", 2, 1), "must be a multiple of 4 bytes"),
    "a CSR tensor": (lambda: torch.eye(2).to_sparse_csr(), "use tensor.to_dense"),
    "a quantized tensor": (lambda: torch.quantize_per_tensor(torch.ones(2), 1.0, 0, torch.quint8), "dequantize"),
    "a meta tensor": (lambda: torch.ones(2, device="meta"), "without memory, got device meta"),
    "a nested tensor": (lambda: torch.nested.nested_tensor([torch.ones(2)]), "nested tensors, use tensor.to_padded"),
    "a negative bit": (lambda: torch.ones(2, dtype=torch.complex64).conj().imag, "use tensor.resolve_neg"),
    "a dtype without a DLPack dtype": (
        lambda: torch.empty(2, dtype=torch.bits8),
        "DLPack has no dtype for torch.Bits8",
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NOT_SHARED)
def test_memory_that_cannot_be_shared_is_a_buffer_error(name):
    made, message = NOT_SHARED[name]
    with pytest.raises(BufferError, match=message):
        from_dlpack(made())


def test_other_devices_are_rejected_by_name():
    with pytest.raises(BufferError, match="device must be a CPU or a CUDA device, got meta"):
        from_dlpack(np.zeros(2), device="meta")


class Nothing:
    pass


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: from_dlpack(torch.ones(2, requires_grad=True)), BufferError, "use tensor.detach"),
        (lambda: from_dlpack(torch.ones(2).to_sparse()), BufferError, "use tensor.to_dense"),
        (lambda: from_dlpack(torch.ones(2, dtype=torch.complex64).conj()), BufferError, "resolve_conj"),
        (lambda: from_dlpack(np.arange(3)[::-1]), BufferError, "strides\\[0\\] must be non-negative, got -1"),
        (lambda: from_dlpack(Nothing()), TypeError, "cannot create a tensor from Nothing"),
        (lambda: from_dlpack(), TypeError, "takes one positional argument"),
        (lambda: from_dlpack(np.zeros(1), place="cpu"), TypeError, "takes one positional argument"),
        (lambda: simple_torch.Tensor(), TypeError, "cannot create"),
        (lambda: from_dlpack(np.zeros(1)).__dlpack__(stream=1), BufferError, "a CPU tensor has no stream"),
        (
            lambda: from_dlpack(np.zeros(1)).__dlpack__(dl_device=(2, 0)),
            BufferError,
            "cannot export to dl_device \\(2, 0\\)",
        ),
        (
            lambda: from_dlpack(np.zeros(1)).__dlpack__(dl_device=2),
            TypeError,
            r"must be a \(device type, device index\) pair",
        ),
        (lambda: from_dlpack(np.zeros(1)).__dlpack__(max_version=1), TypeError, r"must be a \(major, minor\) pair"),
        (lambda: from_dlpack(np.zeros(1)).__dlpack__(copy=True), BufferError, r"needs max_version >= \(1, 0\)"),
        (lambda: from_dlpack(np.zeros(1)).__dlpack__(1), TypeError, "keyword arguments only"),
        (lambda: from_dlpack(np.zeros(1)).__dlpack__(speed=1), TypeError, "unexpected keyword argument 'speed'"),
    ],
)
def test_invalid_calls_are_rejected_with_a_reason(call, error, message):
    with pytest.raises(error, match=message):
        call()


# ---- the C exchange table


class Version(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32)]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    pass


Managed._fields_ = [
    ("version", Version),
    ("manager_ctx", ctypes.c_void_p),
    ("deleter", ctypes.CFUNCTYPE(None, ctypes.POINTER(Managed))),
    ("flags", ctypes.c_uint64),
    ("tensor", DLTensor),
]
ManagedPointer = ctypes.POINTER(Managed)
SetError = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)


class Table(ctypes.Structure):
    _fields_ = [
        ("version", Version),
        ("previous", ctypes.c_void_p),
        (
            "allocate",
            ctypes.PYFUNCTYPE(
                ctypes.c_int, ctypes.POINTER(DLTensor), ctypes.POINTER(ManagedPointer), ctypes.c_void_p, SetError
            ),
        ),
        ("from_object", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ManagedPointer))),
        ("to_object", ctypes.PYFUNCTYPE(ctypes.c_int, ManagedPointer, ctypes.POINTER(ctypes.py_object))),
        ("borrow", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))),
        (
            "stream",
            ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p)),
        ),
    ]


@pytest.fixture
def table() -> Table:
    pointer_in = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_in.restype, pointer_in.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsule = simple_torch.Tensor.__dlpack_c_exchange_api__
    return ctypes.cast(pointer_in(capsule, b"dlpack_exchange_api"), ctypes.POINTER(Table)).contents


def test_exchange_table_exports_and_imports_tensors(table):
    assert (table.version.major, table.version.minor >= 3) == (1, True)
    array = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    managed = ManagedPointer()
    assert table.from_object(from_dlpack(array), ctypes.byref(managed)) == 0
    exported = managed.contents.tensor
    assert (exported.data, exported.ndim, list(exported.shape[:2]), list(exported.strides[:2])) == (
        array.ctypes.data,
        2,
        [2, 3],
        [3, 1],
    )
    assert (exported.code, exported.bits, exported.lanes, exported.device_type) == (2, 32, 1, 1)
    back = ctypes.py_object()
    assert table.to_object(managed, ctypes.byref(back)) == 0
    assert back.value.data_ptr() == array.ctypes.data


def test_exchange_table_borrows_for_a_call(table):
    tensor = from_dlpack(np.arange(6.0).reshape(3, 2))
    seen = DLTensor()
    assert table.borrow(tensor, ctypes.byref(seen)) == 0
    assert (seen.data, list(seen.shape[:2]), list(seen.strides[:2])) == (tensor.data_ptr(), [3, 2], [2, 1])


def test_exchange_table_does_not_borrow_read_only_tensors(table):
    seen = DLTensor()
    with pytest.raises(BufferError, match="a read-only tensor as a borrowed DLTensor"):
        table.borrow(from_dlpack(b"abcdefgh"), ctypes.byref(seen))
    assert not seen.data


NUMBERS = (ctypes.c_int64 * 2)(4, -5)
MANY = (ctypes.c_int64 * 3)(1 << 40, 1 << 40, 1 << 40)


@pytest.mark.parametrize(
    ("ndim", "shape", "message"),
    [
        (2, None, b"prototype: shape is NULL"),
        (-1, NUMBERS, b"prototype: ndim must be between 0 and 64"),
        (65, NUMBERS, b"prototype: ndim must be between 0 and 64"),
        (2, NUMBERS, b"prototype: shape must be non-negative"),
        (3, MANY, b"prototype: size in bytes overflows a 63-bit integer"),
    ],
)
def test_exchange_table_rejects_invalid_allocations(table, ndim, shape, message):
    errors = []
    set_error = SetError(lambda _, kind, message: errors.append((kind, message)))
    like = DLTensor(None, 1, 0, ndim, 2, 32, 1, shape, None, 0)
    assert table.allocate(ctypes.byref(like), ctypes.byref(ManagedPointer()), None, set_error) == -1
    assert errors == [(b"BufferError", message)]


def test_exchange_table_allocates(table):
    shape = (ctypes.c_int64 * 2)(4, 5)
    like = DLTensor(None, 1, 0, 2, 0, 16, 1, shape, None, 0)
    made = ManagedPointer()
    assert table.allocate(ctypes.byref(like), ctypes.byref(made), None, SetError(lambda *_: None)) == 0
    assert (list(made.contents.tensor.shape[:2]), made.contents.tensor.data % 64) == ([4, 5], 0)
    made.contents.deleter(made)


def test_exchange_table_reports_errors(table):
    errors = []
    set_error = SetError(lambda _, kind, message: errors.append((kind, message)))
    like = DLTensor(None, 1, 0, 1, 0, 33, 1, (ctypes.c_int64 * 1)(4), None, 0)
    assert table.allocate(ctypes.byref(like), ctypes.byref(ManagedPointer()), None, set_error) == -1
    assert errors == [
        (
            b"BufferError",
            b"from_dlpack: torch has no dtype for dtype.code 0 with dtype.bits 33; convert the array in the producer",
        )
    ]
    with pytest.raises(TypeError, match=r"expected simple_torch\.Tensor, got list"):
        table.from_object([1], ctypes.byref(ManagedPointer()))
    stream = ctypes.c_void_p(7)
    assert table.stream(1, 0, ctypes.byref(stream)) == 0
    assert stream.value is None
    with pytest.raises(BufferError, match="device type 8 has no streams"):
        table.stream(8, 0, ctypes.byref(stream))


def test_exchange_table_reports_python_exceptions_below_it(table):
    from torch.utils._python_dispatch import TorchDispatchMode

    class Stops(TorchDispatchMode):
        def __torch_dispatch__(self, *_):
            raise KeyboardInterrupt("now")

    errors = []
    set_error = SetError(lambda _, kind, message: errors.append((kind, message)))
    like = DLTensor(None, 1, 0, 2, 0, 16, 1, (ctypes.c_int64 * 2)(4, 5), None, 0)
    with Stops():
        assert table.allocate(ctypes.byref(like), ctypes.byref(ManagedPointer()), None, set_error) == -1
    assert errors == [(b"KeyboardInterrupt", b"now")]


# ---- the guide


def test_guides_python_prints_its_output(capsys):
    guide = (ROOT / "docs" / "dlpack.md").read_text()
    ((code, printed),) = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", guide, re.S)
    exec(code, {})
    assert capsys.readouterr().out == printed


# ---- in a Simple program


@pytest.mark.skipif("SIMPLE_HOST" not in os.environ, reason="SIMPLE_HOST is not set")
def test_simple_program_imports_by_exchange_table(tmp_path):
    program = tmp_path / "own.spl"
    program.write_text("""
use torch
use python as py
val theirs = py.eval("__import__('simple_torch').from_dlpack(__import__('numpy').arange(3))")
val t = torch.from_dlpack(theirs)
print t, torch.dlpack.import_path(), t.data_ptr() == theirs.data_ptr().to_int()
""")
    ran = subprocess.run([os.environ["SIMPLE_HOST"], program], capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == ("tensor([0, 1, 2]) the C exchange table of its type true\n", "")


# ---- devices


class Placed:
    """A producer that can copy its memory to the CPU, and records the arguments of its calls."""

    def __init__(self):
        self.array, self.call_options = np.arange(3), {}

    def __dlpack__(self, **options):
        self.call_options = options
        if options.get("dl_device") not in (None, (1, 0)):
            raise BufferError("only the CPU is near")
        return self.array.__dlpack__(max_version=(1, 0))

    def __dlpack_device__(self):
        return (2, 0)


def test_requested_device_is_passed_to_the_producer():
    producer = Placed()
    assert from_dlpack(producer, device="cpu").torch().tolist() == [0, 1, 2]
    assert producer.call_options == {"max_version": (1, 3), "dl_device": (1, 0)}
    for copy in (True, False):
        from_dlpack(producer, device="cpu", copy=copy)
        assert producer.call_options == {"max_version": (1, 3), "dl_device": (1, 0), "copy": copy}
    if not torch.cuda.is_available():
        with pytest.raises(BufferError, match="no CUDA device with index 0"):
            from_dlpack(producer, device="cuda:0")
        return
    with pytest.raises(BufferError, match="only the CPU is near"):
        from_dlpack(producer, device="cuda:0")


def test_memory_on_another_device_is_rejected_or_moved_by_its_producer():
    assert from_dlpack(np.zeros(2), device="cpu").shape == (2,)
    assert from_dlpack(torch.zeros(2), device=torch.device("cpu")).shape == (2,)
    no_cuda = r"unsupported device requested|no CUDA device with index 0"
    not_there = r"numpy\.ndarray is on device \(1, 0\), expected \(2, 0\); move it there first"
    with pytest.raises(BufferError, match=not_there if torch.cuda.is_available() else no_cuda):
        from_dlpack(np.zeros(2), device="cuda:0")
    with pytest.raises(BufferError, match="the tensor is on device cpu, not on the requested device"):
        from_dlpack(torch.zeros(2), device="cuda:1")
    with pytest.raises(BufferError, match=r"bytes is on device \(1, 0\), expected \(2, 0\)"):
        from_dlpack(b"ab", device="cuda:0")
    with pytest.raises(BufferError, match="nonsense"):
        from_dlpack(b"ab", device="nonsense")


@pytest.mark.parametrize("import_by", ["by from_dlpack", "by the table"])
def test_pending_releases_are_freed_at_the_next_import(table, import_by):
    """Releases without the GIL, alternating with imports: the queue does not grow."""
    alive = set()
    most = 0
    for number in range(5000):
        array = owned_array(lambda number=number: alive.discard(number))
        alive.add(number)
        ours = from_dlpack(array)
        del array
        if import_by == "by the table":
            managed = ManagedPointer()
            assert table.from_object(ours, ctypes.byref(managed)) == 0
            made = ctypes.py_object()
            assert table.to_object(managed, ctypes.byref(made)) == 0
            ours = made.value
            ctypes.pythonapi.Py_DecRef(made)  # ctypes does not own the reference
        managed = ManagedPointer()
        assert table.from_object(ours, ctypes.byref(managed)) == 0
        del ours
        managed.contents.deleter(managed)  # ctypes releases the GIL during the call
        most = max(most, len(alive))
    assert most <= 3  # one of them may be in the thread that drains the queue
    assert soon(lambda: not alive)
