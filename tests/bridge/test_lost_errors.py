"""Errors that no code can catch: a hook that Python code has set receives them, or stderr."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from simple_torch import run

MODULE = run(
    """
use python as py
class Held:
    action: any
    fn drop(): self.action()
fn drop_one(action):
    val held = Held(action: action)
    nil
fn fails(): drop_one(\\: panic("broken"))
fn index(): drop_one(\\: [1][3])
fn leaves(): drop_one(\\: exit(3))
fn unfinished():
    defer panic("deferred")
    yield 1
fn leave_unfinished():
    for x in unfinished(): return x
"""
)


class Problem(Exception):
    pass


def raise_problem():
    raise Problem("from Python")


@pytest.fixture
def seen(monkeypatch):
    found = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: found.append((args.exc_value, repr(args.object))))
    return found


def test_a_failure_in_a_destructor_reaches_the_hook(seen):
    MODULE.fails()
    ((error, place),) = seen
    assert (type(error), str(error), place) == (RuntimeError, "broken", "<drop() of Held>")
    if sys.version_info >= (3, 11):
        assert "    drop (" in error.__notes__[0]


def test_the_exception_has_the_class_that_python_would_receive(seen):
    MODULE.index()
    assert type(seen[0][0]) is IndexError


def test_an_exception_of_python_is_the_same_object(seen):
    MODULE.drop_one(raise_problem)
    assert type(seen[0][0]) is Problem
    assert seen[0][0].__traceback__ is not None


def test_exit_in_a_destructor_reaches_the_hook(seen):
    """As sys.exit() in __del__ does: an embedded program cannot end the process."""
    assert MODULE.leaves() is None
    assert [(str(error), place) for error, place in seen] == [("exit(3) was called", "<drop() of Held>")]


def test_deferred_code_reaches_the_hook(seen):
    assert MODULE.leave_unfinished() == 1
    assert [(str(error), place) for error, place in seen] == [
        ("deferred", "<deferred code of an unfinished generator>")
    ]


def test_an_error_of_the_hook_does_not_stop_the_program(monkeypatch):
    def hook(args):
        raise ValueError("the hook is broken")

    monkeypatch.setattr(sys, "unraisablehook", hook)
    assert MODULE.fails() is None


def test_without_a_hook_the_error_is_a_warning_on_stderr(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "from simple_torch import run\n"
        "run('class Held:\\n    fn drop(): panic(\"broken\")\\nfn f():\\n    val h = Held()\\n    nil').f()\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2] / "python")}
    finished = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, timeout=120, check=True, env=environment
    )
    assert finished.stderr == "warning: error ignored in drop() of Held: broken (<source 1>:2)\n"
