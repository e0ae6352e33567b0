"""Python packages, processes and threads in a Simple program, without any settings."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

HOST = os.environ.get("SIMPLE_HOST", "")
pytestmark = pytest.mark.skipif(not HOST, reason="SIMPLE_HOST is not set")
pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)

# Worker processes import this module.
MODULE = """
import os
import torch

class Squares(torch.utils.data.Dataset):
    def __len__(self): return 20
    def __getitem__(self, i): return torch.tensor([i * i, os.getpid()])

def square(x): return x * x
"""


def printed(folder: Path, program: str, timeout: float = 240) -> list[str]:
    """The lines that a Simple program prints; Python can import the module `work`."""
    (folder / "work.py").write_text(MODULE)
    (folder / "program.spl").write_text("use torch\nuse python as py\n" + program)
    environment = {**os.environ, "PYTHONPATH": str(folder), "MPLBACKEND": "agg"}
    run = subprocess.run(
        [HOST, folder / "program.spl"], capture_output=True, text=True, check=False, timeout=timeout, env=environment
    )
    # Packages may warn, for example about few CPUs or missing CUDA; nothing may fail or leak.
    assert run.returncode == 0, run.stderr
    assert not any(word in run.stderr for word in ("Traceback", "leaked", "Exception ignored", "terminate")), run.stderr
    return run.stdout.splitlines()


@pytest.mark.parametrize("start", ["fork", "spawn", "forkserver"])
def test_a_data_loader_has_four_workers(tmp_path, start):
    program = f"""
val data = py.import("torch.utils.data")
val squares = py.import("work").Squares()
val loader = data.DataLoader(squares, batch_size: 5, num_workers: 4, multiprocessing_context: "{start}")
var seen = []
var workers = {{}}
for batch in loader:
    val rows = batch.to_tensor().tolist()
    for row in rows:
        seen.push(row[0])
        workers[row[1]] = true
print seen
print workers.len()
print workers.keys().contains(py.import("os").getpid().to_int())
"""
    assert printed(tmp_path, program) == [str([i * i for i in range(20)]), "4", "false"]


@pytest.mark.parametrize("start", ["fork", "spawn", "forkserver"])
def test_a_pool_of_processes_works(tmp_path, start):
    program = f"""
val pool = py.import("multiprocessing").get_context("{start}").Pool(2)
print pool.map(py.import("work").square, [1, 2, 3]).to_value()
pool.close()
pool.join()
"""
    assert printed(tmp_path, program) == ["[1, 4, 9]"]


MAIN = """
val builtins = py.import("builtins")
class Walk(builtins.object):
    steps: [i64] = []
    fn init(start): self.start = start
class Point:
    x: i64
    parts: any = nil
fn square(n): n * n
fn walked(walk):
    walk.steps.append(5)
    walk
fn right(point): Point(point.x + 1, [point.parts])
"""


def test_pickles_have_the_definitions_of_the_program(tmp_path):
    program = """
fn main():
    val pickle = py.import("pickle")
    val walk = pickle.loads(pickle.dumps(Walk(3)))
    print "{walk.start} {isinstance(walk, Walk)}"
    print pickle.loads(pickle.dumps(Point(3, (1, [2]))))
    print pickle.loads(pickle.dumps(square))(4)
    print py.try_call(pickle.dumps, \\x: x).unwrap_err().message().contains("Can't pickle")
"""
    assert printed(tmp_path, MAIN + program) == ["3 true", "Point(x: 3, parts: (1, [2]))", "16", "true"]


@pytest.mark.parametrize("start", ["fork", "spawn", "forkserver"])
def test_workers_find_the_definitions_of_the_program(tmp_path, start):
    program = f"""
fn main():
    with py.import("multiprocessing").get_context("{start}").Pool(1) as pool:
        print pool.map(square, [1, 2, 3])
        print pool.map(walked, [Walk(1)])[0].steps
        print pool.map(right, [Point(1)])
"""
    assert printed(tmp_path, MAIN + program) == ["[1, 4, 9]", "[5]", "[Point(x: 2, parts: [nil])]"]


@pytest.mark.parametrize("start", ["spawn", "forkserver"])
def test_workers_that_start_before_python_received_a_function_find_it(tmp_path, start):
    """The fork server keeps the environment variables of its start."""
    program = f"""
fn square(n): n * n
fn main():
    with py.import("multiprocessing").get_context("{start}").Pool(1) as pool:
        print pool.map(square, [1, 2, 3])
"""
    assert printed(tmp_path, program) == ["[1, 4, 9]"]


def test_subprocesses_run_the_environments_python(tmp_path):
    """Guards program_name and executable of the configuration: workers started the program itself instead of Python."""
    program = """
val sys = py.import("sys")
val done = py.import("subprocess").run([sys.executable, "-c", "import torch; print(torch.ones(2).sum().item())"],
    capture_output: true, text: true)
print done.stdout.to_text().trim()
"""
    assert printed(tmp_path, program) == ["2.0"]


def test_event_loops_threads_and_daemons_run_while_simple_computes(tmp_path):
    program = '''
py.exec("""
import asyncio, threading, time
ticks = []
def tick():
    while True:
        ticks.append(1)
        time.sleep(0.001)
threading.Thread(target=tick, daemon=True).start()
async def gathered(n):
    async def one(i):
        await asyncio.sleep(0.01)
        return i
    return await asyncio.gather(*(one(i) for i in range(n)))
""")
print py.run(py.eval("gathered")(5)).to_value()
var sum = 0
val before = py.eval("len(ticks)").to_int()
while py.eval("len(ticks)").to_int() < before + 5:
    for i in 0..10000: sum = sum + i
print sum > 0
'''
    assert printed(tmp_path, program) == ["[0, 1, 2, 3, 4]", "true"]


def test_pandas_reads_and_groups(tmp_path):
    pytest.importorskip("pandas")
    program = """
