"""The exit codes of docs/command-line.md."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from programs import host, run

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs" / "command-line.md").read_text()


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("print 1", 0),
        ("use std.process.{exit}\nexit(7)", 7),
        ("fn main() -> i64: 5", 5),
        ("fn main(): 5.0", 0),
        ("val x = [1][3]", 1),
        ("val x = (", 1),
    ],
    ids=["success", "exit", "an integer from main", "another value from main", "an error", "a syntax error"],
)
def test_a_programs_exit_code(tmp_path, program, code):
    (tmp_path / "program.spl").write_text(f"{program}\n")
    assert run(tmp_path / "program.spl").returncode == code


def test_a_failed_test_is_1_and_wrong_usage_2(tmp_path):
    spec = tmp_path / "a_spec.spl"
    spec.write_text('use std.spec\ndescribe "a":\n    it "b":\n        expect(1).to_equal(2)\n')
    assert run("test", spec).returncode == 1
    for words in ((), ("--unknown",), ("test", "missing"), ("-e",)):
        assert run(*words).returncode == 2, words
    assert run(tmp_path / "missing.spl").returncode == 1


def test_output_that_cannot_be_written_is_1():
    with open("/dev/full", "w") as full:
        done = subprocess.run([host(), "-e", "print 1"], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1


def test_an_interrupt_is_130(tmp_path):
    (tmp_path / "program.spl").write_text('print "ready"\nwhile true: pass\n')
    with subprocess.Popen([host(), tmp_path / "program.spl"], stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130


def test_commands_of_a_checkout_use_the_same_codes():
    simple = ROOT / "bin" / "simple"
    for words in (("setup", "--unknown"), ("completion", "csh"), ("new",)):
        done = subprocess.run([simple, *words], capture_output=True, check=False, env={**os.environ})
        assert done.returncode == 2, words


def test_the_document_lists_the_commands_of_both_programs():
    documented = set(re.findall(r"`(?:simple )?([a-z]+)(?=[ `])", DOCUMENT))
    usage = subprocess.run([ROOT / "bin" / "simple", "--help"], capture_output=True, text=True, check=True).stdout
    source = (ROOT / "python" / "simple_torch_command" / "command.py").read_text()
    commands = set(re.findall(r"^  (?:bin/)?simple ([a-z]+) ", usage + source, re.MULTILINE))
    assert len(commands) > 10
    assert commands <= documented
