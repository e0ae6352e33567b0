"""A KeyboardInterrupt on Python's main thread waits until importlib has released its locks."""

from __future__ import annotations

import os
import subprocess
import time

import pytest

HOST = os.environ.get("SIMPLE_HOST", "")
pytestmark = pytest.mark.skipif(not HOST, reason="SIMPLE_HOST is not set")
pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)

# The finder is a function in C: SIGINT arrives while the innermost Python frame is one of importlib's.
PREPARE = """
import ctypes, functools, signal, sys, time
libc = ctypes.PyDLL(None)
libc.raise_ = libc["raise"]
libc.raise_.restype = None
class Finder:
    find_spec = staticmethod(functools.partial(libc.raise_, signal.SIGINT))
def place_of(error):
    place = error.__traceback__
    while place.tb_next: place = place.tb_next
    return place.tb_frame.f_code.co_filename
"""


def run(tmp_path, body: str) -> subprocess.CompletedProcess:
    program = tmp_path / "program.spl"
    source = (PREPARE + body).replace("\\", "\\\\").replace('"', '\\"').replace("{", "\\{").replace("\n", "\\n")
    program.write_text(f'use python as py\npy.exec("{source}")\nprint "after"\n')
    return subprocess.run([HOST, program], capture_output=True, text=True, timeout=60, check=False)


def test_it_is_raised_after_the_import(tmp_path):
    done = run(
        tmp_path,
        """
sys.meta_path.insert(0, Finder)
try:
    import colorsys
    for i in range(10**9): pass
except KeyboardInterrupt as error:
    del sys.meta_path[0]
    print("colorsys" in sys.modules, "importlib" in place_of(error))
""",
    )
    assert (done.stdout, done.stderr, done.returncode) == ("True False\nafter\n", "", 0)


def test_it_ends_a_blocking_call_after_the_import(tmp_path):
    started = time.monotonic()
    done = run(
        tmp_path,
        """
sys.meta_path.insert(0, Finder)
try:
    import colorsys; time.sleep(50)
except KeyboardInterrupt:
    print("colorsys" in sys.modules)
""",
    )
    assert (done.stdout, done.returncode) == ("True\nafter\n", 0), done.stderr
    assert time.monotonic() - started < 40


def test_the_call_fails_when_python_ends_first(tmp_path):
    done = run(tmp_path, "sys.meta_path.insert(0, Finder)\nimport colorsys")
    assert (done.stdout, done.returncode) == ("", 130), done.stderr


def test_waiting_for_another_threads_import_is_interrupted(tmp_path):
    """The innermost frame is importlib's all the time: the interrupt comes after the longest postponement."""
    (tmp_path / "slow_module.py").write_text("import time; time.sleep(50)")
    done = run(
        tmp_path,
        f"""
import os, threading
sys.path.insert(0, {str(tmp_path)!r})
threading.Thread(target=lambda: __import__("slow_module"), daemon=True).start()
time.sleep(0.5)
def interrupt():
    time.sleep(0.5); os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
started = time.monotonic()
try:
    import slow_module
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - started < 40)
""",
    )
    assert done.stdout == "interrupted True\nafter\n", done.stderr


def test_the_handler_is_still_pythons_default(tmp_path):
    done = run(
        tmp_path,
        """
import asyncio
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler, signal.default_int_handler.__name__)
async def main():
    return signal.getsignal(signal.SIGINT) is signal.default_int_handler
print(asyncio.run(main()))
try:
    signal.default_int_handler(signal.SIGINT, None)
except KeyboardInterrupt:
    print("raised")
""",
    )
    assert done.stdout == "True default_int_handler\nFalse\nraised\nafter\n", done.stderr


def test_a_second_interrupt_in_importlib_ends_the_program(tmp_path):
    done = run(
        tmp_path,
        """
sys.meta_path[0:0] = [Finder, Finder]
import colorsys
""",
    )
    assert done.returncode == -2, (done.stdout, done.stderr)
