"""Simple in a Python process: Python runs Simple source and files and calls their functions and objects."""

from __future__ import annotations

import copy
import gc
import io
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
torch = pytest.importorskip("torch")
sys.path.insert(0, str(ROOT / "python"))
import simple_torch  # noqa: E402
from simple_torch import evaluate, run, run_file  # noqa: E402

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "python")}


@pytest.fixture(autouse=True, scope="module")
def as_in_a_terminal():
    """Shells start background processes with SIGINT ignored, which child processes inherit."""
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, old)


def program(source: str, *, code: int = 0) -> subprocess.CompletedProcess:
    """Run the source in a new Python process."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source)], env=ENVIRONMENT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture(scope="module")
def shapes():
    return run(
        """
        class Point:
            x: i64
            y: i64 = 3
            fn norm() -> i64: self.x * self.x + self.y * self.y
            me move(by: i64):
                self.x = self.x + by
            fn __add__(other): Point(x: self.x + other.x, y: self.y + other.y)
            static fn origin() -> Point: Point(x: 0, y: 0)
        enum Shape:
            Circle(radius: f64)
            Dot
        class Row:
            items: [i64] = [1, 2, 3]
            fn __getitem__(at: i64) -> i64: self.items[at]
            fn len() -> i64: self.items.len()
        fn is_point(value) -> bool: type_of(value) == "Point"
        fn same(value): value
        """,
        name="shapes",
    )


# ---- values


def test_functions_accept_and_return_python_values():
    module = run("fn add(a, b = 5): a + b\nfn kind(x) -> text: type_of(x)")
    assert (module.add(1), module.add(1, b=2), module.add("a", "b")) == (6, 3, "ab")
    assert (module.add.__name__, module.kind.__qualname__) == ("add", "kind")
    assert [module.kind(x) for x in (None, True, 1, 2.5, "t")] == ["nil", "bool", "i64", "f64", "text"]


def test_definitions_of_a_module_are_its_attributes():
    module = run('val pi = 3.5\nval names = ["a", "b"]\nvar count = 0\nfn tick():\n    count = count + 1\nuse std.time')
    module.tick()
    module.tick()
    assert (module.pi, module.names, module.count) == (3.5, ["a", "b"], 2)
    assert {"pi", "names", "count", "tick"} <= set(dir(module))
    assert "time" not in dir(module)
    module.count = 5
    module.tick()
    assert module.count == 6
    with pytest.raises(RuntimeError, match="is a val"):
        module.pi = 3
    with pytest.raises(AttributeError, match="has no other"):
        print(module.other)


def test_values_become_variables():
    assert evaluate("[for x in xs: f(x)]", xs=range(3), f=lambda x: x * x) == [0, 1, 4]
    assert run("val twice = word + word", word="ab").twice == "abab"


def test_tensors_are_identical_and_gradients_propagate():
    weight = torch.tensor([1.0, 2.0], requires_grad=True)
    loss = run("use torch\nfn loss(w): (w * w).sum()").loss(weight)
    loss.backward()
    assert weight.grad.tolist() == [2.0, 4.0]
    assert evaluate("t", t=weight) is weight
    assert evaluate("name + source", name=1, source=2) == 3


def test_simple_trains_a_python_module():
    torch.manual_seed(0)
    model = torch.nn.Linear(2, 1)
    train = run(
        """
        use torch
        use torch.optim
        fn train(model, x, y, steps: i64) -> f64:
            val optimizer = optim.SGD([for p in model.parameters(): p.to_tensor()], lr: 0.1)
            var last = 0.0
            for _ in 0..steps:
                optimizer.zero_grad()
                val loss = (model(x).to_tensor() - y).pow(2.0).mean()
                loss.backward()
                optimizer.step()
                last = loss.item()
            last
        """
    ).train
    x = torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = torch.tensor([[1.0], [2.0], [3.0]])
    twin = torch.nn.Linear(2, 1)
    twin.load_state_dict(model.state_dict())
    optimizer = torch.optim.SGD(twin.parameters(), lr=0.1)
    for _ in range(20):
        optimizer.zero_grad()
        loss = (twin(x) - y).pow(2.0).mean()
        loss.backward()
        optimizer.step()
    assert train(model, x, y, 20) == loss.item()
    assert torch.equal(model.weight, twin.weight)


# ---- objects


def test_objects_have_their_fields_and_methods(shapes):
    point = shapes.Point(x=1)
    point.move(5)
    point.y = 10
    assert (point.x, point.y, point.norm(), repr(point)) == (6, 10, 136, "Point(x: 6, y: 10)")
    assert {"x", "y", "norm", "move"} <= set(dir(point))
    assert shapes.Point.origin().norm() == 0
    assert isinstance(point, shapes.Point)
    assert not isinstance(point, shapes.Row)
    assert not isinstance(3, shapes.Point)
    assert isinstance(shapes.Shape.Dot, shapes.Shape)
    with pytest.raises(AttributeError, match="Point has no field z"):
        print(point.z)


def test_objects_have_their_operators(shapes):
    total = shapes.Point(x=1) + shapes.Point(x=2, y=4)
    row = shapes.Row()
    assert (total.x, total.y) == (3, 7)
    assert (len(row), row[1], bool(row)) == (3, 2, True)
    assert (shapes.Shape.Circle(2.0).radius, repr(shapes.Shape.Dot)) == (2.0, "Shape::Dot")


def test_objects_keep_their_identity(shapes):
    point = shapes.Point(x=1)
    again = shapes.same(point)
    again.move(1)
    assert shapes.is_point(point)
    assert (again == point, hash(again) == hash(point), point.x) == (True, True, 2)
    assert {point: "kept"}[again] == "kept"
    assert shapes.Point(x=1) != shapes.Point(x=5)
    double = run("fn double(x): x * 2\nfn is_same(f) -> bool: f(4) == 8").double
    assert evaluate("type_of(f)", f=double) == "function"


def test_objects_are_destroyed_when_python_releases_them():
    module = run(
        """
        var gone = 0
        class Kept:
            fn drop():
                gone = gone + 1
        """
    )
    kept = [module.Kept() for _ in range(5)]
    assert module.gone == 0
    del kept
    gc.collect()
    assert module.gone == 5


# ---- errors


def test_errors_are_exceptions_with_simple_calls():
    module = run('fn inner(x): panic("no good: {x}")\nfn outer(x): inner(x) + 1', name="failing")
    with pytest.raises(RuntimeError, match="no good: 3") as caught:
        module.outer(3)
    note = caught.value.__notes__[0]
    assert "inner (<failing" in note
    assert 'fn inner(x): panic("no good: {x}")' in note
    assert note.index("inner (") < note.index("outer (")


def test_exceptions_propagate_through_simple_unchanged():
    def fails():
        raise KeyError("from Python")

    with pytest.raises(KeyError, match="from Python"):
        run("fn call(f): f()").call(fails)


def test_invalid_source_raises_a_syntax_error_with_the_line():
    with pytest.raises(SyntaxError, match=r"(?s)<source \d+>:1:6: error: expected a parameter.*fn f\(:"):
        run("fn f(:\n    3")
    with pytest.raises(SyntaxError, match="expected an expression"):
        evaluate("1 +")
    with pytest.raises(FileNotFoundError, match=r"nowhere\.spl"):
        run_file("/nowhere.spl")


def test_exit_raises_system_exit_and_the_next_call_works():
    module = run("fn leave(): exit(3)\nfn five(): 5")
    with pytest.raises(SystemExit) as ended:
        module.leave()
    assert (ended.value.code, module.five()) == (3, 5)
    done = program("import simple_torch; simple_torch.run('exit(7)')", code=7)
    assert done.stderr == ""


# ---- output


def test_output_of_both_languages_keeps_its_order():
    out, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(errors):
        print("first")
        run('print "second"\neprint "error"')
        print("third")
    assert (out.getvalue(), errors.getvalue()) == ("first\nsecond\nthird\n", "error\n")


def test_a_file_runs_once(tmp_path):
    file = tmp_path / "counted.spl"
    file.write_text('print "runs"\nfn one(): 1\n')
    out = io.StringIO()
    with redirect_stdout(out):
        assert run_file(file).one() + run_file(file).one() == 2
    assert out.getvalue() == "runs\n"


def test_a_file_that_failed_can_run_again_after_a_fix(tmp_path):
    file = tmp_path / "fixed.spl"
    file.write_text('panic("not yet")\n')
    with pytest.raises(RuntimeError, match="not yet"):
        run_file(file)
    file.write_text("fn f(:\n")
    with pytest.raises(SyntaxError, match="expected a parameter"):
        run_file(file)
    file.write_text('fn works(): panic("here")\n')
    with pytest.raises(RuntimeError, match="here") as caught:
        run_file(file).works()
    assert 'fn works(): panic("here")' in caught.value.__notes__[0]


def test_a_file_imports_modules_of_its_folder(tmp_path):
    (tmp_path / "helping.spl").write_text("fn answer(): 42\n")
    (tmp_path / "needing.spl").write_text("use helping\nfn answer(): helping.answer()\n")
    assert run_file(tmp_path / "needing.spl").answer() == 42


# ---- threads and exit


def test_many_threads_of_python_call_simple():
    square = run("fn square(x): x * x").square
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(square, range(500))) == [x * x for x in range(500)]


def test_threads_of_simple_call_python():
    total = run(
        """
        fn total(f, n: i64) -> i64:
            val threads = [for i in 0..n: thread.spawn(\\: f(i).to_int())]
            [for t in threads: t.join()].sum()
        """
    ).total
    assert total(lambda x: x + 1, 20) == sum(range(1, 21))


EXITS = {
    "threads of Simple run on": "m.begin()",
    "threads of Simple call Python": "m.begin_calling(lambda: None)",
    "threads of Simple call Python that fails": "m.begin_failing(lambda: 1 / 0); import time; time.sleep(0.1)",
    "objects of Simple go on its threads": "m.begin_dropping(lambda kept: None); import time; time.sleep(0.1)",
    "objects and functions are kept": "import builtins; builtins.kept = [m.Kept(), m.five]",
    "a deleter of Simple's runs late": "import sys; sys.kept = m.Kept()",
    "Simple prints at exit": "import atexit; atexit.register(m.report)",
    "a daemon thread of Python calls Simple": """
