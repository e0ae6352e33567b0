"""simple_torch.Session: cells of Simple that share their variables with a Python dict."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")
PACKAGES = str(Path(__file__).resolve().parents[2] / "python")
sys.path.insert(0, PACKAGES)
import simple_torch  # noqa: E402


@pytest.fixture
def names() -> dict[str, Any]:
    return {}


@pytest.fixture
def session(names: dict[str, Any]) -> Any:
    opened = simple_torch.Session(names)
    yield opened
    opened.close()


def test_the_last_expression_is_the_result(session: Any) -> None:
    assert session.run("1 + 2") == 3
    assert session.run("val x = 4\nx * 2") == 8
    assert session.run("val y = 5") is None
    assert session.run("") is None
    assert session.run("if true: 3") is None, "a statement by its look"
    assert session.evaluate("x + y") == 9


def test_variables_are_shared_in_both_directions(session: Any, names: dict[str, Any]) -> None:
    session.run("val a = 1\nvar b = 'text'")
    assert (names["a"], names["b"]) == (1, "text")
    exec("c = a + 1\nb = 2.5", names)
    assert session.run("(c, b)") == (2, 2.5)
    exec("del c", names)
    with pytest.raises(NameError, match="'c' is not defined"):
        session.run("c")


def test_functions_see_later_values_of_the_other_language(session: Any, names: dict[str, Any]) -> None:
    names["scale"] = 2
    session.run("fn scaled(x): x * scale\nvar total = 0\nfn add(x): total = total + x")
    assert names["scaled"](10) == 20
    names["scale"] = 3
    assert names["scaled"](10) == 30, "a call from Python"
    assert session.run("scaled(10)") == 30, "a cell"
    exec("add(4)\nassert total == 4, total\nadd(5)\nassert total == 9, total", names)


def test_python_functions_see_values_that_the_running_cell_assigned(session: Any, names: dict[str, Any]) -> None:
    exec("def read(): return rate\ndef write(value):\n    global rate\n    rate = value", names)
    assert session.run("rate = 1\nval first = read()\nrate = 2\n(first, read())") == (1, 2)
    assert session.run("write(7)\nrate") == 7
    assert session.run("var seen = []\nfor i in 0..3:\n    write(i)\n    seen.push(rate)\nseen") == [0, 1, 2]


def test_definitions_can_be_repeated_and_old_objects_keep_working(session: Any, names: dict[str, Any]) -> None:
    session.run("fn g(): f() + 1\nfn f(): 1")
    assert session.run("g()") == 2
    session.run("fn f(): 10")
    assert session.run("g()") == 11
    session.run("class P:\n    v: i64\n    fn show(): self.v\nval p = P(v: 4)")
    session.run("class P:\n    v: i64\n    fn show(): self.v * 100\nval q = P(v: 4)")
    assert session.run("(p.show(), q.show())") == (4, 400)
    assert (names["p"].show(), names["q"].show()) == (4, 400)
    session.run("val p = 1")
    session.run("var p = 2\np = 3")
    assert names["p"] == 3
    session.run("enum Color: Red, Green")
    session.run("enum Color: Blue")
    assert session.run('"{Color.Blue}"').endswith("Blue")


def test_a_val_stays_fixed_until_it_is_declared_again(session: Any) -> None:
    session.run("val fixed = 1")
    with pytest.raises(SyntaxError, match="cannot assign to immutable variable 'fixed'"):
        session.run("fixed = 2")
    session.run("var fixed = 1")
    session.run("fixed = 2")
    assert session.run("fixed") == 2


def test_a_cell_that_does_not_compile_changes_nothing(session: Any, names: dict[str, Any]) -> None:
    session.run("fn f(): 1\nval x = 1\nuse std.math")
    for cell in [
        "fn f(): 2\nval x = ",
        "fn f(): 2\nx = 3",
        "class f:\n    a: i64\nfn f(): 3",
        "fn f(): 2\nuse no.such",
    ]:
        with pytest.raises((SyntaxError, RuntimeError, ModuleNotFoundError)):
            session.run(cell)
        assert session.run("(f(), x)") == (1, 1)
    assert names["f"]() == 1


def test_a_cell_that_fails_keeps_what_it_did(session: Any, names: dict[str, Any]) -> None:
    with pytest.raises(RuntimeError, match="boom"):
        session.run("val before = 1\nfn f(): 5\npanic('boom')\nval after = 2", "cell 3")
    assert names["before"] == 1 and names["f"]() == 5 and "after" not in names


def test_errors_name_the_cell_and_the_line(session: Any) -> None:
    session.run("fn fail():\n    panic('boom')", "cell 1")
    with pytest.raises(RuntimeError) as failure:
        session.run("val x = 1\nfail()", "cell 2")
    note = failure.value.__notes__[0]
    assert "fail (cell 1:2:5)" in note and "module (cell 2:2:1)" in note and "panic('boom')" in note
    with pytest.raises(SyntaxError, match="cell 3:2:8: error"):
        session.run("val x = 1\nval y =", "cell 3")


def test_tensors_and_arrays_are_the_same_memory(session: Any, names: dict[str, Any]) -> None:
    names["t"] = torch.arange(4.0)
    names["array"] = np.arange(3)
    assert session.run("t.data_ptr()") == names["t"].data_ptr()
    assert session.run("array") is names["array"]
    session.run("use torch\nval made = torch.ones([2])\nt[0] = 42.0")
    assert names["t"][0] == 42
    names["made"][1] = 7
    assert session.run("made[1].item()") == 7
    assert session.run("made.data_ptr()") == names["made"].data_ptr()


def test_collections_of_simple_are_copies_whose_changes_are_taken_over(session: Any, names: dict[str, Any]) -> None:
    session.run("var xs = [1, 2]\nval d = {'a': [1]}")
    assert names["xs"] == [1, 2]
    session.run("xs.push(3)\nxs[0] = 9")
    assert names["xs"] == [9, 2, 3]
    exec("xs.append(4)\nd['a'].append(2)\nd['b'] = 3", names)
    assert session.run("xs") == [9, 2, 3, 4]
    assert session.run("d") == {"a": [1, 2], "b": 3}
    assert session.run("(type_of(xs), type_of(d))") == ("array", "dict")


def test_lists_of_python_stay_the_same_objects(session: Any, names: dict[str, Any]) -> None:
    names["log"] = []
    session.run("log.append(1)")
    assert names["log"] == [1]
    assert session.run("log") is names["log"]


def test_large_collections_are_copied_at_the_end_of_a_cell(session: Any, names: dict[str, Any]) -> None:
    exec("def size(): return len(many)", names)
    session.run("var many = [for i in 0..2000: i]")
    assert session.run("many.push(1)\nsize()") == 2000
    assert len(names["many"]) == 2001


def test_imports_belong_to_the_cells(session: Any, names: dict[str, Any]) -> None:
    names["torch"] = torch
    assert session.run("torch") is torch, "a Python module, as no cell imported one of this name"
    session.run("use torch\nuse std.math.{sqrt}")
    assert names["torch"] is torch and "sqrt" not in names
    assert session.run("torch.ones([2]).sum().item() + sqrt(4.0)") == 4
    names["sqrt"] = lambda x: -1
    assert session.run("sqrt(4.0)") == 2
    session.run("val sqrt = 5")
    assert names["sqrt"] == 5


def test_hidden_names(names: dict[str, Any]) -> None:
    names.update(_private=1, In=[1], shown=2)
    session = simple_torch.Session(names, hidden={"In"})
    assert session.run("shown") == 2
    for name in ("_private", "In"):
        with pytest.raises(NameError, match="is not defined"):
            session.run(name)
    session.close()


def test_two_sessions_are_separate_unless_they_share_a_dict(names: dict[str, Any]) -> None:
    one, two, other = simple_torch.Session(names), simple_torch.Session(names), simple_torch.Session()
    one.run("val x = 1")
    assert two.run("x") == 1
    with pytest.raises(NameError, match="'x' is not defined"):
        other.run("x")
    for session in (one, two, other):
        session.close()


def test_the_end_of_one_session_is_not_that_of_another_one_with_the_same_dict(names: dict[str, Any]) -> None:
    one, two = simple_torch.Session(names), simple_torch.Session(names)
    one.run("var x = 1\nfn set(v): x = v")
    two.close()
    names["set"](5)
    assert names["x"] == 5
    one.close()


def test_a_closed_session_no_longer_copies(names: dict[str, Any]) -> None:
    session = simple_torch.Session(names)
    session.run("var x = 1\nfn set(v): x = v\nfn get(): x")
    session.close()
    names["set"](5)
    assert names["x"] == 1 and names["get"]() == 5


def test_a_cell_may_run_a_cell(session: Any, names: dict[str, Any]) -> None:
    names["nested"] = lambda: session.run("val inner = 3\ninner + 1", "inner cell")
    assert session.run("val outer = nested()\nouter + inner") == 7
    assert (names["inner"], names["outer"]) == (3, 4)


def test_exit_is_an_exception_and_the_session_remains(session: Any) -> None:
    with pytest.raises(SystemExit) as request:
        session.run("val x = 1\nexit(3)")
    assert request.value.code == 3
    assert session.run("x") == 1


def test_threads_share_the_variables(session: Any, names: dict[str, Any]) -> None:
    session.run("var count = 0\nfn add():\n    count = count + 1")
    threads = [threading.Thread(target=lambda: [names["add"]() for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert session.run("count") == 200
    assert names["count"] == 200


def test_exceptions_pass_unchanged_through_the_copying(session: Any, names: dict[str, Any]) -> None:
    error = ValueError("mine")

    def fail() -> None:
        names["state"] = 2
        raise error

    names.update(fail=fail, state=1)
    with pytest.raises(ValueError, match="mine") as failure:
        session.run("val before = state\nfail()")
    assert failure.value is error
    assert session.run("(before, state)") == (1, 2)


def test_names_members_and_signatures(session: Any) -> None:
    session.run('use torch\nclass P:\n    v: i64\nval p = P(v: 1)\nfn f(a, b: i64 = 2):\n    """Adds."""\n    a + b')
    assert {"torch", "P", "p", "f", "print"} <= set(session.names())
    assert "v" in session.members("p") and "relu" in session.members("torch") and session.members("absent.x") == []
    assert session.members("p.absent") == session.members("p.v.absent")
    name, documentation, *_, parameters = session.signature("f")
    assert (name, documentation) == ("f", "Adds.") and [part[0] for part in parameters] == ["a", "b"]
    assert session.signature("p") is None and session.signature("absent") is None


def test_modules_of_text_import_each_other(session: Any) -> None:
    simple_torch.run("fn twice(x): 2 * x\nval base = 5", name="helpers_of_text")
    outer = simple_torch.run("use helpers_of_text.{twice}\nuse helpers_of_text\nval x = twice(helpers_of_text.base)")
    assert outer.x == 10
    assert session.run("use helpers_of_text.twice\ntwice(4)") == 8
    simple_torch.run("fn twice(x): 20 * x", name="helpers_of_text")
    assert simple_torch.run("use helpers_of_text.*\nval x = twice(1)").x == 20
    simple_torch.run("val only = 1")
    with pytest.raises(ModuleNotFoundError, match="no module named 'source'"):
        simple_torch.run("use source")


def test_bad_arguments(session: Any) -> None:
    with pytest.raises(TypeError, match="source must be a str"):
        session.run(b"1")
    with pytest.raises(ValueError, match="NUL"):
        session.run("1\0")


INTERRUPTED = """
import _thread, signal, threading, simple_torch
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in jobs in the background
session = simple_torch.Session({})
session.run("var count = 0")
threading.Timer(0.3, _thread.interrupt_main).start()
try:
    session.run("while true: count = count + 1")
    raise SystemExit("not interrupted")
