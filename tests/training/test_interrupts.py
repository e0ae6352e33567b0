"""Ctrl-C near the end of a fit, and the output of fit on standard error."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from programs import host

pytestmark = pytest.mark.skipif(os.environ.get("SIMPLE_TORCH") == "off", reason="there is no PyTorch")

BEGINNING = """
use torch
use torch.nn
use torch.training.{Callback, ModelCheckpoint, Trainer}
extern fn raise(number: i32) -> i32
class SendsInterruptAt(Callback):
    place: text
    fn on_validation_end(_trainer): if self.place == "validation end": raise(2)
    fn on_epoch_end(_trainer): if self.place == "epoch end": raise(2)
    fn on_fit_end(_trainer): if self.place == "fit end": raise(2)
val model = nn.Linear(1, 1)
val good = (torch.ones([1, 1]), torch.ones([1, 1]))
fn fit(callbacks, epochs = 1, val_loader = [good], ckpt_path = nil):
    Trainer(model, torch.optim.SGD(model.parameters(), lr: 0.1), nn.MSELoss(), callbacks: callbacks)
        .fit([good, good], val_loader: val_loader, epochs: epochs, ckpt_path: ckpt_path)
"""


def run(program: Path, text: str) -> subprocess.CompletedProcess[str]:
    program.write_text(BEGINNING + text)
    return subprocess.run(
        [host(), program], cwd=program.parent, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("place", ["validation end", "epoch end", "fit end"])
def test_ctrl_c_after_the_last_step_ends_the_program(place, tmp_path):
    text = f"""
fit([SendsInterruptAt(place: "{place}"), ModelCheckpoint("run")])
print "the next stage"
"""
    done = run(tmp_path / "program.spl", text)
    assert (done.returncode, done.stdout) == (130, "")
    assert os.listdir(tmp_path / "run") == ["epoch=1-step=2.pt"]


@pytest.mark.parametrize("place", ["validation end", "epoch end"])
def test_fit_interrupted_between_epochs_resumes_with_the_next(place, tmp_path):
    text = f"""
match torch.attempt(\\: fit([SendsInterruptAt(place: "{place}"), ModelCheckpoint("run")], epochs: 3)):
    case Err(Interrupted(message)): print message
    case other: print "other {{other}}"
print fit([ModelCheckpoint("run")], epochs: 3, ckpt_path: "last").epochs
"""
    done = run(tmp_path / "program.spl", text)
    assert done.returncode == 0
    message, epochs = done.stdout.splitlines()
    assert message.startswith("Trainer: fit() was interrupted with 1 of 3 epochs done, after step 2; fit(…, ckpt_path:")
    assert message.endswith('"last") resumes from run/epoch=1-step=2.pt')
    assert epochs == "[0, 1, 2]"


def test_ctrl_c_prints_how_to_resume(tmp_path):
    done = run(tmp_path / "program.spl", 'fit([SendsInterruptAt(place: "epoch end"), ModelCheckpoint("run")])\n')
    assert done.returncode == 130
    assert done.stderr == 'interrupted; fit(…, ckpt_path: "last") resumes from run/epoch=1-step=2.pt\n'


def test_nan_validation_loss_warns(tmp_path):
    text = """
val spoiled = (good.0, good.1 / 0.0)
print fit([], epochs: 2, val_loader: [good, spoiled, spoiled]).len()
"""
    done = run(tmp_path / "program.spl", text)
    assert (done.returncode, done.stdout) == (0, "2\n")
    warning = (
        "warning: the evaluation loss is inf; the first non-finite loss is that of batch 1 (counted from 0), "
        "after step {}"
    )
    assert done.stderr.splitlines() == [warning.format(2), warning.format(4)]