import threading
def loop():
    while True: m.five()
threading.Thread(target=loop, daemon=True).start()
import time; time.sleep(0.1)""",
}


@pytest.mark.parametrize("state", EXITS)
def test_python_exits_cleanly(state):
    source = f"""
import simple_torch
m = simple_torch.run('''
class Kept:
    fn drop(): 1 + 1
fn five(): 5
fn spin():
    while true: 1 + 1
fn begin(): thread.spawn(spin)
fn calls(f):
    while true: f()
fn begin_calling(f): thread.spawn(\\\\: calls(f))
fn fails(f):
    while true: attempt(\\\\: f())
fn begin_failing(f):
    for _ in 0..4: thread.spawn(\\\\: fails(f))
fn drops(f):
    while true: f(Kept())
fn begin_dropping(f):
    for _ in 0..4: thread.spawn(\\\\: drops(f))
fn report(): print "reported"
''')
{EXITS[state]}
print("end")
"""
    done = program(source)
    assert done.stdout == ("end\nreported\n" if "prints" in state else "end\n")
    assert done.stderr == ""


STOPPED = {
    "Simple's own loop": "while true: 1 + 1",
    "a loop of native calls": "val a = torch.ones([200, 200])\n    while true: a.matmul(a)",
    "a loop of Python's": 'py.exec("while True: pass")',
}


@pytest.mark.parametrize("loop", STOPPED)
def test_an_interrupt_stops_the_call_and_no_later_one(loop):
    source = f"use torch\nuse python as py\nfn work():\n    {STOPPED[loop]}\nfn five(): 5"
    module = run(source)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        module.work()
    timer.join()
    assert module.five() == 5
    time.sleep(0.05)  # a second KeyboardInterrupt would be raised here
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)  # Python's handler again


def test_a_fork_of_the_process_runs_simple_too():
    done = program(
        """
        import multiprocessing, simple_torch
        square = simple_torch.run("fn square(x): x * x").square
        def work(x): return square(x)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            print(pool.map(work, range(5)))
        """
    )
    assert done.stdout == "[0, 1, 4, 9, 16]\n"


def test_one_libtorch_is_mapped():
    run("use torch\nval t = torch.ones([2])")
    mapped = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "libtorch_cpu" in line}
    assert len(mapped) == 1
    assert simple_torch.Tensor is not None


# ---- details


def test_exceptions_of_all_kinds_propagate_unchanged():
    class Own(Exception):
        def __init__(self, first, second):
            super().__init__(first, second)
            self.second = second

    made = [
        KeyError("k"),
        FileNotFoundError(2, "no such", "f.txt"),
        Own(1, [2]),
        StopIteration(3),
    ]
    if sys.version_info >= (3, 11):
        made.append(ExceptionGroup("g", [Own(1, 2)]))  # noqa: F821
    call = run("fn call(f): f()").call
    for error in made:

        def fails(error=error):
            raise error

        with pytest.raises(type(error)) as caught:
            call(fails)
        assert caught.value is error
    with pytest.raises(SystemExit) as ended:
        call(lambda: sys.exit())
    assert ended.value.code is None


def test_operators_fall_back_to_pythons_reflected_methods():
    class Reflecting:
        def __rsub__(self, other):
            return f"{other} - me"

    module = run(
        """
        class Q:
            x: i64
            fn __radd__(other): other + self.x
            fn __mod__(other): self.x % other
            fn __neg__(): Q(x: 0 - self.x)
        """
    )
    q = module.Q(x=7)
    assert (q - Reflecting(), 1 + q, q % 4, (-q).x) == ("Q(x: 7) - me", 8, 3, -7)
    with pytest.raises(TypeError, match="unsupported operand"):
        q * 2


def test_iteration_is_lazy_and_needs_no_length():
    module = run(
        """
        fn count():
            var i = 0
            while true:
                yield i
                i = i + 1
        fn up_to(n: i64):
            for i in 0..n: yield i
        class Bag:
            items: [i64] = [3, 1, 2]
            fn __contains__(item: i64) -> bool: item in self.items
        """
    )
    numbers = iter(module.count())
    assert [next(numbers) for _ in range(3)] == [0, 1, 2]
    assert (list(module.up_to(3)), 3 in module.Bag(), 7 in module.Bag()) == ([0, 1, 2], True, False)
    with pytest.raises(TypeError):
        len(module.Bag())


def test_equal_objects_have_one_hash_or_none():
    module = run(
        """
        enum E:
            A(v: i64)
        struct S:
            x: i64
        class P:
            x: i64
        class Own:
            x: i64
            fn __eq__(other) -> bool: self.x == other.x
            fn __hash__() -> i64: self.x
        class Half:
            x: i64
            fn __eq__(other) -> bool: self.x == other.x
        """
    )
    assert (
        len({module.E.A(1), module.E.A(1)})
        == len({module.S(x=1), module.S(x=1)})
        == len({module.Own(x=1), module.Own(x=1)})
        == 1
    )
    assert len({module.P(x=1), module.P(x=1)}) == 2
    with pytest.raises(TypeError, match="unhashable"):
        hash(module.Half(x=1))
    with pytest.raises(AttributeError):
        module.P(x=1).z = 1


def test_arguments_are_released_when_the_call_returns():
    import weakref

    class Watched:
        pass

    argument = Watched()
    reference = weakref.ref(argument)
    run("fn use_it(x): nil").use_it(argument)
    del argument
    assert reference() is None


def test_print_fails_when_the_stream_fails():
    class Broken(io.StringIO):
        def write(self, text):
            raise BrokenPipeError(32, "Broken pipe")

    with redirect_stdout(Broken()), pytest.raises(BrokenPipeError, match="Broken pipe"):
        run('print "lost"')


def test_deletion_runs_simple_without_the_gil():
    module = run(
        """
        use std.time.{sleep}
        class Kept:
            thread: any
            fn drop(): self.thread.join()
        fn late(f):
            sleep(0.1)
            f()
        fn make(f): Kept(thread: thread.spawn(\\: late(f)))
        fn nothing(): 1
        """
    )
    called = []
    kept = module.make(lambda: called.append(1))
    module.nothing()
    del kept
    assert called == [1]


def test_reloading_the_package_changes_nothing():
    done = program(
        """
        import importlib, simple_torch
        simple_torch.run("val a = 1")
        importlib.reload(simple_torch.simple)
        import gc
        gc.collect()
        print(simple_torch.simple.run('print "printed"\\nval a = 2').a)
        """
    )
    assert done.stdout == "printed\n2\n"


INTERRUPTED = {
    "other threads spin": ("m.begin()", "m.spin()"),
    "the main thread joins": ("", "m.join_one()"),
}


@pytest.mark.parametrize("state", INTERRUPTED)
def test_an_interrupt_stops_the_main_thread(state):
    before, work = INTERRUPTED[state]
    done = program(
        f"""
