"""SIGINT next to threads that take Python's own locks: the program exits, whichever code the interrupt meets."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time

import pytest

HOST = os.environ.get("SIMPLE_HOST", "")
pytestmark = pytest.mark.skipif(not HOST, reason="SIMPLE_HOST is not set")
pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)

ROUNDS = 334 if os.environ.get("SIMPLE_LONG_TESTS") else 10
SECONDS_TO_EXIT = 30

# The work of the threads, and the exit function that needs the same locks.
IMPORTS = (
    "import sys",
    "for name in ('json.decoder', 'json', 'csv', 'email.message'): sys.modules.pop(name, None)",
    "import json, csv, email.message",
)
LOGS = (
    "import logging, os, queue, threading",
    "logger = logging.getLogger('work')",
    "logger.propagate = False",
    "logger.handlers or logger.addHandler(logging.StreamHandler(open(os.devnull, 'w')))",
    "items = queue.Queue()",
    "for i in range(50): logger.warning('%d', i); items.put(i); items.get()",
    "with threading.Condition(): pass",
)
MAIN_IN_SIMPLE = "while true: 1 + 1"
MAIN_IN_PYTHON = 'py.exec("while True: pass")'
MAIN_IMPORTS = "while true: py.exec(WORK)"

PROGRAM = """
use python as py
extern fn rt_flush()
fn work():
    while true: py.exec(WORK)
val at_exit = "lambda: (__import__('quopri'), logging.getLogger('work').warning('end'))"
py.exec("import atexit, logging\\natexit.register(" + at_exit + ")")
for _ in 0..3: thread.spawn(work)
print "started"
rt_flush()
MAIN
"""
CASES = {
    "imports": (IMPORTS, MAIN_IN_SIMPLE),
    "imports, with the first thread in Python": (IMPORTS, MAIN_IN_PYTHON),
    "imports, also on the first thread": (IMPORTS, MAIN_IMPORTS),
    "logging and queues": (LOGS, MAIN_IN_SIMPLE),
}


def exit_code(program, delay: float) -> int:
    process = subprocess.Popen([HOST, program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout.readline() == "started\n"
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        return process.wait(timeout=SECONDS_TO_EXIT)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("case", CASES)
def test_the_program_exits(tmp_path, case):
    """An exception between an acquired lock and its `try` would leave the lock to a thread that is gone."""
    work, main = CASES[case]
    program = tmp_path / "program.spl"
    code = "\\n".join(work)
    program.write_text(PROGRAM.replace("MAIN", main).replace("WORK", f'"{code}"'))
    delays = random.Random(9)
    codes = [exit_code(program, delays.random() * 0.2) for _ in range(ROUNDS)]
    expected = {130} if main == MAIN_IN_SIMPLE else {1, 130}  # the first thread's KeyboardInterrupt is an error
    assert set(codes) <= expected, codes


WAITS = {
    "Event.wait": "event = threading.Event()\\nwhile True: event.wait(0.02)",
    "Queue.get": (
        "import queue\\nq = queue.Queue()\\nwhile True:\\n  try: q.get(timeout=0.02)\\n  except queue.Empty: pass"
    ),
    "Semaphore.acquire": "s = threading.Semaphore(0)\\nwhile True: s.acquire(timeout=0.02)",
    "Thread.join": (
        "import time\\nt = threading.Thread(target=time.sleep, args=(9,), daemon=True)\\nt.start()\\n"
        "while True: t.join(0.02)"
    ),
}


@pytest.mark.parametrize("wait", WAITS)
def test_a_worker_that_waits_with_a_timeout_is_interrupted(tmp_path, wait):
    """It releases the GIL only inside the module threading."""
    program = tmp_path / "program.spl"
    program.write_text(f"""
use python as py
fn work(): py.exec("import threading\\nprint('started', flush=True)\\n{WAITS[wait]}")
val worker = thread.spawn(work)
match attempt(\\: worker.join()):
    case Ok(_): print "ended"
    case Err(failure): print failure.message
""")
    process = subprocess.Popen([HOST, program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "started\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    try:
        out, errors = process.communicate(timeout=SECONDS_TO_EXIT)
    finally:
        process.kill()
    assert (out, errors, process.returncode) == ("KeyboardInterrupt\n", "", 0)


LOST_ERRORS = """
use python as py
extern fn rt_flush()
fn work(): panic("lost")
py.exec("pass")
print "started"
rt_flush()
while true:
    thread.spawn(work)
    thread.yield_now()
"""


def test_an_interrupt_while_errors_of_threads_are_reported_ends_the_program(tmp_path):
    """The code that looks for sys.unraisablehook is the program's, below a thread's last function."""
    program = tmp_path / "program.spl"
    program.write_text(LOST_ERRORS)
    delays = random.Random(9)
    assert {exit_code(program, delays.random() * 0.1) for _ in range(ROUNDS)} == {130}


def test_exit_in_the_hook_for_errors_of_threads_ends_the_program(tmp_path):
    program = tmp_path / "program.spl"
    program.write_text("""
use python as py
fn leave(): exit(3)
fn work(): panic("lost")
py.exec("import sys\\nsys.unraisablehook = lambda unraisable: leave()", leave: leave)
thread.spawn(work)
while true: thread.yield_now()
""")
    finished = subprocess.run([HOST, program], capture_output=True, text=True, timeout=SECONDS_TO_EXIT, check=False)
    assert finished.returncode == 3, finished.stderr
