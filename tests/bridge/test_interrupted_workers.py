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
