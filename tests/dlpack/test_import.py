"""Import of Python objects into Simple by DLPack: the protocol, the shared memory, and the errors."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass

import pytest

HOST = os.environ.get("SIMPLE_HOST", "")
pytestmark = pytest.mark.skipif(not HOST, reason="SIMPLE_HOST is not set")
pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)

TORCH = "a torch tensor"
ITSELF = "the NumPy array itself"
TABLE = "the C exchange table of its type"
METHOD = "__dlpack__ with versions"
LEGACY = "__dlpack__ without versions"
BUFFER = "the buffer protocol"
COPIED = "the producer copied its memory (flag IS_COPIED)"

# The definitions that the cases' expressions use.
SETUP = """
import array, ctypes, itertools, struct
import numpy as np
import torch

kept = []  # what C structures point to

class Old:  # a legacy producer
    def __init__(self, array): self.array = array
    def __dlpack__(self, stream=None): return torch.from_numpy(self.array).__dlpack__()
    def __dlpack_device__(self): return (1, 0)

class Angry:
    def __dlpack__(self, **options): raise ValueError("not today")
    def __dlpack_device__(self): return (1, 0)

class Silent:  # does not report its device
    def __init__(self, array): self.array = array
    def __dlpack__(self, **options): return self.array.__dlpack__(**options)

class Elsewhere(Old):  # its device is not a pair
    def __dlpack_device__(self): return "cpu"

class Stopped(Old):
    def __dlpack_device__(self): raise KeyboardInterrupt

class StoppedLater(Old):
    class Index:
        def __index__(self): raise KeyboardInterrupt
    def __dlpack_device__(self): return (1, self.Index())

class Misplaced(bytearray):  # its buffer is usable, but it reports another device
    def __dlpack__(self, **options): raise ValueError("not asked")
    def __dlpack_device__(self): raise BufferError("on the moon")

class CannotCopy:  # DLPack 1, but without copies
    def __init__(self, array): self.array = array
    def __dlpack__(self, copy=None, **options):
        if copy: raise BufferError("copies are not built")
        return self.array.__dlpack__(**options)

class Broken:
    def __dlpack__(self, **options): raise TypeError("a mistake of its own")

class Spent:
    def __init__(self):
        self.capsule = torch.ones(2).__dlpack__()
        torch.from_dlpack(self.capsule)
    def __dlpack__(self, **options): return self.capsule

class NoCapsule:
    def __dlpack__(self, **options): return 7

class Version(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32)]

class Table(ctypes.Structure):
    _fields_ = [("version", Version), ("prev_api", ctypes.c_void_p), ("allocate", ctypes.c_void_p),
                ("from_object", ctypes.c_void_p), ("to_object", ctypes.c_void_p), ("borrow", ctypes.c_void_p),
                ("stream", ctypes.c_void_p)]

FROM_OBJECT = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.c_void_p))
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
pointer_in = ctypes.pythonapi.PyCapsule_GetPointer
pointer_in.restype, pointer_in.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
rename = ctypes.pythonapi.PyCapsule_SetName
rename.argtypes = [ctypes.py_object, ctypes.c_char_p]

@FROM_OBJECT
def export_tensor(obj, out):
    capsule = obj.array.__dlpack__(max_version=(1, 0))
    out[0] = pointer_in(capsule, b"dltensor_versioned")
    rename(capsule, b"used_dltensor_versioned")
    kept.append(b"used_dltensor_versioned")
    return 0

@FROM_OBJECT
def fail_without_error(obj, out): return -1

def type_with_table(major=1, name=b"dlpack_exchange_api", function=export_tensor, previous=None):
    table = Table(Version(major, 3), ctypes.addressof(previous) if previous else None, None,
                  ctypes.cast(function, ctypes.c_void_p) if function else None, None, None, None)
    kept.extend([table, name, function])
    class Producer:
        __dlpack_c_exchange_api__ = new_capsule(ctypes.addressof(table), name, None)
        def __init__(self, array): self.array = array
        def __dlpack__(self, **options): return self.array.__dlpack__(**options)
        def __dlpack_device__(self): return (1, 0)
    Producer.table = table
    return Producer

def with_cached_table():
    import simple_torch
    Producer = type_with_table()
    simple_torch.from_dlpack(Producer(np.arange(2)))
    del Producer.__dlpack_c_exchange_api__
    return Producer

def type_with_cyclic_tables():
    Producer = type_with_table(major=9)
    Producer.table.prev_api = ctypes.addressof(Producer.table)
    return Producer

class NotATable(Old):
    __dlpack_c_exchange_api__ = 5

def read_only(a):
    a.flags.writeable = False
    return a

def address(x):
    if isinstance(x, (bytes, bytearray, memoryview, array.array)): return np.frombuffer(x, np.uint8).ctypes.data
    x = getattr(x, "array", x)
    return x.data_ptr() if isinstance(x, torch.Tensor) else x.ctypes.data
