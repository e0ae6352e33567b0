"""The reverse: Simple's source and files run in a Python process, their functions and objects are Python's to call."""

from __future__ import annotations

import gc
import io
import os
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


def program(source: str, *, code: int = 0, name: str = "-c") -> subprocess.CompletedProcess:
    """The source in a Python process of its own, which ends within a minute."""
    done = subprocess.run(
        [sys.executable, name, textwrap.dedent(source)], env=ENVIRONMENT, capture_output=True, text=True, timeout=60
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


# ---- what crosses


def test_functions_are_called_with_pythons_values_and_give_pythons_values():
    module = run("fn add(a, b = 5): a + b\nfn kind(x) -> text: type_of(x)")
    assert (module.add(1), module.add(1, b=2), module.add("a", "b")) == (6, 3, "ab")
    assert [module.kind(x) for x in (None, True, 1, 2.5, "t")] == ["nil", "bool", "i64", "f64", "text"]


def test_what_a_module_defines_are_its_attributes_as_they_are_now():
    module = run('val pi = 3.5\nval names = ["a", "b"]\nvar count = 0\nfn tick():\n    count = count + 1\nuse std.time')
    module.tick()
    module.tick()
    assert (module.pi, module.names, module.count) == (3.5, ["a", "b"], 2)
    assert {"pi", "names", "count", "tick"} <= set(dir(module))
    assert "time" not in dir(module)
    with pytest.raises(AttributeError, match="has no other"):
        print(module.other)


def test_values_are_found_under_their_names():
    assert evaluate("[for x in xs: f(x)]", xs=range(3), f=lambda x: x * x) == [0, 1, 4]
    assert run("val twice = word + word", word="ab").twice == "abab"


def test_tensors_are_the_same_and_gradients_go_through():
    weight = torch.tensor([1.0, 2.0], requires_grad=True)
    loss = run("use torch\nfn loss(w): (w * w).sum()").loss(weight)
    loss.backward()
    assert weight.grad.tolist() == [2.0, 4.0]
    assert evaluate("t", t=weight) is weight


def test_a_module_of_python_is_trained_by_simple():
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
    with pytest.raises(AttributeError, match="Point has no field z"):
        print(point.z)


def test_objects_have_their_operators(shapes):
    total = shapes.Point(x=1) + shapes.Point(x=2, y=4)
    row = shapes.Row()
    assert (total.x, total.y) == (3, 7)
    assert (len(row), row[1], bool(row)) == (3, 2, True)
    assert (shapes.Shape.Circle(2.0).radius, repr(shapes.Shape.Dot)) == (2.0, "Shape::Dot")


def test_objects_come_back_as_themselves(shapes):
    point = shapes.Point(x=1)
    again = shapes.same(point)
    again.move(1)
    assert shapes.is_point(point)
    assert (again == point, hash(again) == hash(point), point.x) == (True, True, 2)
    assert {point: "kept"}[again] == "kept"
    assert shapes.Point(x=1) != shapes.Point(x=5)
    double = run("fn double(x): x * 2\nfn is_same(f) -> bool: f(4) == 8").double
    assert evaluate("type_of(f)", f=double) == "function"


def test_objects_go_when_python_lets_go_of_them():
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


# ---- failures


def test_a_failure_is_an_exception_with_simples_calls():
    module = run('fn inner(x): panic("no good: {x}")\nfn outer(x): inner(x) + 1', name="failing")
    with pytest.raises(RuntimeError, match="no good: 3") as caught:
        module.outer(3)
    note = caught.value.__notes__[0]
    assert "inner (<failing" in note
    assert 'fn inner(x): panic("no good: {x}")' in note
    assert note.index("inner (") < note.index("outer (")


def test_an_exception_goes_through_simple_as_itself():
    def fails():
        raise KeyError("from Python")

    with pytest.raises(KeyError, match="from Python"):
        run("fn call(f): f()").call(fails)


def test_source_that_cannot_be_compiled_is_a_syntax_error_that_shows_it():
    with pytest.raises(SyntaxError, match=r"(?s)<source \d+>:1:6: error: expected a parameter.*fn f\(:"):
        run("fn f(:\n    3")
    with pytest.raises(SyntaxError, match="expected an expression"):
        evaluate("1 +")
    with pytest.raises(FileNotFoundError, match=r"nowhere\.spl"):
        run_file("/nowhere.spl")


def test_exit_is_pythons_and_the_next_call_works():
    module = run("fn leave(): exit(3)\nfn five(): 5")
    with pytest.raises(SystemExit) as ended:
        module.leave()
    assert (ended.value.code, module.five()) == (3, 5)
    done = program("import simple_torch; simple_torch.run('exit(7)')", code=7)
    assert done.stderr == ""


# ---- output


def test_what_simple_prints_is_pythons_output_in_order():
    out, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(errors):
        print("first")
        run('print "second"\neprint "told"')
        print("third")
    assert (out.getvalue(), errors.getvalue()) == ("first\nsecond\nthird\n", "told\n")


def test_a_file_runs_once(tmp_path):
    file = tmp_path / "counted.spl"
    file.write_text('print "runs"\nfn one(): 1\n')
    out = io.StringIO()
    with redirect_stdout(out):
        assert run_file(file).one() + run_file(file).one() == 2
    assert out.getvalue() == "runs\n"


def test_a_file_finds_the_modules_beside_it(tmp_path):
    (tmp_path / "helping.spl").write_text("fn help_out(): 42\n")
    (tmp_path / "needing.spl").write_text("use helping\nfn answer(): helping.help_out()\n")
    assert run_file(tmp_path / "needing.spl").answer() == 42


# ---- threads and ends


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


ENDS = {
    "threads of Simple run on": "m.begin()",
    "threads of Simple call Python": "m.begin_calling(lambda: None)",
    "objects and functions are kept": "import builtins; builtins.kept = [m.Kept(), m.five]",
    "a deleter of Simple's runs late": "import sys; sys.kept = m.Kept()",
    "Simple prints at the end": "import atexit; atexit.register(m.say)",
    "a daemon thread of Python calls Simple": """
import threading
def loop():
    while True: m.five()
threading.Thread(target=loop, daemon=True).start()
import time; time.sleep(0.1)""",
}


@pytest.mark.parametrize("state", ENDS)
def test_python_ends_cleanly(state):
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
fn say(): print "said"
''')
{ENDS[state]}
print("end")
"""
    done = program(source)
    assert done.stdout == ("end\nsaid\n" if "prints" in state else "end\n")
    assert done.stderr == ""


STOPPED = {
    "Simple's own loop": "while true: 1 + 1",
    "a loop of native calls": "val a = torch.ones([200, 200])\n    while true: a.matmul(a)",
    "a loop of Python's": 'py.exec("while True: pass")',
}


@pytest.mark.parametrize("loop", STOPPED)
def test_ctrl_c_stops_what_runs_and_leaves_nothing_behind(loop):
    source = f"use torch\nuse python as py\nfn work():\n    {STOPPED[loop]}\nfn five(): 5"
    module = run(source)
    pressed = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    pressed.start()
    with pytest.raises(KeyboardInterrupt):
        module.work()
    pressed.join()
    assert module.five() == 5
    time.sleep(0.05)  # where a second KeyboardInterrupt would come
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)  # Python's own again


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
