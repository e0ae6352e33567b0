"""Greenlets (gevent): each greenlet that calls Simple has its own stack, so that they may switch in any order."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from programs import skip_greenlets_if_sanitized

ROOT = Path(__file__).resolve().parents[2]
HOST = os.environ.get("SIMPLE_HOST", "")
if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)
pytest.importorskip("greenlet")
pytest.importorskip("gevent")
skip_greenlets_if_sanitized()

PRELUDE = """
import gc, sys, threading, weakref
import greenlet, simple_torch

module = simple_torch.run('''
use python as py
class Guard:
    name: text
    log: any
    fn drop():
        self.log.append("drop " + self.name)
fn through(f, name: text, log):
    val guard = Guard(name: name, log: log)
    val before = [name, name]
    defer log.append("defer " + name)
    val returned = f(name)
    "{before[0]}{before[1]} {returned}"
fn nested(f, depth: i64):
    if depth == 0: return f(0)
    val own = "{depth}"
    "{nested(f, depth - 1)}{own}"
fn sum_up(f, n: i64) -> i64:
    var total = 0
    for i in 0..n: total = total + f(i)
    total
fn caught(f) -> text:
    match attempt(\\\\: f(1)):
        case Ok(value): "returned {value}"
        case Err(failure): "failed: {failure.message}"
fn iterate(f):
    fn numbers():
        for i in 0..4: yield f(i)
    [for x in numbers(): x]
''')
log = []
"""


def in_python(source: str, *, code: int = 0) -> subprocess.CompletedProcess:
    """Run the source in a new Python process."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "PYTHONFAULTHANDLER": "1"}
    command = [sys.executable, "-c", PRELUDE + textwrap.dedent(source)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stderr
    return done


def test_functions_return_in_the_order_in_which_they_were_called():
    done = in_python("""
        main = greenlet.getcurrent()
        first = greenlet.greenlet(lambda: module.through(lambda name: main.switch("away"), "a", log))
        second = greenlet.greenlet(lambda: module.through(lambda name: main.switch("away"), "b", log))
        print(first.switch(), second.switch())
        print(first.switch("one"))
        print(second.switch("two"))
        print(log)
    """)
    assert done.stdout == "away away\naa one\nbb two\n['defer a', 'drop a', 'defer b', 'drop b']\n"


def test_the_calling_greenlet_may_return_first():
    """The frames of the second greenlet lie where the first continues on a shared stack."""
    done = in_python("""
        def spawn(name):
            global inner
            inner = greenlet.greenlet(lambda: module.through(lambda name: main.switch("away"), "inner", log))
            return inner.switch()
        main = greenlet.getcurrent()
        print(module.through(spawn, "outer", log))
        print(module.nested(lambda x: "n", 50) == "n" + "".join(str(i) for i in range(1, 51)))
        print(inner.switch("back"))
        print(log)
    """)
    assert done.stdout == (
        "outerouter away\nTrue\ninnerinner back\n['defer outer', 'drop outer', 'defer inner', 'drop inner']\n"
    )


def test_many_greenlets_switch_in_random_order():
    done = in_python("""
        import random
        random.seed(1)
        main = greenlet.getcurrent()
        def work(i):
            def step(x):
                main.switch()
                return x * i if random.random() < 0.7 else module.sum_up(lambda y: (main.switch(), x * i)[1], 1)
            return module.sum_up(step, 20), module.nested(lambda x: (main.switch(), "n")[1], 5), module.iterate(step)
        greenlets = {i: greenlet.greenlet(work) for i in range(200)}
        alive, results = list(greenlets), {}
        while alive:
            i = random.choice(alive)
            value = greenlets[i].switch(i) if not greenlets[i] else greenlets[i].switch()
            if greenlets[i].dead:
                alive.remove(i)
                results[i] = value
        print(all(results[i] == (190 * i, "n12345", [0, i, 2 * i, 3 * i]) for i in greenlets))
    """)
    assert done.stdout == "True\n"


def test_a_generator_of_a_suspended_greenlet_cannot_be_resumed_by_another():
    done = in_python("""
        main = greenlet.getcurrent()
        holder = simple_torch.run('''
        fn make(f):
            fn numbers():
                yield f()
                yield 2
            numbers()
        fn step(g): g.next()
        ''')
        numbers = holder.make(lambda: main.switch("away"))
        first = greenlet.greenlet(lambda: holder.step(numbers))
        print(first.switch())
        try:
            holder.step(numbers)
        except RuntimeError as error:
            print(error)
        print(first.switch(1) is not None)
    """)
    assert done.stdout == "away\ngenerator already executing\nTrue\n"


@pytest.mark.parametrize("where", ["thrown", "GreenletExit", "garbage collected"])
def test_an_exception_unwinds_a_suspended_function(where):
    ends = {
        "thrown": "suspended.throw(KeyError('k'))",
        "GreenletExit": "print(repr(suspended.throw()))",
        "garbage collected": "del suspended; gc.collect()",
    }
    done = in_python(f"""
        main = greenlet.getcurrent()
        def wait(name):
            try:
                return main.switch("away")
            finally:
                log.append("finally")
        suspended = greenlet.greenlet(lambda: module.through(wait, "a", log))
        print(suspended.switch())
        print(module.through(str.upper, "b", log))
        log.clear()
        try:
            {ends[where]}
        except KeyError as error:
            print(repr(error))
        print(log)
        print(module.through(str.upper, "c", log))
    """)
    shown = {"thrown": "KeyError('k')\n", "GreenletExit": "GreenletExit()\n", "garbage collected": ""}[where]
    assert done.stdout == f"away\nbb B\n{shown}['finally', 'defer a', 'drop a']\ncc C\n"
    assert done.stderr == ""


def test_errors_of_both_greenlets_stay_apart():
    """Each greenlet switches while it handles an error: in `caught`, and in deferred code."""
    done = in_python("""
        main = greenlet.getcurrent()
        failing = simple_torch.run('''
        fn fail(f, name: text):
            defer f(name)
            panic("error of " + name)
        ''')
        def work(name):
            try:
                failing.fail(lambda x: main.switch(x), name)
            except RuntimeError as error:
                return str(error)
        greenlets = [greenlet.greenlet(work) for _ in range(3)]
        for g, name in zip(greenlets, "abc"):
            print(g.switch(name), end=" ")
        def raises(x):
            main.switch("caught")
            raise ValueError("of d")
        other = greenlet.greenlet(lambda: module.caught(raises))
        print(other.switch())
        for g in (greenlets[1], greenlets[0], greenlets[2]):
            print(g.switch())
        print(other.switch())
    """)
    assert done.stdout == "a b c caught\nerror of b\nerror of a\nerror of c\nfailed: ValueError: of d\n"


def test_threads_have_their_own_greenlets():
    done = in_python("""
        def work(i):
            main = greenlet.getcurrent()
            made = [greenlet.greenlet(lambda: module.sum_up(lambda x: (main.switch(), x)[1], 30)) for _ in range(5)]
            results = []
            while not all(g.dead for g in made):
                for g in made:
                    if not g.dead:
                        value = g.switch()
                        if g.dead: results.append(value)
            sums[i] = results
            suspended = greenlet.greenlet(lambda: module.through(lambda name: main.switch("away"), "left", log))
            suspended.switch()
            left.append(suspended)
        sums, left = {}, []
        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for t in threads: t.start()
        for t in threads: t.join()
        print(all(results == [435] * 5 for results in sums.values()), len(left))
        left.clear()
        gc.collect()
        print(module.through(str.upper, "a", log))
    """)
    assert done.stdout == "True 4\naa A\n"


@pytest.mark.parametrize("end", ["the main module ends", "sys.exit", "an exception"])
def test_a_process_may_end_while_greenlets_are_suspended_in_simple(end):
    statement = {"the main module ends": "", "sys.exit": "sys.exit(3)", "an exception": "raise KeyError"}[end]
    done = in_python(
        f"""
        main = greenlet.getcurrent()
        def wait(name):
            try:
                main.switch("away")
            except BaseException as error:
                print(type(error).__name__)
                raise
        suspended = [greenlet.greenlet(lambda: module.through(wait, "a", log)) for _ in range(3)]
        print([g.switch() for g in suspended])
        print("ends", flush=True)
        {statement}
        """,
        code={"the main module ends": 0, "sys.exit": 3, "an exception": 1}[end],
    )
    assert done.stdout.startswith("['away', 'away', 'away']\nends\n")
    assert "Fatal" not in done.stderr


def test_deep_recursion_through_greenlets_is_an_error():
    done = in_python("""
        sys.setrecursionlimit(100000)
        def deeper(x):
            inner = greenlet.greenlet(lambda: module.through(deeper, "d", []))
            return inner.switch()
        try:
            module.through(deeper, "d", [])
        except RecursionError as error:
            print("RecursionError")
        except RuntimeError as error:
            print("RuntimeError")
        print(module.through(str.upper, "a", log))
    """)
    assert done.stdout in ("RuntimeError\naa A\n", "RecursionError\naa A\n")


def test_gevent_with_patched_modules():
    done = in_python("""
        from gevent import monkey
        monkey.patch_all()
        import gevent, gevent.pool, gevent.queue, time, socket

        def slow(x):
            time.sleep(0.001 * (x % 3))
            return x
        jobs = [gevent.spawn(module.sum_up, slow, 10 + i % 3) for i in range(30)]
        gevent.joinall(jobs, raise_error=True)
        print([job.value for job in jobs[:3]])

        left, right = socket.socketpair()
        reader = gevent.spawn(module.through, lambda name: right.recv(10).decode(), "r", log)
        writer = gevent.spawn(module.through, lambda name: left.send(b"hello"), "w", log)
        gevent.joinall([reader, writer], raise_error=True)
        print(reader.value, writer.value)

        endless = gevent.spawn(module.through, lambda name: time.sleep(60), "k", log)
        gevent.sleep(0.01)
        endless.kill()
        print(repr(endless.value), log[-2:])
        with gevent.Timeout(0.02, False):
            module.through(lambda name: time.sleep(60), "t", log)
        print(log[-2:])
        print(gevent.pool.Pool(3).map(lambda i: module.nested(slow, i), range(5)))
        thread = threading.Thread(target=lambda: log.append(module.sum_up(slow, 3)))
        thread.start()
        thread.join()
        print(log[-1])
    """)
    assert done.stdout == (
        "[45, 55, 66]\nrr hello ww 5\nGreenletExit() ['defer k', 'drop k']\n['defer t', 'drop t']\n"
        "[0, '01', '012', '0123', '01234']\n3\n"
    )


def test_prints_to_a_stream_that_switches():
    done = in_python("""
        main = greenlet.getcurrent()
        class Stream:
            def write(self, text):
                sys.__stdout__.write(text)
                if greenlet.getcurrent() is not main: main.switch()
            def flush(self): pass
        sys.stdout = Stream()
        printing = simple_torch.run('''
        fn lines(name: text):
            val text = name + "!"
            for i in 0..3: print "{text} {i}"
            text
        ''').lines
        greenlets = [greenlet.greenlet(printing) for _ in range(2)]
        values = [g.switch(name) for g, name in zip(greenlets, "ab")]
        while not all(g.dead for g in greenlets):
            values += [g.switch() for g in greenlets if not g.dead]
        sys.stdout = sys.__stdout__
        print([value for value in values if value])
    """)
    assert sorted(done.stdout.splitlines()[:-1]) == ["a! 0", "a! 1", "a! 2", "b! 0", "b! 1", "b! 2"]
    assert done.stdout.splitlines()[-1] == "['a!', 'b!']"


# ---- in a Simple program

PROGRAM = """
use python as py
use torch

fn work(name: text, pause):
    defer print "defer " + name
    var total = 0
    for i in 0..3:
        pause()
        total = total + i
    "{name} {total}"

py.exec("import greenlet\\nmain = greenlet.getcurrent()\\npause = main.switch")
val make = py.eval("greenlet.greenlet")
"""


def simple(tmp_path, source: str, *, code: int = 0) -> subprocess.CompletedProcess:
    file = tmp_path / "program.spl"
    file.write_text(source)
    done = subprocess.run([HOST, file], capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stdout + done.stderr
    return done


needs_host = pytest.mark.skipif(not HOST, reason="SIMPLE_HOST is not set")


@needs_host
def test_a_program_switches_between_its_functions(tmp_path):
    done = simple(
        tmp_path,
        PROGRAM
        + """
val first = make(\\: work("a", py.eval("pause")))
val second = make(\\: work("b", py.eval("pause")))
for _ in 0..3:
    first.switch()
    second.switch()
print first.switch()
print second.switch()
print torch.ones([2]).sum().item()
""",
    )
    assert done.stdout == "defer a\na 3\ndefer b\nb 3\n2.0\n"


@needs_host
def test_errors_of_the_library_reach_a_greenlet_that_was_switched(tmp_path):
    """LibTorch collected a stack trace for each error; the unwinder crashed on the stack of such a greenlet."""
    done = simple(
        tmp_path,
        """
use torch
use python as py
val gevent = py.import("gevent")
fn failing():
    gevent.sleep(0.001)
    match torch.attempt(\\: torch.ones([2]) + torch.ones([3])):
        case Ok(_): "no error"
        case Err(error): error.message()
val started = [for _ in 0..3: gevent.spawn(failing)]
gevent.joinall(started)
for one in started: print one.value
""",
    )
    message = "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0"
    assert done.stdout == f"{message}\n" * 3


@needs_host
def test_a_node_hook_keeps_its_gradients(tmp_path):
    """Both hooks are suspended at the same time. LibTorch requires that the inner backward() ends first."""
    done = simple(
        tmp_path,
        PROGRAM
        + """
fn hooked(factor: f64):
    val x = torch.tensor([1.0], requires_grad: true)
    val y = x.neg()
    y.grad_fn().register_hook(\\inputs, outputs:
        py.eval("pause")()
        (inputs[0] * factor,))
    (x, y.sum())

fn backward(name: text, tensors) -> text:
    tensors[1].backward()
    "{name} {tensors[0].grad.item()}"

val tensors = [hooked(2.0), hooked(3.0)]  # before: LibTorch's backward disables the grad mode of the thread
val first = make(\\: backward("a", tensors[0]))
val second = make(\\: backward("b", tensors[1]))
first.switch()
second.switch()
print second.switch()
print first.switch()
""",
    )
    assert done.stdout == "b -3.0\na -2.0\n"


@needs_host
@pytest.mark.parametrize("call", ["gevent.joinall", "exit"])
def test_a_program_with_gevent(tmp_path, call):
    ends = {
        "gevent.joinall": 'py.import("gevent").joinall(jobs)\nprint [for job in jobs: job.value.to_value()]',
        "exit": 'py.import("gevent").spawn(\\: exit(4)).get()\nprint "not reached"',
    }
    done = simple(
        tmp_path,
        f"""
use python as py
fn work(n: i64):
    val sleep = py.import("gevent").sleep
    var total = 0
    for i in 0..n:
        sleep(0.001)
        total = total + i
    total
val jobs = [for n in 1..6: py.import("gevent").spawn(work, n)]
{ends[call]}
""",
        code={"gevent.joinall": 0, "exit": 4}[call],
    )
    assert done.stdout == {"gevent.joinall": "[0, 1, 3, 6, 10]\n", "exit": ""}[call]
