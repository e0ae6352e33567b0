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


LATER = {
    "a message to standard error": "print 'lost'\neprint 'next'\n",
    "messages in a loop": "while true:\n    print 'lost'\n    eprint 'next'\n",
    "a fork": "use python as py\nprint 'lost'\n"
    "if py.import('os').fork() == 0: py.import('os')._exit(0)\npy.import('os').wait()\n",
    "another program": "use python as py\nprint 'lost'\npy.import('subprocess').run(['true'])\n",
    "Python's exit": "use python as py\nprint 'lost'\npy.import('sys').exit(0)\n",
}


@pytest.mark.parametrize("name", LATER)
def test_a_failed_flush_is_reported_later(name: str, tmp_path: Path) -> None:
    """Others flush the output too, and cannot report that the text is lost."""
    if "python" in LATER[name] and os.environ.get("SIMPLE_TORCH") == "off":
        pytest.skip("there is no PyTorch")
    file = tmp_path / "program.spl"
    file.write_text(LATER[name])
    with open("/dev/full", "w") as full:
        done = subprocess.run([host(), file], stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert done.stderr.count("print: cannot write to standard output: ") == 1


ERRORS = "while true: eprint 'a line'\n"


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(ERRORS, id="without Python"),
        pytest.param("use python as py\npy.eval('1')\n" + ERRORS, id="after Python", marks=HAS_PYTHON),
    ],
    indirect=True,
)
def test_standard_error_is_checked_too(program: Path) -> None:
    with open("/dev/full", "w") as full:
        assert subprocess.run([host(), program], stderr=full, check=False, timeout=60).returncode == 1
    started = subprocess.Popen([host(), program], stderr=subprocess.PIPE, text=True)
    assert started.stderr.readline() == "a line\n"
    started.stderr.close()
    assert started.wait(timeout=60) == -signal.SIGPIPE
