"""The library in a Python process: it attaches, whether the caller holds the GIL or not."""

from __future__ import annotations

import doctest
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FRONT = Path(os.environ.get("SIMPLE_BUILD", ROOT / "build" / "release")) / "lib" / "libspl_torch.so"

PROGRAM = """
import ctypes, sys, threading

kinds_of_call = {"releases the GIL": ctypes.CDLL, "holds the GIL": ctypes.PyDLL}
lib = kinds_of_call[sys.argv[2]](sys.argv[1])
lib.spt_last_error_message.restype = ctypes.c_char_p
here = ["an object of this process"]

def evaluate(code):
    handle, number = ctypes.c_int64(), ctypes.c_int64()
    status = lib.spt_py_eval(code, b"", None, None, 0, ctypes.byref(handle))
    assert status == 0, lib.spt_last_error_message()
    assert lib.spt_py_to_int(handle, ctypes.byref(number)) == 0
    assert lib.spt_release(handle) == 0
    return number.value

assert evaluate(b"id(here)") == id(here)
assert lib.spt_py_exec(b"1 / 0", b"", None, None, 0) == 11
assert lib.spt_last_error_message() == b"ZeroDivisionError: division by zero"

answers = []
threads = [threading.Thread(target=lambda: answers.extend(evaluate(b"6 * 7") for _ in range(200))) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert answers == [42] * 800

opened = ctypes.c_char_p()
assert lib.spt_py_library(ctypes.byref(opened)) == 0 and opened.value == b"", "a second libpython"
left = ctypes.c_int64()
lib.spt_py_eval(b"__import__('torch').ones(3)", b"", None, None, 0, ctypes.byref(left))
print("done")
"""

# Deleters while Python finalizes. A tensor on Python's memory calls the producer's deleter, which may need Python
# (NumPy's checks whether Python runs, Naive's does not); torch's tensors on our memory call ours.
EXITING = """
import atexit, ctypes, sys

when, front, late = sys.argv[1], ctypes.CDLL(sys.argv[2]), ctypes.CDLL(sys.argv[3])
front.spt_last_error_message.restype = ctypes.c_char_p

def done(status):
    assert status == 0, front.spt_last_error_message()

def release(handles):
    for handle in handles:
        done(front.spt_release(ctypes.c_int64(handle)))

class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64)]

class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]

deleted = []
deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleted.append)
memory, exported, unused = ctypes.c_float(), [], b"dltensor"
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

class Naive:
    def __dlpack__(self, stream=None):
        scalar = Tensor(ctypes.addressof(memory), (1, 0), 0, 2, 32, 1)
        exported.append(Managed(scalar, None, ctypes.cast(deleter, ctypes.c_void_p)))
        return new_capsule(ctypes.addressof(exported[-1]), unused, None)
    def __dlpack_device__(self): return (1, 0)

class ReleasesInDel:  # in a reference cycle: destroyed when the interpreter clears its modules
    def __init__(self, handles): self.handles, self.itself = handles, self
    def __del__(self, release=release, write=sys.stdout.write):
        release(self.handles)
        write("released in __del__\\n")

handles = []
atexit.register(lambda: print(len(deleted), "deleted"))  # runs last
if when == "in an earlier exit function":
    atexit.register(lambda: (release(handles), print("released")))  # runs after the library's

def tensor_from(code):
    array, tensor = ctypes.c_int64(), ctypes.c_int64()
    done(front.spt_py_eval(code, b"", None, None, 0, ctypes.byref(array)))
    done(front.spt_py_from_dlpack(array, ctypes.c_int64(-2), ctypes.c_int64(-1), ctypes.byref(tensor)))
    done(front.spt_release(array))
    return tensor.value

def array_from(tensor):
    managed, capsule = ctypes.c_int64(), ctypes.c_int64()
    done(front.spt_dlpack_export(ctypes.c_int64(tensor), False, ctypes.byref(managed)))
    done(front.spt_py_capsule_new(managed, ctypes.byref(capsule)))
    name = (ctypes.c_char_p * 1)(b"capsule")
    values = ctypes.c_void_p(front.spl_array_new())
    front.spl_array_push_i64(values, capsule)
    done(front.spt_py_exec(b"import torch\\nkept.append(torch.from_dlpack(capsule).numpy())", b"o", values, name, 1))
    done(front.spt_release(capsule))

front.spl_array_new.restype = ctypes.c_void_p
front.spl_array_push_i64.argtypes = [ctypes.c_void_p, ctypes.c_int64]
for producer in [b"__import__('numpy').zeros(1000)", b"bytearray(1000)", b"Naive()"]:
    handles += [tensor_from(producer) for _ in range(20)]
kept = []
for handle in handles[:20]:
    array_from(handle)

if when == "in an exit function":
    atexit.register(lambda: (release(handles), print("released")))
elif when == "when modules are cleared":
    holder = ReleasesInDel(handles)
    del holder
elif when == "when static objects are destroyed":
    for handle in handles:
        late.release_late(ctypes.c_int64(handle), front.spt_release)
"""

LATE = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int64_t handles[60];
static int count;
static int32_t (*release)(int64_t);

static void release_all(void) {
  int failed = 0;
  while (count > 0) {
    failed += release(handles[--count]) != 0;
  }
  puts(failed ? "not released" : "released");
}

void release_late(int64_t handle, int32_t (*function)(int64_t)) {
  release = function;
  if (count == 0) {
    atexit(release_all);
  }
  handles[count++] = handle;
}
"""


@pytest.fixture(scope="module")
def late(tmp_path_factory) -> Path:
    """A library that releases handles in a C exit handler, after Python was finalized."""
    folder = tmp_path_factory.mktemp("late")
    (folder / "late.c").write_text(LATE)
    compiler = [os.environ.get("CC", "cc"), "-shared", "-fPIC"]
    subprocess.run([*compiler, "-o", str(folder / "late.so"), str(folder / "late.c")], check=True)
    return folder / "late.so"


@pytest.mark.skipif(os.environ.get("SIMPLE_TORCH") == "off", reason="there is no PyTorch")
@pytest.mark.parametrize(
    ("when", "printed"),
    [
        ("in an exit function", "released\n20 deleted\n"),
        ("in an earlier exit function", "released\n0 deleted\n"),
        ("when modules are cleared", "0 deleted\nreleased in __del__\n"),
        ("when static objects are destroyed", "0 deleted\nreleased\n"),
        ("never", "0 deleted\n"),
    ],
)
def test_deleters_run_or_are_skipped_during_finalization(when, printed, late):
    """Guards the closing of the bridge in Python's atexit: a later DLPack deleter waited for the GIL or crashed."""
    command = [sys.executable, "-c", EXITING, when, str(FRONT), str(late)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert (done.returncode, done.stdout, done.stderr) == (0, printed, "")


@pytest.mark.skipif(os.environ.get("SIMPLE_TORCH") == "off", reason="there is no PyTorch")
@pytest.mark.parametrize("caller", ["releases the GIL", "holds the GIL"])
def test_attaches_to_the_running_python(caller):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(FRONT), caller], capture_output=True, text=True, timeout=200
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


@pytest.mark.parametrize("name", ["environment", "errors", "shutdown", "warning_lines"])
def test_doctests_of_the_helpers_pass(name, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "python"))
    assert doctest.testmod(importlib.import_module(f"simple_torch_helpers.{name}")).failed == 0