except KeyboardInterrupt:
    pass
assert session.namespace["count"] > 0
assert session.run("count") == session.namespace["count"]
"""


def test_an_interrupt_stops_the_cell_and_keeps_the_state() -> None:
    environment = {**os.environ, "PYTHONPATH": PACKAGES}
    subprocess.run([sys.executable, "-c", INTERRUPTED], env=environment, check=True, timeout=60)


def test_a_session_shows_defaults_that_later_cells_cannot_change():
    session = simple_torch.Session()
    session.run('use python as py\nval fractions = py.import("fractions")\nval LIMIT = 3')
    session.run("fn f(a = LIMIT, b = fractions.Fraction(1, 2)): (a, b)")
    half = session.run("f").__defaults__[1]
    assert str(half) == "1/2"
    assert repr(session.run("f").__defaults__[0]) == "..."
    session.run("val LIMIT = 5")
    assert session.run("f")() == (5, half)


def test_underscore_is_a_variable_outside_of_arguments():
    namespace = {"_": 42, "_private": 1}
    session = simple_torch.Session(namespace)
    assert session.run("_ + 1") == 43
    assert session.run("[1, 2].map(_ * 10)") == [10, 20]  # in an argument it is a placeholder
    with pytest.raises(NameError, match="'_private' is not defined"):
        session.run("_private")
