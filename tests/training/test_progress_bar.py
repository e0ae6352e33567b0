"""The progress of a training: one rewritten line on a terminal, otherwise a line for each epoch."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

import pytest

from programs import has_terminals, host

NEEDS_TERMINALS = pytest.mark.skipif(not has_terminals(), reason="this system has no pseudo-terminals")

pytestmark = pytest.mark.skipif(os.environ.get("SIMPLE_TORCH") == "off", reason="there is no PyTorch")
PROGRAM = """
use std.time.{sleep}
use torch
use torch.nn
use torch.metrics.{MeanSquaredError}
use torch.training.{Callback, ProgressBar, Trainer}
class Slow(Callback):
    fn on_batch_end(_trainer): sleep(0.06)
val model = nn.Linear(1, 1)
val batches = [for _ in 0..10: (torch.ones([2, 1]), torch.ones([2, 1]))]
class Stream:
    fn iter():
        for batch in batches: yield batch
val optimizer = torch.optim.SGD(model.parameters(), lr: 0.01)
val trainer = Trainer(model, optimizer, nn.MSELoss(), metrics: {"mse": MeanSquaredError()},
    callbacks: [Slow(), ProgressBar()])
trainer.fit(LOADER, epochs: 2)
print "after"
"""
END = r"epoch {}/2: 10 batches in 0:0\d, \d+\.\d/s, loss [\d.e-]+, mse [\d.e-]+"


@pytest.fixture
def program(tmp_path):
    def of(loader: str = "batches"):
        file = tmp_path / "program.spl"
        file.write_text(PROGRAM.replace("LOADER", loader))
        return [host(), file]

    return of


def on_terminal(command, columns: int = 0) -> str:
    """The command's output on a terminal of that width; 0 means an unknown width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs)
    os.close(theirs)
    printed = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other side of the terminal is closed
            break
        if not part:
            break
        printed += part
    os.close(ours)
    assert process.wait(timeout=60) == 0, printed
    return printed.decode()


def test_a_line_for_each_epoch(program):
    done = subprocess.run(program(), capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    assert re.fullmatch(f"{END.format(1)}\n{END.format(2)}\nafter\n", done.stdout)


@NEEDS_TERMINALS
def test_line_is_rewritten_on_a_terminal(program):
    lines = on_terminal(program()).split("\r\n")
    assert len(lines) == 4
    assert lines[2:] == ["after", ""]
    for number, line in enumerate(lines[:2], start=1):
        shown = line.removeprefix("\r").removesuffix("\x1b[K").split("\x1b[K\r")
        live = rf"epoch {number}/2: \[#*-+\] \d/10, \d+\.\d/s, ETA 0:00, loss [\d.e-]+, mse [\d.e-]+"
        assert len(shown) >= 3
        assert all(re.fullmatch(live, part) or "10/10" in part for part in shown[:-1]), shown
        assert re.fullmatch(END.format(number), shown[-1])


@NEEDS_TERMINALS
def test_without_a_length_there_is_no_time_left(program):
    printed = on_terminal(program("Stream()"))
    assert re.search(r"epoch 1/2: \d batches, \d+\.\d/s, loss", printed)
    assert "ETA" not in printed


@NEEDS_TERMINALS
def test_rewritten_line_fits_the_terminal(program):
    first, second = on_terminal(program(), columns=40).split("\r\n")[:2]
    for number, line in enumerate([first, second], start=1):
        *live, end = line.removeprefix("\r").removesuffix("\x1b[K").split("\x1b[K\r")
        assert len(live) >= 2
        assert all(len(part) == 39 and part.startswith(f"epoch {number}/2: [#") for part in live), live
        assert re.fullmatch(END.format(number), end)  # it stays, and may span two lines