import os, signal, simple_torch, threading
m = simple_torch.run('''
fn spin():
    while true: 1 + 1
fn begin(): thread.spawn(spin)
fn join_one(): thread.spawn(spin).join()
''')
{before}
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try: {work}
except KeyboardInterrupt: print("stopped")
"""
    )
    assert (done.stdout, done.stderr) == ("stopped\n", "")


def test_a_custom_handler_runs_when_the_call_returns():
    seen = []
    old = signal.signal(signal.SIGINT, lambda *_: seen.append("handled"))
    try:
        module = run("use std.time.{sleep}\nfn wait() -> i64:\n    sleep(0.3)\n    7")
        timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        assert module.wait() == 7
        timer.join()
    finally:
        signal.signal(signal.SIGINT, old)
    assert seen == ["handled"]


# ---- pickles

FILE_SOURCE = """
fn twice(x): 2 * x
class Shift:
    by: i64
    fn __call__(x): x + self.by
    fn applied(x): x + self.by
val unnamed = \\x: x
class Holder:
    values: any
    shift: any = nil
    other: any = nil
    fn shown(): "{self.values}"
enum Mode:
    Fast
    By(rate: f64)
struct Pair:
    a: i64
    b: i64
fn holder(shift): Holder([1, (2, "a"), {"k": [3]}, set([4])], shift)
fn layer():
    use torch.nn
    nn.Linear(1, 1)
