"""Methods that call functions for each element, and input(): they stop for an interrupt and let other threads run."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
from pathlib import Path

import pytest

from programs import TIME_LIMIT_S, host

LONG = "(0..1000000000000)"
LOOPS = {
    "each": f"{LONG}.each(\\i: nil)",
    "filter": f"{LONG}.filter(\\i: false)",
    "map": f"{LONG}.map(\\i: nil)",
    "all": f"{LONG}.all(\\i: true)",
    "any": f"{LONG}.any(\\i: false)",
    "find": f"{LONG}.find(\\i: false)",
    "reduce": f"{LONG}.reduce(0, \\a, b: a)",
    "count": f"{LONG}.count(\\i: false)",
    "sum": f"{LONG}.step(1).sum()",
    "max": f"{LONG}.max()",
    "min_by": f"{LONG}.min_by(\\i: i)",
    "skip_while": f"{LONG}.skip_while(\\i: true)",
    "sort": "[for i in 0..200: i].sort(\\a, b: (0..1000000000000).all(\\i: true))",
    "a step": "(0..1000000000000).step(2).each(\\i: nil)",
}


def start(program: Path, code: str) -> subprocess.Popen[str]:
    program.write_text(f'use std.host.{{rt_flush}}\nprint "ready"\nrt_flush()\n{code}\n')
    return subprocess.Popen(
        [host(), program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("loop", LOOPS)
def test_the_first_interrupt_ends(tmp_path: Path, loop: str) -> None:
    with start(tmp_path / "program.spl", LOOPS[loop]) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=TIME_LIMIT_S)
    assert running.returncode == 130, errors


@pytest.mark.parametrize("loop", ["each", "filter", "all", "sum", "sort"])
def test_another_thread_runs_during(tmp_path: Path, loop: str) -> None:
    code = f"async fn other():\n    exit(7)\nval future = other()\n{LOOPS[loop]}"
    with start(tmp_path / "program.spl", code) as running:
        running.communicate(timeout=TIME_LIMIT_S)
    assert running.returncode == 7


def test_an_interrupt_ends_json_dumps(tmp_path: Path) -> None:
    code = "use std.json\nval row = [for i in 0..1000000: i]\nloop: json.dumps([row] * 1000)"
    with start(tmp_path / "program.spl", code) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=TIME_LIMIT_S)
    assert running.returncode == 130


def test_an_interrupt_ends_input(tmp_path: Path) -> None:
    with start(tmp_path / "program.spl", "input()") as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=TIME_LIMIT_S) == 130  # with standard input open


READ_ALL = r"""
var lines = []
while let Some(line) = input():
    lines.push(line)
print lines.len(), lines.map(\l: l.len()), input()
"""


@pytest.mark.parametrize("content", ["", "\n", "a\n\nb", "a\nlast\n", "é" * 70000 + "\nz"])
def test_input_is_nil_at_the_end_and_empty_for_an_empty_line(tmp_path: Path, content: str) -> None:
    program = tmp_path / "program.spl"
    program.write_text(READ_ALL)
    ended = subprocess.run(
        [host(), program], input=content, capture_output=True, text=True, timeout=TIME_LIMIT_S, check=True
    )
    expected = content.split("\n")
    expected = expected[:-1] if expected[-1] == "" else expected
    assert ended.stdout == f"{len(expected)} {[len(line) for line in expected]} nil\n"


def test_threads_read_one_line_each(tmp_path: Path) -> None:
    program = tmp_path / "program.spl"
    program.write_text(
        "async fn line(): input()\nval futures = [for _ in 0..3: line()]\nvar lines = []\n"
        "for f in futures:\n    lines.push(await f)\nprint lines.sorted()\n"
    )
    ended = subprocess.run(
        [host(), program], input="a\nb\nc\n", capture_output=True, text=True, timeout=TIME_LIMIT_S, check=True
    )
    assert ended.stdout == "[a, b, c]\n"


def test_input_reads_a_line_of_a_terminal(tmp_path: Path) -> None:
    program = tmp_path / "program.spl"
    program.write_text('print input("name: ")\nprint input()\n')
    controller, terminal = pty.openpty()
    with subprocess.Popen([host(), program], stdin=terminal, stdout=subprocess.PIPE, text=True) as running:
        os.close(terminal)
        os.write(controller, b"Ada\n\x04")
        output, _ = running.communicate(timeout=TIME_LIMIT_S)
    os.close(controller)
    assert output == "name: Ada\nnil\n"


def test_a_line_printed_before_input_arrives_before_the_input(tmp_path: Path) -> None:
    """A program that is asked through pipes, line by line."""
    program = tmp_path / "program.spl"
    program.write_text('var line = input()\nwhile line != nil:\n    print "got {line}"\n    line = input()\n')
    with subprocess.Popen([host(), program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdin is not None and running.stdout is not None
        for word in (b"one", b"two"):
            running.stdin.write(word + b"\n")
            running.stdin.flush()
            assert select.select([running.stdout], [], [], TIME_LIMIT_S)[0]
            assert running.stdout.readline() == b"got " + word + b"\n"
        running.stdin.close()
        assert running.wait(timeout=TIME_LIMIT_S) == 0
