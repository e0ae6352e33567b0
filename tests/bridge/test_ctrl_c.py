"""SIGINT in Simple programs: an error in Python calls and torch.attempt; else, and the second time, the exit."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

HOST = os.environ.get("SIMPLE_HOST", "")
pytestmark = pytest.mark.skipif(not HOST, reason="SIMPLE_HOST is not set")
pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)

STARTED = "the program has started its work"


class Program:
    """A program that prints a line when its work starts."""

    def __init__(self, folder: Path, source: str):
        file = folder / "program.spl"
        file.write_text(source)
        self.process = subprocess.Popen([HOST, file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.watchdog = threading.Timer(60, self.process.kill)
        self.watchdog.start()

    def line(self) -> str:
        return self.process.stdout.readline()

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def end(self) -> tuple[int, str, str]:
        out, errors = self.process.communicate(timeout=20)
        return self.process.returncode, out, errors


@pytest.fixture
def started(tmp_path):
    """Start programs; kill them after the test."""
    programs = []

    def start(source: str) -> Program:
        programs.append(Program(tmp_path, source))
        assert STARTED in programs[-1].line()
        return programs[-1]

    yield start
    for program in programs:
        program.watchdog.cancel()
        program.process.kill()
        program.process.communicate()


def begins(work: str) -> str:
    return f"print({STARTED!r}, flush=True)\\n{work}"


STOPPED = {
    "a loop": "while True: pass",
    "a sleep": "import time; time.sleep(60)",
    "a thread of Python that is waited for": "import threading, time\\nt = threading.Timer(3, int)"
    "\\nt.start()\\nt.join()",
}


# A wait in C for another Python thread is stopped on the first thread only, as in Python.
WHERE = [(work, "first") for work in STOPPED] + [("a loop", "another"), ("a sleep", "another")]


@pytest.mark.parametrize(("work", "thread"), WHERE)
def test_a_python_call_returns_an_error_and_the_next_call_works(started, work, thread):
    call = f'py.try_exec("{begins(STOPPED[work])}").unwrap_err()'
    on = call if thread == "first" else f"thread.spawn(\\: {call}).join()"
    program = started(f'use python as py\nprint "Err: {{{on}}}"\nprint py.eval("6 * 7").to_int()\n')
    program.interrupt()
    assert program.end() == (0, "Err: KeyboardInterrupt\n42\n", "")


ENDED = {
    "a loop of Simple": "while true: 1 + 1",
    "a loop of native calls": "val a = torch.ones([100, 100])\nwhile true: a.matmul(a)",
    "a sleep": "use std.time.{sleep}\nsleep(60.0)",
}


@pytest.mark.parametrize("work", ENDED)
def test_a_simple_program_exits(started, work):
    flushed = "extern fn rt_flush()\n"
    program = started(f'use torch\n{flushed}print "{STARTED}"\nrt_flush()\n{ENDED[work]}\n')
    program.interrupt()
    assert program.end() == (130, "", "")


ATTEMPTED = """
use torch
use std.time.{sleep}
extern fn rt_flush()

fn work():
    defer print "left"
    val a = torch.ones([100, 100])
    print "STARTED"
    rt_flush()
    WORK

print CALL.unwrap_err()
print torch.ones([2]).sum().item()
print torch.live_handles()
""".replace("STARTED", STARTED)
WORKS = {"a loop of Simple": "while true: 1 + 1", "native calls": "while true: a.matmul(a)", "a sleep": "sleep(60.0)"}
CALLS = {
    "on the first thread": "torch.attempt(work)",
    "on another": "thread.spawn(\\: torch.attempt(work)).join()",
    "within what catches all other failures": "torch.attempt(\\: attempt(work).is_err())",
}


@pytest.mark.parametrize("work", WORKS)
@pytest.mark.parametrize("call", CALLS)
def test_an_attempt_returns_an_error_and_the_next_call_works(started, work, call):
    """The functions unwind in order: deferred code runs, and no tensor leaks."""
    program = started(ATTEMPTED.replace("WORK", WORKS[work]).replace("CALL", CALLS[call]))
    program.interrupt()
    assert program.end() == (0, "left\ninterrupted by SIGINT\n2.0\n0\n", "")


def test_an_interrupt_in_the_last_call_reaches_the_attempt(started):
    """LibTorch's kernel runs to completion, and no safepoint follows."""
    source = ATTEMPTED.replace("WORK", "b.matmul(b)").replace(
        "[100, 100]", "[100, 100])\n    val b = torch.ones([3000, 3000]"
    )
    program = started(source.replace("CALL", "torch.attempt(work)"))
    program.interrupt()
    assert program.end() == (0, "left\ninterrupted by SIGINT\n2.0\n0\n", "")


