"""Standard output that cannot be written: a closed pipe and a full disk."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from programs import host

ENDLESS = "while true: print 'a line'\n"
AFTER_PYTHON = "use python as py\npy.eval('1')\n" + ENDLESS
HAS_PYTHON = pytest.mark.skipif(os.environ.get("SIMPLE_TORCH") == "off", reason="there is no PyTorch")
PROGRAMS = [
    pytest.param(ENDLESS, id="without Python"),
    pytest.param(AFTER_PYTHON, id="after Python", marks=HAS_PYTHON),
]


@pytest.fixture
def program(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    file = tmp_path / "program.spl"
    file.write_text(request.param)
    return file


def run_into_closed_pipe(program: Path, action: signal.Handlers) -> tuple[int, str]:
    """Reads one line, closes the pipe, and returns the exit code and the errors."""
    before = signal.signal(signal.SIGPIPE, action)  # the child inherits it
    try:
        started = subprocess.Popen(
            [host(), program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, restore_signals=False
        )
    finally:
        signal.signal(signal.SIGPIPE, before)
    assert started.stdout.readline() == "a line\n"
    started.stdout.close()
    with started.stderr:
        errors = started.stderr.read()
    return started.wait(timeout=60), errors


@pytest.mark.parametrize("program", PROGRAMS, indirect=True)
def test_a_closed_pipe_ends_the_program_by_its_signal(program: Path) -> None:
    assert run_into_closed_pipe(program, signal.SIG_DFL) == (-signal.SIGPIPE, "")


@pytest.mark.parametrize("program", PROGRAMS, indirect=True)
def test_a_closed_pipe_is_an_error_where_its_signal_is_ignored(program: Path) -> None:
    code, errors = run_into_closed_pipe(program, signal.SIG_IGN)
    assert code == 1
    assert "print: cannot write to standard output: Broken pipe" in errors


@pytest.mark.parametrize("program", [*PROGRAMS, pytest.param("print 'one line'", id="at exit")], indirect=True)
def test_a_full_disk_is_an_error(program: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [host(), program], stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60
        )
    assert done.returncode == 1
    assert done.stderr.count("cannot write to standard output: No space left on device") == 1
