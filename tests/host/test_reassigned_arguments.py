"""`xs = f(xs)` and slices, against Python's lists with a copy at each assignment: the value semantics of Simple."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from programs import TIME_LIMIT_S, host

FUNCTIONS = """
fn pushed(xs, x):
    xs.push(x)
    return xs
fn changed(xs, x):
    if xs.len() > 0:
        xs[x % xs.len()] = x
    return xs
fn both(xs, ys):
    xs.push(1)
    ys.push(2)
    return xs + ys
fn same(xs): xs
fn shorter(xs): xs[1:]
fn second(xs, ys):
    xs.push(7)
    return ys
struct Point:
    x: i64
    log: [i64]
    fn moved(by):
        var copy = self
        copy.x = copy.x + by
        copy.log.push(by)
        return copy
fn grown(p):
    p.log.push(5)
    return p
"""
VARIABLES = "abc"


def pushed(xs: list[int], x: int) -> list[int]:
    return [*xs, x]


def changed(xs: list[int], x: int) -> list[int]:
    made = list(xs)
    if made:
        made[x % len(made)] = x
    return made


class Model:
    """The statements of a random program, and the lists that they leave in Python."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lists: dict[str, list[int]] = {name: list(range(40)) for name in VARIABLES}
        self.lines: list[str] = []
        self.expected: list[str] = []

    def step(self) -> None:
        target, source, other = (self.random.choice(VARIABLES) for _ in range(3))
        if self.random.random() < 0.6:
            source = target
        x = self.random.randrange(50)
        a, b = self.lists[source], self.lists[other]
        forms: list[tuple[str, list[int]]] = [
            (f"pushed({source}, {x})", pushed(a, x)),
            (f"changed({source}, {x})", changed(a, x)),
            (f"both({source}, {other})", ([*a, 1] + [*b, 2])[-60:]),
            (f"same({source})", a),
            (f"shorter({source})", a[1:]),
            (f"second({source}, {other})", b),
            (f"pushed(pushed({source}, {x}), {other}.len())", [*a, x, len(b)]),
            (f"pushed({source}, {source}.len())", [*a, len(a)]),
            (f"{source}[1:]", a[1:]),
            (f"{source}[:-1]", a[:-1]),
            (f"{source}[2:] + {other}[:3]", a[2:] + b[:3]),
            (f"{source}", a),
        ]
        value, made = self.random.choice(forms)
        if value.startswith("both"):
            value = f"({value})[-60:]"
        self.lines.append(f"{target} = {value}")
        self.lists[target] = list(made)
        if self.random.random() < 0.3 and self.lists[other]:
            self.lists[other].pop(0)
            self.lines.append(f"{other}.remove(0)")
        if self.random.random() < 0.3:
            self.lists[other].append(x)
            self.lines.append(f"{other}.push({x})")
        self.lines.append("print " + ", ".join(VARIABLES))
        self.expected.append(" ".join(str(self.lists[name]) for name in VARIABLES))