"""


@pytest.fixture
def file_module(tmp_path):
    (tmp_path / "picklable.spl").write_text(FILE_SOURCE)
    return run_file(tmp_path / "picklable.spl")


def test_file_modules_and_their_definitions_are_pickled(file_module):
    again = pickle.loads(pickle.dumps([file_module, file_module.twice, file_module.Shift]))
    assert again[0].twice(3) == 6
    assert again[1](4) == 8
    assert again[2](by=5)(1) == 6
    assert copy.deepcopy(file_module.twice)(5) == 10


def test_objects_of_a_files_classes_are_pickled(file_module):
    shift = file_module.Shift(by=5)
    assert pickle.loads(pickle.dumps(shift))(1) == 6
    assert pickle.loads(pickle.dumps(shift.applied))(2) == 7
    held = file_module.holder(shift)
    held.other = held
    again = pickle.loads(pickle.dumps(held))
    assert again.other is again
    assert again.shift(1) == 6
    assert again.shown() == "[1, (2, a), {k: [3]}, {4}]"
    assert again is not held
    for value in (file_module.Mode.Fast, file_module.Mode.By(0.5), file_module.Pair(1, 2)):
        assert pickle.loads(pickle.dumps(value)) == value
    with pytest.raises(pickle.PicklingError, match="only Simple modules of files"):
        pickle.dumps(file_module.Holder(None, file_module.layer()))
    with pytest.raises(pickle.PicklingError, match="cannot pickle the Simple function 'lambda'"):
        pickle.dumps(file_module.unnamed.__closure__[0].cell_contents)


@pytest.mark.parametrize("start", ["fork", "spawn", "forkserver"])
def test_workers_receive_simple_functions(file_module, start):
    with multiprocessing.get_context(start).Pool(2) as pool:
        assert pool.map(file_module.twice, [1, 2, 3]) == [2, 4, 6]
        assert pool.map(file_module.Shift(3).applied, [1, 2]) == [4, 5]


def test_pickling_other_values_is_rejected_with_the_reason(file_module):
    text = run(
        "fn of_text(): 1\nfn maker(): \\: 1\nclass Local:\n    x: i64 = 1\n    fn method(): 1\nfn local(): Local()"
    )
    for value in (text, text.Local, text.local()):
        with pytest.raises(pickle.PicklingError, match="only Simple modules of files, the functions and classes that"):
            pickle.dumps(value)
    with pytest.raises(pickle.PicklingError, match="cannot pickle Local"):
        pickle.dumps(text.local().method)
    for function in (file_module.unnamed, text.of_text, text.maker()):
        with pytest.raises((pickle.PicklingError, AttributeError), match="Can't"):
            pickle.dumps(function)


WRITERS = """
import signal, sys, simple_torch
class Stream:
    def __init__(self, work): self.work = work
    def write(self, text): self.work()
    def flush(self): pass
