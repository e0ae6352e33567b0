"""Runs that are killed, interrupted or out of disk space resume from their last checkpoint, bit for bit."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from programs import host

pytestmark = pytest.mark.skipif(os.environ.get("SIMPLE_TORCH") == "off", reason="there is no PyTorch")
PROGRAM = Path(__file__).with_name("run.spl")
POINTS = 20 if os.environ.get("SIMPLE_LONG_TESTS") == "1" else 4
WATCHDOG_S = 300


class Run:
    """A run in its own folder: its checkpoints, and its logged losses."""

    def __init__(self, folder: Path, workers: int = 0, every: int | str = 1):
        folder.mkdir()
        self.checkpoints = folder / "checkpoints"
        self.log = folder / "losses"
        self.words = [host(), PROGRAM, self.checkpoints, self.log, str(workers), str(every)]

    def begin(self) -> subprocess.Popen[str]:
        return subprocess.Popen(self.words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def end(self) -> list[str]:
        """Waits for the exit of the run; returns the history and the fingerprint of the weights."""
        done = subprocess.run(self.words, capture_output=True, text=True, timeout=WATCHDOG_S, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        return [line for line in done.stdout.splitlines() if line.startswith(("rows", "model"))]

    def losses(self) -> set[str]:
        return set(self.log.read_text().splitlines())

    def files(self) -> list[str]:
        return sorted(os.listdir(self.checkpoints)) if self.checkpoints.exists() else []

    def is_writing(self) -> bool:
        return any(name.endswith(".part") for name in self.files())


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The results of uninterrupted runs, by number of workers: results, losses, seconds."""
    found = {}

    def of(workers: int = 0):
        if workers not in found:
            run = Run(tmp_path_factory.mktemp("whole") / "run", workers)
            began = time.monotonic()
            found[workers] = run.end(), run.losses(), time.monotonic() - began
        return found[workers]

    return of


def kill_in(run: Run, seconds: float | None) -> bool:
    """Kills the run after that time, or while it writes a checkpoint; returns whether it was still running."""
    process = run.begin()
    began = time.monotonic()
    while process.poll() is None:
        if run.is_writing() if seconds is None else time.monotonic() - began > seconds:
            process.kill()
        time.sleep(0.0005)
    process.communicate()
    return process.returncode == -signal.SIGKILL


@pytest.mark.parametrize("workers", [0, 2])
def test_killed_and_resumed_run_has_the_same_losses(workers, tmp_path, whole):
    result, losses, seconds = whole(workers)
    points = random.Random(workers)
    kills = while_writing = runs = 0
    while kills < POINTS:
        run = Run(tmp_path / f"run{runs}", workers)
        runs += 1
        is_at_work = True
        while is_at_work and kills < POINTS:
            waits = points.uniform(0, seconds) if kills % 2 else None
            is_at_work = kill_in(run, waits)
            kills += is_at_work
            while_writing += run.is_writing()
        assert run.end() == result
        assert run.losses() == losses
        assert not run.is_writing()
    assert while_writing > 0


@pytest.mark.parametrize("line", ["batch 0 2", "batch 1 8", "validation 1"])
def test_ctrl_c_saves_a_checkpoint_from_which_the_run_resumes(line, tmp_path, whole):
    run = Run(tmp_path / "run", every="never")
    process = run.begin()
    while (printed := process.stdout.readline()) != line + "\n":
        assert printed != ""
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=WATCHDOG_S)
    assert process.returncode == 130
    assert errors.startswith('interrupted; fit(…, ckpt_path: "last") resumes from ')
    assert "rows" not in out
    assert any(name.startswith(f"epoch={line.split()[1]}-") for name in run.files())
    before = run.losses()
    result, losses, _ = whole()
    assert run.end() == result
    assert run.losses() == losses
    assert len(run.log.read_text().splitlines()) == len(losses), "a step was done twice"
    assert before < losses


def test_second_ctrl_c_ends_a_long_step(tmp_path):
    program = tmp_path / "program.spl"
    program.write_text(
        """
use torch
use torch.nn
use std.time.{sleep}
use torch.training.{Trainer}
extern fn rt_flush()
val model = nn.Linear(1, 1)
fn slow(model, batch):
    print "begun"
    rt_flush()
    while true: sleep(0.01)
Trainer(model, torch.optim.SGD(model.parameters(), lr: 0.1), step: slow).fit([1])
"""
    )
    process = subprocess.Popen([host(), program], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=10) == -signal.SIGINT
    finally:
        process.kill()
        process.communicate()


CAUGHT = """
use torch
use torch.nn
use torch.training.{Callback, Trainer}
extern fn raise(number: i32) -> i32
extern fn rt_flush()
class SendsInterrupt(Callback):
    fn on_batch_end(trainer): raise(2)
val model = nn.Linear(1, 1)
val trainer = Trainer(model, torch.optim.SGD(model.parameters(), lr: 0.1), nn.MSELoss(), callbacks: [SendsInterrupt()])
match torch.attempt(\\: trainer.fit([(torch.ones([1, 1]), torch.ones([1, 1]))], epochs: 5)):
    case Err(Interrupted(message)): print message
    case other: print "other {other}"
rt_flush()
raise(2)
while true: pass
"""


def test_interrupted_fit_returns_an_error_and_restores_the_hosts_handler(tmp_path):
    program = tmp_path / "program.spl"
    program.write_text(CAUGHT)
    done = subprocess.run([host(), program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (130, "")
    assert done.stdout == "Trainer: fit() was interrupted in epoch 0, after step 1, batch 1\n"


WITH_PYTHON = """
use torch
use torch.nn
use python as py
use torch.training.{Callback, Trainer}
extern fn raise(number: i32) -> i32
class SendsInterrupt(Callback):
    fn on_batch_end(trainer):
        if trainer.batch == 1: print py.eval("6 * 7").to_int()
        if trainer.batch == 3: raise(2)
val model = nn.Linear(1, 1)
val trainer = Trainer(model, torch.optim.SGD(model.parameters(), lr: 0.1), nn.MSELoss(), callbacks: [SendsInterrupt()])
val batch = (torch.ones([1, 1]), torch.ones([1, 1]))
print torch.attempt(\\: trainer.fit([for _ in 0..5: batch])).unwrap_err().message()
print py.try_exec("import signal; signal.raise_signal(2)").unwrap_err()
"""


def test_python_started_during_fit_has_ctrl_c_afterwards(tmp_path):
    pytest.importorskip("torch", exc_type=ModuleNotFoundError)
    program = tmp_path / "program.spl"
    program.write_text(WITH_PYTHON)
    done = subprocess.run([host(), program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    interrupted = "Trainer: fit() was interrupted in epoch 0, after step 3, batch 3"
    assert done.stdout == f"42\n{interrupted}\nKeyboardInterrupt\n"
