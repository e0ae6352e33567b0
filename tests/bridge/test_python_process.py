"""The library in a process that is Python already: it attaches, with the GIL held by the caller or not."""

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

kinds_of_call = {"lets go of the GIL": ctypes.CDLL, "keeps the GIL": ctypes.PyDLL}
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


@pytest.mark.skipif(os.environ.get("SIMPLE_TORCH") == "off", reason="there is no PyTorch")
@pytest.mark.parametrize("caller", ["lets go of the GIL", "keeps the GIL"])
def test_attaches_to_the_python_that_runs(caller):
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(FRONT), caller], capture_output=True, text=True, timeout=200
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "done\n", "")


@pytest.mark.parametrize("name", ["environment", "errors", "life"])
def test_examples_of_the_helpers_run(name, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "python"))
    assert doctest.testmod(importlib.import_module(f"simple_torch_helpers.{name}")).failed == 0
