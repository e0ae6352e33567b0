"""The time of these programs grows with the size of their data, not with its square.

Each program runs for n and for 8 n. A program whose time is quadratic takes 64 times as long for 8 n.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from programs import TIME_LIMIT_S, host

LIMIT = 30  # times as long for 8 n
FILL = "    var q = [for i in 0..n: (i, i + 1)]\n    var s = 0\n"
PROGRAMS = {
    "the first element is sliced off": (
        50_000,
        "fn run(n):\n" + FILL + "    while q.len() > 0:\n        s += q[0][0]\n        q = q[1:]\n    print s\n",
    ),
    "the first element is removed": (
        100_000,
        "fn run(n):\n" + FILL + "    while q.len() > 0:\n        s += q.remove(0)[0]\n    print s\n",
    ),
    "the first element is popped": (
        100_000,
        "fn run(n):\n" + FILL + "    while q.len() > 0:\n        s += q.pop(0)[0]\n    print s\n",
    ),
    "a queue is sliced and pushed to": (
        50_000,
        "fn run(n):\n" + FILL + "    for i in 0..n:\n        s += q[0][0]\n        q = q[1:]\n"
        "        q.push((i, i))\n    print s\n",
    ),
    "a queue in a field is sliced": (
        50_000,
        "class Queue:\n    items: [any]\n    me fn next():\n        val first = self.items[0]\n"
        "        self.items = self.items[1:]\n        return first\n"
        "fn run(n):\n    val q = Queue(items: [for i in 0..n: i])\n    var s = 0\n"
        "    for _ in 0..n:\n        s += q.next()\n    print s\n",
    ),
    "a pattern takes the rest": (
        50_000,
        "fn run(n):\n    var q = [for i in 0..n: i]\n    var s = 0\n    while q.len() > 0:\n"
        "        match q:\n            case [first, ...rest]:\n                s += first\n                q = rest\n"
        "    print s\n",
    ),
    "a function changes its argument and returns it": (
        50_000,
        "fn added(xs, i):\n    xs.push(i)\n    return xs\n"
        "fn run(n):\n    var xs = []\n    for i in 0..n:\n        xs = added(xs, i)\n    print xs.len()\n",
    ),
    "a function changes its dict and returns it": (
        20_000,
        "fn added(d, i):\n    d[i] = i\n    return d\n"
        "fn run(n):\n    var d = {}\n    for i in 0..n:\n        d = added(d, i)\n    print d.len()\n",
    ),
    "the body of the program reassigns a variable": (
        50_000,
        "fn added(xs, i):\n    xs.push(i)\n    return xs\n"
        "fn run(n): pass\n"
        "var xs = []\nfor i in 0..SIZE:\n    xs = added(xs, i)\nprint xs.len()\n",
    ),
    "a text is reversed": (
        30_000,
        'fn run(n):\n    val text = "ab" * n\n    print text.reverse()[0]\n',
    ),
    "a step leaves out most of a range": (
        1,
        "fn run(n):\n    var s = 0\n    for x in (0..n * 100000000000).step(100000000):\n        s += 1\n"
        "        if s == 1000:\n            break\n    print s\n",
    ),
}


def seconds_of(program: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([host(), program], check=True, capture_output=True, timeout=TIME_LIMIT_S)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def assert_linear(small: Path, large: Path) -> None:
    """The least of three runs of each, less what starting the host takes."""
    empty = small.with_name("empty.spl")
    empty.write_text("print 1\n")
    start, first, last = (min(seconds_of(path) for _ in range(3)) for path in (empty, small, large))
    assert last - start <= LIMIT * max(first - start, 0.005), f"{first - start:.3f} s, then {last - start:.3f} s"


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_time_is_linear_when(tmp_path: Path, name: str) -> None:
    size, program = PROGRAMS[name]
    paths = tmp_path / "small.spl", tmp_path / "large.spl"
    for path, n in zip(paths, (size, 8 * size), strict=True):
        path.write_text(program.replace("SIZE", str(n)) + f"run({n})\n")
    assert_linear(*paths)


@pytest.mark.parametrize(
    "entry", ['"key {i}": {i}', "{i}: {i}.25", '"key {i}": ["a {i}", {i}.5]'], ids=["texts", "floats", "arrays"]
)
def test_the_time_is_linear_for_the_literal_of_a_dict(tmp_path: Path, entry: str) -> None:
    paths = tmp_path / "small.spl", tmp_path / "large.spl"
    for path, n in zip(paths, (25_000, 200_000), strict=True):
        entries = ",\n".join("    " + entry.replace("{i}", str(i)) for i in range(n))
        path.write_text(f"val d = {{\n{entries}\n}}\nprint d.len()\n")
    assert_linear(*paths)


def test_a_dict_literal_may_have_a_million_entries(tmp_path: Path) -> None:
    program = tmp_path / "program.spl"
    entries = ", ".join(f'"k{i}": {i}.5' for i in range(1_000_000))
    program.write_text(f'val d = {{{entries}}}\nvar x = 7\nx = x + 1.25\nprint d.len(), d["k999999"], d["k0"], x\n')
    ended = subprocess.run([host(), program], capture_output=True, text=True, timeout=TIME_LIMIT_S, check=True)
    assert ended.stdout == "1000000 999999.5 0.5 8.25\n"


def memory_of(command: list[str | Path]) -> int:
    """The largest resident size of a command in bytes, as GNU time would report it."""
    code = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)"
    )
    return int(
        subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=True).stdout
    )


@pytest.mark.parametrize(
    "program",
    [
        "val flags = [true; 3000000]",
        "val flags = [true] * 3000000",
        "val flags = [for i in 0..3000000: i % 2 == 0]",
        "var flags = []\nfor i in 0..3000000:\n    flags.push(i % 3 == 0)",
    ],
)
def test_three_million_booleans_take_one_byte_each(tmp_path: Path, program: str) -> None:
    paths = tmp_path / "small.spl", tmp_path / "large.spl"
    paths[0].write_text(program.replace("3000000", "1000") + "\nprint flags.len()\n")
    paths[1].write_text(program + "\nprint flags.len()\n")
    small, large = (memory_of([host(), path]) for path in paths)
    assert large - small <= 3 * 3_000_000  # growth doubles the buffer, and the old one is copied