module = simple_torch.run('''
fn once(): print "x"
fn loop():
    while true: print "x"
fn attempted() -> text:
    match attempt(\\\\: print("x")):
        case Ok(_): "written"
        case Err(failure): failure.message
''')
def outcome(function, work):
    stdout = sys.stdout
    sys.stdout = Stream(work)
    try: return function()
    except BaseException as error: return repr(error)
    finally: sys.stdout = stdout
def fail(error):
    raise error
"""


def test_what_the_stream_raises_reaches_the_caller():
    """print in a Python process: also exceptions that are not errors of files."""
    done = program(
        WRITERS
        + """
for error in OSError(28, "full"), SystemExit(3), LookupError("custom"), KeyboardInterrupt():
    print(outcome(module.once, lambda: fail(error)))
print(outcome(module.attempted, lambda: fail(LookupError("custom"))))
print(outcome(module.attempted, lambda: fail(KeyboardInterrupt())))
print(outcome(module.attempted, lambda: None))
"""
    )
    assert done.stdout.splitlines() == [
        "OSError(28, 'full')",
        "SystemExit(3)",
        "LookupError('custom')",
        "KeyboardInterrupt('')",
        "print: cannot write to standard output",
        "KeyboardInterrupt('')",
        "written",
    ]


def test_a_signal_handler_that_raises_ends_a_loop_that_prints():
    done = program(
        WRITERS
        + """