"""


@dataclass(frozen=True)
class Case:
    """`code` creates the producer; `address()` of it is the tensor's address if the memory is shared."""

    code: str
    import_path: str
    text: str
    copy: str = "nil"
    why_copied: str = ""


@dataclass(frozen=True)
class Rejected:
    code: str
    message: str
    copy: str = "nil"


IMPORTED = [
    Case("np.arange(3)", ITSELF, "tensor([0, 1, 2])"),
    Case(
        "np.arange(6.0).reshape(2, 3).T",
        ITSELF,
        "tensor([[0., 3.],\n        [1., 4.],\n        [2., 5.]], dtype=torch.float64)",
    ),
    Case("np.arange(6)[1::2]", ITSELF, "tensor([1, 3, 5])"),
    Case("np.array(2.5, np.float32)", ITSELF, "tensor(2.5000)"),
    Case("np.zeros((0, 3))", ITSELF, "tensor([], size=(0, 3), dtype=torch.float64)"),
    Case("np.array([True, False])", ITSELF, "tensor([ True, False])"),
    Case("np.array([1 + 2j])", ITSELF, "tensor([1.+2.j], dtype=torch.complex128)"),
    Case("np.array([65535], np.uint16)", ITSELF, "tensor([65535], dtype=torch.uint16)"),
    Case("np.broadcast_to(np.float32(3), (2,))", ITSELF, "tensor([3., 3.])"),
    Case("read_only(np.arange(3))", ITSELF, "tensor([0, 1, 2])"),
    Case("np.zeros(2, 'f4,i4')['f1']", ITSELF, "tensor([0, 0], dtype=torch.int32)"),
    Case("np.arange(3)[:1][::-1]", ITSELF, "tensor([0])"),
    Case("np.arange(3)", ITSELF, "tensor([0, 1, 2])", copy="false"),
    Case("np.arange(3)", ITSELF, "tensor([0, 1, 2])", copy="true", why_copied="a copy was requested"),
    Case("np.ma.array([1, 2])", METHOD, "tensor([1, 2])"),
    Case("Old(np.arange(2.0))", LEGACY, "tensor([0., 1.], dtype=torch.float64)"),
    Case("Old(np.arange(2.0))", LEGACY, "tensor([0., 1.], dtype=torch.float64)", "true", "a copy was requested"),
    Case("CannotCopy(np.arange(2))", METHOD, "tensor([0, 1])", "true", "a copy was requested"),
    Case("Silent(np.arange(2))", METHOD, "tensor([0, 1])"),
    Case("torch.arange(3)[1:]", TORCH, "tensor([1, 2])"),
    Case("torch.ones(2, requires_grad=True).detach()", TORCH, "tensor([1., 1.])"),
    Case("torch.arange(2)", TORCH, "tensor([0, 1])", "true", "a copy was requested"),
    Case("b'abc'", BUFFER, "tensor([97, 98, 99], dtype=torch.uint8)"),
    Case("bytearray(b'ab')", BUFFER, "tensor([97, 98], dtype=torch.uint8)"),
    Case("b'ab'", BUFFER, "tensor([97, 98], dtype=torch.uint8)", "true", "a copy was requested"),
    Case("memoryview(b'abcd').cast('H')", BUFFER, "tensor([25185, 25699], dtype=torch.uint16)"),
    Case("memoryview(bytearray(16)).cast('d', (1, 2))", BUFFER, "tensor([[0., 0.]], dtype=torch.float64)"),
    Case("array.array('f', [1.5, -2])", BUFFER, "tensor([ 1.5000, -2.0000])"),
    Case("array.array('q', [-1])", BUFFER, "tensor([-1])"),
    Case("memoryview(bytes([1, 0])).cast('?')", BUFFER, "tensor([ True, False])"),
    Case("type_with_table()(np.arange(2))", TABLE, "tensor([0, 1])"),
    Case("type_with_table()(np.arange(2))", TABLE, "tensor([0, 1])", "false"),
    Case("type_with_table()(np.arange(2))", METHOD, "tensor([0, 1])", "true", COPIED),
    Case("type_with_table(major=9)(np.arange(2))", METHOD, "tensor([0, 1])"),
    Case("type_with_table(major=9, previous=type_with_table().table)(np.arange(2))", TABLE, "tensor([0, 1])"),
    Case("type_with_cyclic_tables()(np.arange(2))", METHOD, "tensor([0, 1])"),
    Case("with_cached_table()(np.arange(2))", TABLE, "tensor([0, 1])"),
    Case("type_with_table(name=b'other')(np.arange(2))", METHOD, "tensor([0, 1])"),
    Case("type_with_table(function=None)(np.arange(2))", METHOD, "tensor([0, 1])"),
    Case("NotATable(np.arange(2))", LEGACY, "tensor([0, 1])"),
]