BEGUN = f'print "{STARTED}"\n    rt_flush()'
WITH_HELPERS = {
    "a worker of a loader": """
use torch.utils.data.{DataLoader, Dataset}
class Slow(Dataset):
    fn __len__(): 8
    fn __getitem__(i):
        if i == 3: spin()
        torch.ones([2])
print torch.attempt(\\: [for batch in DataLoader(Slow(), batch_size: 2, num_workers: 2): batch]).unwrap_err()
""",
    "a thread that is waited for": "print torch.attempt(\\: thread.spawn(spin).join()).unwrap_err()",
    "a thread with an attempt of its own": """
val other = thread.spawn(\\: torch.attempt(forever))
print torch.attempt(spin).unwrap_err()
""",
}


@pytest.mark.parametrize("case", WITH_HELPERS)
def test_the_first_threads_attempt_is_interrupted_whichever_thread_runs(started, case):
    functions = f"fn forever():\n    while true: 1 + 1\nfn spin():\n    {BEGUN}\n    forever()\n"
    source = f"use torch\nextern fn rt_flush()\n{functions}{WITH_HELPERS[case]}\nprint torch.ones([2]).sum().item()\n"
    program = started(source)
    program.interrupt()
    assert program.end() == (0, "interrupted by SIGINT\n2.0\n", "")


BELOW = """
use torch
use python as py
extern fn rt_flush()
fn spin():
    BEGUN
    while true: 1 + 1
val made = py.import("types").ModuleType("made")
py.import("builtins").exec(CODE, made.__dict__)
print torch.attempt(\\: made.guarded(spin)).unwrap()
""".replace("BEGUN", BEGUN)


def test_python_code_receives_a_keyboard_interrupt(started):
    code = "def guarded(work):\\n  try: work()\\n  except KeyboardInterrupt: return 'seen'"
    program = started(BELOW.replace("CODE", f'"{code}"'))
    program.interrupt()
    assert program.end() == (0, "seen\n", "")


RAISED = """
use torch
use torch.error.{TorchError}
use python as py
py.exec(CODE)
fn work(): panic(TorchError.Python("made.Interrupting", "the message", "", nil))
print torch.attempt(\\: py.eval("guarded")(work))
print py.eval("6 * 7")
"""
INTERRUPTING = """
import signal, sys, types
class Interrupting(ValueError):
    def __init__(self, message): signal.raise_signal(signal.SIGINT)
sys.modules["made"] = types.SimpleNamespace(Interrupting=Interrupting)
def guarded(work):
    try: work()
    except BaseException as error: return type(error).__name__
"""


def test_an_interrupt_replaces_the_exception_that_a_simple_function_raises(tmp_path):
    """It arrives while the exception is created."""
    code = INTERRUPTING.replace('"', '\\"').replace("\n", "\\n")
    program = Program(tmp_path, RAISED.replace("CODE", f'"{code}"'))
    try:
        assert program.end() == (0, "Ok(KeyboardInterrupt)\n42\n", "")
    finally:
        program.watchdog.cancel()


ROUNDS = """
use torch
use python as py
extern fn rt_flush()
val builtins = py.import("builtins")
class Sized:
    fn len(): 3
val sized = Sized()
fn work(): WORK
fn report(line):
    print line
    rt_flush()
fn spin():
    report("STARTED")
    while true: work()
work()
val before = torch.live_handles()
for _ in 0..20:
    val error = torch.attempt(spin).unwrap_err()
    report("{error} {torch.live_handles() - before} {py.eval(\"6 * 7\")}")
""".replace("STARTED", STARTED)