def handle(number, frame): raise TimeoutError("late")
signal.signal(signal.SIGALRM, handle)
loop = module.loop
for i in range(10):
    signal.setitimer(signal.ITIMER_REAL, 0.02 + 0.001 * i)
    print(outcome(loop, lambda: sum(range(50))))
"""
    )
    assert (done.stdout, done.stderr) == ("TimeoutError('late')\n" * 10, "")


def test_cleanup_that_handles_an_exception_keeps_the_first_one():
    done = program(
        """
import simple_torch
module = simple_torch.run('''
fn run(work, cleanup):
    defer cleanup()
    work()
''')
class Bad(Exception):
    def __init__(self, code, text): super().__init__(code, text)
def fail():
    raise Bad(7, "x")
def handle():
    try: module.run(lambda: 1 / 0, lambda: None)
    except ZeroDivisionError: pass
try: module.run(fail, handle)
except Bad as error: print(repr(error))
"""
    )
    assert done.stdout == "Bad(7, 'x')\n"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: run("val a = 1\0"), ValueError, "source contains a NUL character"),
        (lambda: run("val a = 1", name="a\0b"), ValueError, "name contains a NUL character"),
        (lambda: evaluate("\udcff"), UnicodeEncodeError, "surrogates not allowed"),
        (lambda: run(b"val a = 1"), TypeError, "source must be a str, not bytes"),
    ],
)
def test_what_is_no_text_of_simple_is_rejected(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_the_version_is_that_of_the_build():
    project = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    assert f"project(simple_torch VERSION {simple_torch.__version__} " in project


@pytest.mark.parametrize(
    "fake",
    [
        "unittest.mock.MagicMock()",
        "5",
        "types.ModuleType('torch')",
        "types.SimpleNamespace(__spec__=importlib.machinery.ModuleSpec('torch', None))",
    ],
)
def test_a_torch_that_is_none_is_named(fake):
    done = program(
        f"""
import importlib.machinery, sys, types, unittest.mock
sys.modules["torch"] = {fake}
try:
    import simple_torch
    simple_torch.run("use torch")
except ImportError as error:
    print(error)
"""
    )
    assert "sys.modules['torch'] is not PyTorch; remove it from sys.modules and try again" in done.stdout