def run(tmp_path: Path, program: str) -> str:
    path = tmp_path / "program.spl"
    path.write_text(program)
    ended = subprocess.run([host(), path], capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def declarations(indent: str) -> str:
    return "".join(f"{indent}var {name} = [for i in 0..40: i]\n" for name in VARIABLES)


@pytest.mark.parametrize("place", ["function", "module"])
@pytest.mark.parametrize("seed", range(20))
def test_random_reassignments_equal_those_of_copies(tmp_path: Path, seed: int, place: str) -> None:
    model = Model(seed)
    for _ in range(150):
        model.step()
    indent = "    " if place == "function" else ""
    body = declarations(indent) + "".join(f"{indent}{line}\n" for line in model.lines)
    text = f"fn run():\n{body}run()\n" if place == "function" else body
    assert run(tmp_path, FUNCTIONS + text).splitlines() == model.expected


CASES = {
    "a with block handles the error": (
        """
class Handler:
    fn __enter__(): self
    fn __exit__(error) -> bool: true
fn fails(xs):
    xs.push(1)
    return xs[100]
fn run():
    var xs = [0]
    with Handler():
        xs = fails(xs)
    print xs
run()
var ys = [0]
with Handler():
    ys = fails(ys)
print ys
""",
        "[0]\n[0]\n",
    ),
    "the variable is passed twice": (
        """
fn two(xs, ys):
    xs.push(1)
    return (xs, ys)
fn run():
    var xs = [0]
    xs = two(xs, xs)
    print xs
run()
""",
        "([0, 1], [0])\n",
    ),
    "a closure shares the variable": (
        """
fn run():
    var xs = [0]
    val length = \\: xs.len()
    fn added(a):
        a.push(1)
        a.push(length())
        return a
    xs = added(xs)
    print xs
run()
""",
        "[0, 1, 1]\n",
    ),
    "the function reads the variable of the module": (
        """
var xs = [0]
fn added(a):
    a.push(1)
    a.push(xs.len())
    return a
xs = added(xs)
print xs
""",
        "[0, 1, 1]\n",
    ),
    "a lambda reads the variable of the module": (
        """
var xs = [0]
val length = \\: xs.len()
fn added(a):
    a.push(1)
    a.push(length())
    return a
xs = added(xs)
print xs
""",
        "[0, 1, 1]\n",
    ),
    "attempt() catches the error of the function": (
        """
fn fails(a):
    a.push(1)
    panic("no")
var xs = [0]
val failed = attempt(\\: fails(xs))
print xs, failed.is_err()
""",
        "[0] true\n",
    ),
    "deferred code reads the variable": (
        """
fn fails(a):
    a.push(1)
    panic("no")
fn run():
    var xs = [0]
    defer: print xs
    xs = fails(xs)
print attempt(run).is_err()
""",
        "[0]\ntrue\n",
    ),
    "another variable has the value": (
        """
fn added(a):
    a.push(1)
    return a
fn run():
    var xs = [0]
    val ys = xs
    xs = added(xs)
    print xs, ys
run()
""",
        "[0, 1] [0]\n",
    ),
    "a method returns the changed struct": (
        """
fn run():
    var p = Point(x: 1, log: [])
    val before = p
    for i in 0..3:
        p = p.moved(i)
        p = grown(p)
    print p.x, p.log, before.x, before.log
run()
""",
        "4 [0, 5, 1, 5, 2, 5] 1 []\n",
    ),
    "a loop iterates over the variable": (
        """
fn added(a, x):
    a.push(x)
    return a
fn run():
    var xs = [1, 2]
    for x in xs:
        xs = added(xs, x)
    print xs
run()
""",
        "[1, 2, 1, 2]\n",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_values_are_those_of_copies_when(tmp_path: Path, name: str) -> None:
    program, expected = CASES[name]
    assert run(tmp_path, FUNCTIONS + program) == expected


def test_the_function_changes_the_array_in_place(tmp_path: Path) -> None:
    program = (
        'class Probe:\n    name: text\n    fn drop(): print "dropped " + self.name\n'
        'fn emptied(xs):\n    xs.clear()\n    print "cleared"\n    return xs\n'
        'fn run():\n    var xs = [Probe(name: "a")]\n    xs = emptied(xs)\n    print "end"\nrun()\n'
    )
    assert run(tmp_path, program) == "dropped a\ncleared\nend\n"


def test_a_slice_keeps_no_element_alive(tmp_path: Path) -> None:
    program = (
        'class Probe:\n    name: i64\n    fn drop(): print "dropped {self.name}"\n'
        'fn run():\n    var xs = [for i in 0..100: Probe(name: i)]\n    xs = xs[2:]\n    print "sliced"\n'
        '    xs = xs[:96]\n    print "ends"\n    print xs.len()\nrun()\n'
    )
    lines = run(tmp_path, program).splitlines()
    assert lines[:6] == ["dropped 0", "dropped 1", "sliced", "dropped 98", "dropped 99", "ends"]


def test_a_cycle_through_slices_is_collected(tmp_path: Path) -> None:
    program = (
        'class Node:\n    items: [any]\n    fn drop(): print "dropped"\n'
        "fn run():\n    val node = Node(items: [])\n    var items = [for i in 0..100: node]\n"
        "    val rest = items[1:]\n    node.items = items[2:]\n    return rest[0..60]\n"
        "fn make(n):\n    for _ in 0..n:\n        run()\n"
        "val kept = run()\nmake(300)\nfor i in 0..30000:\n    val n = Node(items: [])\n    n.items = [n]\n"
        "print kept[59].items.len()\n"
    )
    lines = run(tmp_path, program.replace('    fn drop(): print "dropped"\n', "")).splitlines()
    assert lines == ["98"]
