"""Reference cycles through both languages: what stays, and how a program avoids it. docs/python.md describes it."""

from __future__ import annotations

import os
import subprocess

import pytest

HOST = os.environ.get("SIMPLE_HOST", "")
pytestmark = pytest.mark.skipif(not HOST, reason="SIMPLE_HOST is not set")
pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)

COUNT = 100
PROGRAM = """
use python as py
use std.host.{rt_collect_cycles}
py.exec(\"\"\"
import gc, weakref
class Node: pass
made = weakref.WeakSet()
def node():
    one = Node()
    made.add(one)
    return one
def alive():
    gc.collect()
    return len(made)
\"\"\")
val main = py.import("__main__")
class Holder:
    node: any = nil
    fn touch(x): x
CASE
for _ in 0..COUNT: make()
py.eval("None")    # the next call of Python releases what is queued
rt_collect_cycles()
print main.alive().to_int()
"""
OBJECTS_THAT_STAY = {
    "an object in each other": (
        COUNT,
        """
fn make():
    val holder = Holder(node: main.node())
    holder.node.owner = holder
""",
    ),
    "a function that captures its owner": (
        COUNT,
        """
fn make():
    val node = main.node()
    node.callback = \\: node
""",
    ),
    "no cycle": (
        0,
        """
fn make():
    val node = main.node()
    node.callback = \\x: x
    Holder(node: node)
    nil
""",
    ),
    "a cycle that the program breaks": (
        0,
        """
fn make():
    val holder = Holder(node: main.node())
    holder.node.owner = holder
    holder.node.owner = nil
""",
    ),
    "a hook that is removed": (
        0,
        """
val linear = py.import("torch.nn").Linear
fn make():
    val node = main.node()
    val layer = linear(1, 1)
    node.layer = layer
    val handle = layer.register_forward_hook(\\module, inputs, output: node.missing)
    handle.remove()
""",
    ),
    "a weak reference of Python": (
        0,
        """
val weakly = py.import("weakref").ref
fn make():
    val node = main.node()
    val reference = weakly(node)
    node.callback = \\: reference()
""",
    ),
    "a cycle in Python alone": (
        0,
        """
fn make():
    val node = main.node()
    node.itself = node
""",
    ),
    "a cycle in Simple alone, with an object of Python": (
        0,
        """
class Pair:
    other: any = nil
    node: any = nil
fn make():
    val pair = Pair(node: main.node())
    pair.other = Pair(other: pair)
""",
    ),
}


@pytest.mark.parametrize("case", OBJECTS_THAT_STAY)
def test_objects_that_stay_after(case, tmp_path):
    stay, code = OBJECTS_THAT_STAY[case]
    program = tmp_path / "program.spl"
    program.write_text(PROGRAM.replace("CASE", code).replace("COUNT", str(COUNT)))
    done = subprocess.run([HOST, program], capture_output=True, text=True, check=False, timeout=120)
    assert (done.stdout, done.stderr) == (f"{stay}\n", "")