WORKS_OF_BOTH = {
    "a function that Python gets": "builtins.sorted([3, 1, 2], key: \\q: 0 - q)",
    "the packing of arguments": "builtins.list([3, [4, {1: 2}]])",
    "an object that Python gets": 'builtins.call_method("len", sized)',
}


@pytest.mark.parametrize("work", WORKS_OF_BOTH)
def test_nothing_is_lost_or_leaked_at_any_point(started, work):
    """Each interrupt arrives at another point, also while Python is entered and left."""
    program = started(ROUNDS.replace("WORK", WORKS_OF_BOTH[work]))
    for round_ in range(20):
        time.sleep(0.001 * round_)
        program.interrupt()
        assert program.line() in {"interrupted by SIGINT 0 42\n", "KeyboardInterrupt 0 42\n"}
        program.line()
    assert program.end() == (0, "", "")


def test_an_interrupt_whose_error_the_program_does_not_ask_for_is_an_error_of_the_next_call(tmp_path):
    """The result false of rt_py_hasattr() does not show that it failed."""
    program = Program(
        tmp_path,
        """
use torch
use python as py
use python.ffi.{rt_py_hasattr, rt_py_kind}
py.exec(\"\"\"
import signal
class Asked:
    def __getattr__(self, name):
        signal.raise_signal(signal.SIGINT)
        raise AttributeError(name)
asked = Asked()
\"\"\")
val asked = py.eval("asked")
fn work():
    print rt_py_hasattr(asked.__handle__, "name")
    print torch.ones([2]).sum().item()
    print rt_py_kind(asked.__handle__)
    py.eval("print('not reached')")
print torch.attempt(work).unwrap_err()
print py.eval("6 * 7")
""",
    )
    assert program.end() == (0, "false\n2.0\n-1\nKeyboardInterrupt\n42\n", "")
    program.watchdog.cancel()


FINALIZERS = {  # code whose exceptions Python ignores
    "__del__": """
class Ended:
    def __del__(self): wait()
def ending(): Ended()
""",
    "the callback of a weak dict": """
import weakref
held = weakref.WeakValueDictionary()
class Key:
    def __hash__(self): return len(held) and wait() or 1
    def __eq__(self, other): return self is other
def ending():
    value = type("Value", (), {})()
    held[Key()] = value
""",
}
IN_FINALIZER = """
use python as py
py.exec(\"\"\"
import time
def wait():
    print("STARTED", flush=True)
    until = time.monotonic() + 0.3
    while time.monotonic() < until: pass
FINALIZER
def work():
    ending()
    while True: pass
\"\"\")
fn call(): py.try_call(py.eval("work")).unwrap_err()
print CALL
print py.eval("6 * 7")
""".replace("STARTED", STARTED)


@pytest.mark.parametrize("call", ["call()", "thread.spawn(call).join()"], ids=["the first thread", "another"])
@pytest.mark.parametrize("finalizer", FINALIZERS)
def test_an_interrupt_in_a_finalizer_is_raised_after_it(started, finalizer, call):
    """Python prints and forgets an exception there."""
    program = started(IN_FINALIZER.replace("FINALIZER", FINALIZERS[finalizer]).replace("CALL", call))
    program.interrupt()
    assert program.end() == (0, "KeyboardInterrupt\n42\n", "")


CONCURRENT = """
use torch
use python as py
extern fn rt_flush()
PREPARED
val other = thread.spawn(\\: py.try_exec("BEGUN"))
fn spin():
    print "spinning"
    rt_flush()
    while true: 1 + 1
print torch.attempt(spin).unwrap_err()
print other.join().unwrap_err()
""".replace("BEGUN", begins("while True: pass"))


@pytest.mark.parametrize("prepared", ["", 'py.eval("1")'], ids=["by that thread", "by the first"])
def test_python_on_another_thread_and_simple_are_both_stopped(tmp_path, prepared):
    """Whichever thread started Python."""
    program = Program(tmp_path, CONCURRENT.replace("PREPARED", prepared))
    try:
        assert {program.line(), program.line()} == {f"{STARTED}\n", "spinning\n"}
        program.interrupt()
        assert program.end() == (0, "interrupted by SIGINT\nKeyboardInterrupt\n", "")
    finally:
        program.watchdog.cancel()
        program.process.kill()


