"""Python's signal handlers run while Simple code runs; what they raise is an error of that code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HOST = os.environ.get("SIMPLE_HOST", "")
if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)
needs_host = pytest.mark.skipif(not HOST, reason="SIMPLE_HOST is not set")

STARTED = "the loop has started"
WAIT = 30


def run(command: list, sent: int | None = None, *, environment: dict | None = None) -> subprocess.CompletedProcess:
    """Run a program; send it the signal when it has printed that its loop has started."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    watchdog = threading.Timer(WAIT, process.kill)
    watchdog.start()
    try:
        if sent is not None:
            assert STARTED in process.stdout.readline()
            process.send_signal(sent)
        out, errors = process.communicate()
    finally:
        watchdog.cancel()
        process.kill()
    return subprocess.CompletedProcess(command, process.returncode, out, errors)


def simple(tmp_path, source: str, sent: int | None = None) -> subprocess.CompletedProcess:
    file = tmp_path / "program.spl"
    file.write_text(source.replace("STARTED", STARTED))
    return run([HOST, file], sent)


def in_python(source: str, sent: int | None = None) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    return run(
        [sys.executable, "-c", textwrap.dedent(source).replace("STARTED", STARTED)], sent, environment=environment
    )


# ---- in a Simple program

PROGRAM = """
use python as py
use torch
extern fn rt_flush()
py.exec("import signal, _thread, threading\\nseen = []\\ndef note(number, frame): seen.append(number)")
py.exec("class Stop(Exception): pass\\ndef stop(number, frame): raise Stop('stopped by ' + str(number))")
fn started():
    print "STARTED"
    rt_flush()
"""


@needs_host
@pytest.mark.parametrize("name", ["SIGUSR1", "SIGALRM", "SIGTERM", "SIGHUP"])
def test_a_handler_runs_during_a_loop(tmp_path, name):
    number = getattr(signal, name)
    source = f"""
var handled = 0
fn handle(number, frame):
    handled = number
py.import("signal").signal({int(number)}, handle)
started()
while handled == 0: 1 + 1
print "handled {{handled}}"
"""
    done = simple(tmp_path, PROGRAM + source, number)
    assert (done.stdout, done.stderr, done.returncode) == (f"handled {int(number)}\n", "", 0)


WORKS = {
    "a loop of Simple": "while true: 1 + 1",
    "native calls": "while true: a.matmul(a)",
    "a sleep": "sleep(60.0)",
    "a join": "waiting.join()",
}


@needs_host
@pytest.mark.parametrize("work", WORKS)
def test_an_exception_of_a_handler_is_an_error_of_the_loop(tmp_path, work):
    source = f"""
use std.time.{{sleep}}
py.exec("signal.signal(signal.SIGUSR1, stop)")
val a = torch.ones([50, 50])
val waiting = thread.spawn(\\: sleep(3.0))
fn work():
    defer print "left"
    started()
    {WORKS[work]}
match torch.attempt(work):
    case Err(error): print error.message()
print torch.ones([2]).sum().item()
"""
    done = simple(tmp_path, PROGRAM + source, signal.SIGUSR1)
    assert (done.stdout, done.returncode) == (f"left\nStop: stopped by {int(signal.SIGUSR1)}\n2.0\n", 0)


@needs_host
def test_an_exception_without_an_attempt_ends_the_program(tmp_path):
    source = 'py.exec("signal.signal(signal.SIGTERM, stop)")\nstarted()\nwhile true: 1 + 1\n'
    done = simple(tmp_path, PROGRAM + source, signal.SIGTERM)
    assert done.returncode == 1
    assert f"Stop: stopped by {int(signal.SIGTERM)}" in done.stderr


@needs_host
def test_interrupt_main_stops_a_loop(tmp_path):
    source = """
py.exec("threading.Timer(0.3, _thread.interrupt_main).start()")
print torch.attempt(\\:
    while true: 1 + 1
).unwrap_err().message()
print py.eval("6 * 7").to_int()
"""
    done = simple(tmp_path, PROGRAM + source)
    assert (done.stdout, done.stderr, done.returncode) == ("KeyboardInterrupt\n42\n", "", 0)