REJECTED = [
    Rejected("np.arange(3, dtype='>f4')", "buffer: format '>f' is big-endian"),
    Rejected("np.arange(3)[::-1]", "strides[0] must be non-negative, got -1"),
    Rejected("np.array(['a'])", "buffer: format '1w' has no torch dtype"),
    Rejected("np.array([{}])", "buffer: format 'O' has no torch dtype"),
    Rejected("np.zeros(2, 'g')", "buffer: format 'g' has no torch dtype"),
    Rejected("np.frombuffer(bytearray(32), np.uint8)[8:24].view(np.complex128)", "must be a multiple of 16 bytes"),
    Rejected("np.frombuffer(bytearray(9), np.uint8)[1:].view(np.float64)", "must be a multiple of 8 bytes"),
    Rejected("torch.ones(2, requires_grad=True)", "Can't export tensors that require gradient, use tensor.detach()"),
    Rejected("torch.ones(2, dtype=torch.complex64).conj()", "Can't export tensors with the conjugate bit set"),
    Rejected("torch.ones(2, dtype=torch.complex64).conj().imag", "Can't export tensors with the negative bit set"),
    Rejected("torch.ones(2).to_sparse()", "Can't export tensors with layout other than torch.strided"),
    Rejected("torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)", "Can't export quantized tensors"),
    Rejected("torch.ones(2, device='meta')", "Can't export tensors without memory, got device meta"),
    Rejected(
        "[1, 2]",
        "TypeError: cannot create a tensor from list: not a torch.Tensor, no __dlpack__, no buffer; "
        "numpy.asarray() converts other arrays",
    ),
    Rejected("Angry()", "ValueError: not today"),
    Rejected("Elsewhere(np.arange(2))", "__dlpack_device__ of Elsewhere must return a (device type, device"),
    Rejected("Stopped(np.arange(2))", "KeyboardInterrupt"),
    Rejected("StoppedLater(np.arange(2))", "KeyboardInterrupt"),
    Rejected("Misplaced(b'ab')", "BufferError: on the moon"),
    Rejected("Broken()", "TypeError: a mistake of its own"),
    Rejected("Broken()", "does not accept copy=False (a mistake of its own)", "false"),
    Rejected("np.zeros(2, 'M8[s]')", "view it as integers of the same width"),
    Rejected("Old(np.arange(2))", "which producers before DLPack 1 do not support; omit copy", "false"),
    Rejected("Spent()", "ValueError: the DLPack capsule was already used; a capsule can be consumed only once"),
    Rejected("NoCapsule()", "TypeError: expected a DLPack capsule, got int"),
    Rejected("type_with_table(function=fail_without_error)(np.arange(2))", "returned no tensor and set no exception"),
    Rejected("np.zeros(2, 'M8[s]')", "cannot include dtype 'M' in a buffer"),
]


def program() -> str:
    lines = [
        "use torch",
        "use python as py",
        'py.exec(py.import("builtins").open("setup.py").read().to_text())',
        'val address = py.eval("address")',
        'fn print_line(text): print text.replace("\\n", "|")',
    ]
    for case in IMPORTED:
        lines += [
            "if true:",
            f"    val producer = py.eval({quoted(case.code)})",
            f"    val t = torch.from_dlpack(producer, copy: {case.copy})",
            "    val shares = t.numel() == 0 or t.data_ptr() == address(producer).to_int()",
            '    print_line("{str(t)} ~ {torch.dlpack.import_path()} ~ {torch.dlpack.why_copied()} ~ {shares}")',
        ]
    for case in REJECTED:
        lines += [
            f"match torch.attempt(\\: torch.from_dlpack(py.eval({quoted(case.code)}), copy: {case.copy})):",
            '    case Ok(t): print_line("imported: {t}")',
            "    case Err(error): print_line(error.message())",
        ]
    return "\n".join(lines) + "\n"


def quoted(code: str) -> str:
    return '"' + code.replace("\\", "\\\\").replace('"', '\\"').replace("{", "{{") + '"'


@pytest.fixture(scope="module")
def printed(tmp_path_factory) -> list[str]:
    folder = tmp_path_factory.mktemp("ways")
    (folder / "setup.py").write_text(SETUP)
    (folder / "ways.spl").write_text(program())
    run = subprocess.run([HOST, "ways.spl"], cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


@pytest.mark.parametrize("number", range(len(IMPORTED)), ids=[f"{c.code}-{c.copy}" for c in IMPORTED])
def test_is_imported(printed, number):
    case = IMPORTED[number]
    text, import_path, why, shares = printed[number].split(" ~ ")
    assert (text.replace("|", "\n"), import_path, why) == (case.text, case.import_path, case.why_copied)
    assert shares == ("false" if case.why_copied else "true")


@pytest.mark.parametrize("number", range(len(REJECTED)), ids=[c.code for c in REJECTED])
def test_is_rejected_with_a_reason(printed, number):
    assert REJECTED[number].message in printed[len(IMPORTED) + number]