def test_an_interrupt_stops_the_wait_for_python_threads_at_exit(started):
    code = "import threading, time\\nthreading.Thread(target=time.sleep, args=[60]).start()"
    program = started(f'use python as py\npy.exec("{code}")\npy.exec("{begins("pass")}")\n')
    time.sleep(0.5)  # the program prints nothing more: it exits, or Python's last call is stopped
    program.interrupt()
    _, out, errors = program.end()
    assert out == ""
    assert "KeyboardInterrupt" in errors


@pytest.mark.serial
@pytest.mark.parametrize("work", ENDED)
def test_the_program_exits_within_a_tenth_of_a_second(started, work):
    """The shortest of several rounds, as a busy machine delays single ones. Opening LibTorch before takes 0.3 s."""
    flushed = "extern fn rt_flush()\n"
    times = []
    while len(times) < 8 and min(times, default=1) >= 0.1:
        program = started(f'use torch\n{flushed}torch.ones([1])\nprint "{STARTED}"\nrt_flush()\n{ENDED[work]}\n')
        start = time.monotonic()
        program.interrupt()
        program.process.wait(timeout=20)
        times.append(time.monotonic() - start)
    assert min(times) < 0.1


def test_a_second_interrupt_ends_code_that_swallows_the_first(started):
    lines = [
        "import time",
        f"pending = [{STARTED!r}]",
        "while True:",
        "  try:",
        "    if pending: print(pending.pop(), flush=True)",
        "    time.sleep(60)",
        "  except KeyboardInterrupt: print('swallowed', flush=True)",
    ]
    code = "\\n".join(lines)
    program = started(f'use python as py\npy.exec("{code}")\n')
    program.interrupt()
    assert program.line() == "swallowed\n"
    program.interrupt()
    assert program.end() == (-signal.SIGINT, "", "")


HANDLERS_SET = {
    "asyncio.run": "py.run(py.eval(\"__import__('asyncio').sleep(0.01)\"))",
    "a restored handler": 'py.exec("import signal as s; s.signal(s.SIGINT, s.signal(s.SIGINT, s.SIG_IGN))")',
}


@pytest.mark.parametrize("by", HANDLERS_SET)
def test_interrupts_reach_simple_after_python_set_a_handler(started, by):
    """Guards the replaced _signal.signal: asyncio.run installed Python's handler, and no interrupt reached Simple."""
    source = ATTEMPTED.replace("WORK", WORKS["a loop of Simple"]).replace("CALL", "torch.attempt(work)")
    program = started(f"use python as py\n{HANDLERS_SET[by]}\n{source}")
    program.interrupt()
    assert program.end() == (0, "left\ninterrupted by SIGINT\n2.0\n0\n", "")


NESTED = """
use python as py
py.exec(\"\"\"
def work():
    print('STARTED', flush=True)
    WORK
\"\"\")
fn inner():
    val outcome = py.try_call(py.eval("work"))
    print "inner: {outcome.unwrap_err()}"
    6
print py.try_call(py.eval("lambda f: f() * 7"), inner)
"""


@pytest.mark.parametrize(
    ("work", "thread"),
    [("while True: pass", "first"), ("import time; time.sleep(60)", "first"), ("while True: pass", "another")],
)
def test_python_below_simple_below_python_is_stopped_and_the_caller_continues(started, work, thread):
    """Guards the count of threads inside Python in nested calls: an interrupt reached the code after the call."""
    source = NESTED.replace("STARTED", STARTED).replace("WORK", work)
    if thread == "another":
        source = source.replace("print py", "print thread.spawn(\\: py").replace(", inner)", ", inner)).join()")
    program = started(source)
    program.interrupt()
    assert program.end() == (0, "inner: KeyboardInterrupt\nOk(42)\n", "")


def test_simple_below_a_try_call_returns_an_error(started):
    program = started(f"""use python as py
extern fn rt_flush()
fn spin():
    {BEGUN}
    while true: 1 + 1
print py.try_call(py.eval("lambda f: f()"), spin).unwrap_err()
print py.eval("6 * 7")
""")
    program.interrupt()
    assert program.end() == (0, "KeyboardInterrupt\n42\n", "")