@needs_host
def test_a_handler_runs_on_the_first_thread_while_others_loop(tmp_path):
    source = """
use std.time.{sleep}
py.exec("ran = []\\nsignal.signal(signal.SIGUSR1, lambda *_: ran.append(threading.current_thread().name))")
var stop = false
fn spin():
    while not stop: 1 + 1
val others = [for _ in 0..2: thread.spawn(spin)]
started()
sleep(0.5)
stop = true
for other in others: other.join()
print py.eval("ran").to_value()
"""
    done = simple(tmp_path, PROGRAM + source, signal.SIGUSR1)
    assert (done.stdout, done.stderr) == ("[MainThread]\n", "")


@needs_host
def test_a_handler_that_is_removed_no_longer_runs(tmp_path):
    source = """
py.exec("signal.signal(signal.SIGUSR1, stop)\\nsignal.signal(signal.SIGUSR1, signal.SIG_DFL)")
started()
while true: 1 + 1
"""
    assert simple(tmp_path, PROGRAM + source, signal.SIGUSR1).returncode == -signal.SIGUSR1


# ---- in a Python process

IN_PYTHON = """
import _thread, signal, threading
class Stop(Exception): pass
def stop(number, frame): raise Stop(number)
BEFORE
import sys, simple_torch
module = simple_torch.run('''
fn forever(f):
    f()
    while true: 1 + 1
''')
AFTER
def started(): print("STARTED", flush=True)
try:
    module.forever(started)
except BaseException as error:
    print(repr(error))
print(simple_torch.evaluate("6 * 7"))
"""


@pytest.mark.parametrize("place", ["BEFORE", "AFTER"])
@pytest.mark.parametrize("name", ["SIGUSR1", "SIGTERM", "SIGINT"])
def test_a_handler_of_a_python_process_stops_simple(name, place):
    """The same exception object arrives, whether the handler was set before Simple was loaded or afterwards."""
    source = IN_PYTHON.replace(place, f"signal.signal(signal.{name}, stop)")
    done = in_python(source.replace("BEFORE", "").replace("AFTER", ""), getattr(signal, name))
    assert (done.stdout, done.stderr) == (f"Stop({int(getattr(signal, name))})\n42\n", "")


@pytest.mark.parametrize("name", ["SIGUSR1", "SIGINT"])
def test_a_handler_that_is_set_below_simple_stops_simple(name):
    source = IN_PYTHON.replace("BEFORE", "").replace("AFTER", "")
    source = source.replace("forever(started)", f"forever(lambda: (signal.signal(signal.{name}, stop), started()))")
    done = in_python(source, getattr(signal, name))
    assert (done.stdout, done.stderr) == (f"Stop({int(getattr(signal, name))})\n42\n", "")


def test_interrupt_main_stops_simple_in_a_python_process():
    default = "signal.signal(signal.SIGINT, signal.default_int_handler)"  # background processes ignore SIGINT
    source = IN_PYTHON.replace("BEFORE", default)
    source = source.replace("AFTER", "timer = threading.Timer(0.3, _thread.interrupt_main)")
    source = source.replace("forever(started)", "forever(lambda: (started(), timer.start()))")
    done = in_python(source)
    assert (done.stdout, done.stderr) == (f"{STARTED}\nKeyboardInterrupt()\n42\n", "")


def test_an_alarm_ends_a_nested_simple_function():
    done = in_python("""
        import signal, simple_torch
        module = simple_torch.run('''
        fn outer(f):
            defer f(0)
            f(1)
        fn forever():
            while true: 1 + 1
        ''')
        calls = []
        def inner(x):
            calls.append(x)
            if x: module.forever()
        def stop(number, frame): raise TimeoutError
        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        try:
            module.outer(inner)
        except TimeoutError as error:
            print("TimeoutError", calls)
    """)
    assert (done.stdout, done.stderr) == ("TimeoutError [1, 0]\n", "")