val pandas = py.import("pandas")
val frame = pandas.DataFrame({"kind": ["a", "b", "a"], "size": [1.0, 2.0, 4.0]})
print frame.groupby("kind")["size"].sum().to_dict().to_value()
val column = torch.from_dlpack(frame["size"].to_numpy(copy: true))
print column.sum().item()
"""
    assert printed(tmp_path, program) == ["{a: 5.0, b: 2.0}", "7.0"]


def test_matplotlib_plots_simple_tensors(tmp_path):
    pytest.importorskip("matplotlib")
    image = pytest.importorskip("PIL.Image")
    program = f"""
val plot = py.import("matplotlib.pyplot")
val (figure, axes) = (plot.figure(figsize: (2.0, 1.0), dpi: 100), plot.gca())
axes.plot(torch.linspace(0.0, 1.0, 10), torch.linspace(0.0, 1.0, 10) ** 2, color: "red")
axes.set_title("of Simple")
figure.savefig("{tmp_path}/figure.png")
"""
    assert printed(tmp_path, program) == []
    with image.open(tmp_path / "figure.png") as saved:
        assert saved.size == (200, 100)
        assert (255, 0, 0) in {pixel[:3] for pixel in saved.convert("RGB").get_flattened_data()}


def test_scikit_learn_calls_a_simple_function(tmp_path):
    pytest.importorskip("sklearn")
    program = """
val numpy = py.import("numpy")
val preprocessing = py.import("sklearn.preprocessing")
val doubled = preprocessing.FunctionTransformer(\\x: x * 2)
print doubled.fit_transform(numpy.array([[1.0, 2.0]])).tolist().to_value()
"""
    assert printed(tmp_path, program) == ["[[2.0, 4.0]]"]


def test_torch_compile_compiles(tmp_path):
    program = """
val compiled = py.import("torch").compile(py.eval("lambda x: (x * 2 + 1).relu()"))
print compiled(torch.tensor([-1.0, 2.0])).to_tensor().tolist()
"""
    assert printed(tmp_path, program) == ["[0.0, 5.0]"]


# ---- exit of the program

EXITING = '''
py.exec("""
import atexit, sys, threading, time
atexit.register(lambda: sys.stdout.write("at exit\\n"))
def later(f):
    def work():
        time.sleep(2)  # the program ends first, also on a busy machine
        sys.stdout.write(f"{f(20)}\\n")
    threading.Thread(target=work).start()
def call_in_thread(f):
    thread = threading.Thread(target=f)
    thread.start()
    thread.join()
""")
'''


def outcome(folder: Path, program: str) -> tuple[int, list[str], str]:
    (folder / "program.spl").write_text("use torch\nuse python as py\n" + EXITING + program)
    run = subprocess.run([HOST, folder / "program.spl"], capture_output=True, text=True, check=False, timeout=60)
    return run.returncode, run.stdout.splitlines(), run.stderr


@pytest.mark.parametrize(
    ("last", "code"), [('print "main ends"', 0), ('print "main ends"\nexit(3)', 3), ('print "main ends"\n[1][2]', 1)]
)
def test_threads_exit_functions_and_streams_finish(tmp_path, last, code):
    status, out, _ = outcome(tmp_path, 'py.eval("later")(\\x: x + 1)\n' + last)
    assert (status, out) == (code, ["main ends", "21", "at exit"])


def test_exit_in_a_function_that_python_calls_ends_the_program(tmp_path):
    assert outcome(tmp_path, 'py.eval("lambda f: f()")(\\: exit(5))\nprint "not reached"') == (5, ["at exit"], "")


def test_exit_on_a_thread_of_python_ends_the_program(tmp_path):
    assert outcome(tmp_path, 'py.eval("call_in_thread")(\\: exit(6))') == (6, ["at exit"], "")


def standard_error(folder: Path, program: str) -> str:
    (folder / "program.spl").write_text(f"use python as py\n{program}")
    done = subprocess.run([HOST, folder / "program.spl"], capture_output=True, text=True, check=True, timeout=100)
    return done.stderr


def test_python_warnings_have_the_hosts_format(tmp_path):
    warn = "py.exec(\"import warnings; warnings.warn('careful')\")"
    assert standard_error(tmp_path, warn) == "<simple>:1: warning: careful (UserWarning)\n"
    direct = 'py.import("warnings").warn("careful", py.eval("DeprecationWarning"), 5)'
    assert standard_error(tmp_path, f'py.import("warnings").simplefilter("always")\n{direct}').endswith(
        "warning: careful (DeprecationWarning)\n"
    )
    as_error = 'py.import("warnings").simplefilter("error")\nprint py.try_exec("warnings.warn(\'w\')").is_err()'
    assert standard_error(tmp_path, as_error) == ""


@pytest.mark.parametrize(
    ("call", "code", "message"), [("sys.exit(3)", 3, ""), ("sys.exit()", 0, ""), ("sys.exit('no')", 1, "no")]
)
def test_sys_exit_ends_the_program_with_its_code(tmp_path, call, code, message):
    (tmp_path / "program.spl").write_text(
        f'use python as py\nprint "before"\npy.exec("import sys; {call}")\nprint "after"\n'
    )
    done = subprocess.run([HOST, tmp_path / "program.spl"], capture_output=True, text=True, check=False, timeout=100)
    assert (done.returncode, done.stdout) == (code, "before\n")
    assert message in done.stderr if message else done.stderr == ""
