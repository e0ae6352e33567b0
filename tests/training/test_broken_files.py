"""A corrupt checkpoint is reported by name, and the previous one is loaded."""

from __future__ import annotations

import io
import os
import subprocess
import zipfile
from pathlib import Path

import pytest

from programs import host

pytestmark = pytest.mark.skipif(os.environ.get("SIMPLE_TORCH") == "off", reason="there is no PyTorch")

SETUP = """
use std.process.{args}
use torch
use torch.nn
use torch.training.{Checkpoint, CheckpointManager}
val folder = args()[0]
val model = nn.Linear(100, 10)
val run = Checkpoint(model: model)
val manager = CheckpointManager(folder)
fn failure_of(body): torch.attempt(body).unwrap_err()
"""
SAVED = "for step in 1..4: manager.save(run, epoch: 0, step: step)\nprint model.weight.sum().item()"
RESUMED = """
match failure_of(\\: manager.resume(run)):
    case Io(message): print message
    case other: print "other {other}"
val found = manager.resume(run, path: "{folder}/epoch=0-step=2.pt")
print "{found["step"]} {model.weight.sum().item()}"
manager.save(run, epoch: 0, step: 3)
print "{manager.resume(run)["step"]}"
"""


def output_of(folder: Path, work: str) -> list[str]:
    program = folder / "program.spl"
    program.write_text(SETUP + work)
    command = [host(), program, folder / "run"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def other_number(content: bytes) -> bytes:
    """Flips one bit of a weight: torch.load still reads the file."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        weights = next(archive.read(entry) for entry in archive.infolist() if entry.file_size == 4000)
    place = content.index(weights) + 2000
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


def swapped_blocks(content: bytes) -> bytes:
    """Swaps two disk blocks of the weights: each word is still present."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        weights = next(archive.read(entry) for entry in archive.infolist() if entry.file_size == 4000)
    place = content.index(weights)
    one, other = content[place + 512 : place + 1024], content[place + 1024 : place + 1536]
    return content[: place + 512] + other + one + content[place + 1536 :]


BREAKS = {
    "cut off": lambda content: content[: len(content) // 2],
    "empty": lambda content: b"",
    "trailing zeros": lambda content: content[:-1000] + bytes(1000),
    "zeros in its middle": lambda content: content[:2000] + bytes(512) + content[2512:],
    "another number": other_number,
    "blocks in each other's place": swapped_blocks,
    "another file": lambda content: b"epoch,loss\r\n0,1.5\r\n" * 100,
}


@pytest.mark.parametrize("how", BREAKS)
def test_corrupt_file_is_reported_with_the_previous_checkpoint(how, tmp_path):
    (weight,) = output_of(tmp_path, SAVED)
    folder = tmp_path / "run"
    assert sorted(file.name for file in folder.iterdir()) == ["epoch=0-step=2.pt", "epoch=0-step=3.pt"]
    last = folder / "epoch=0-step=3.pt"
    last.write_bytes(BREAKS[how](last.read_bytes()))
    message, found, again = output_of(tmp_path, RESUMED)
    assert message.startswith("read_checkpoint: the checkpoint is broken: ")
    assert str(last) in message
    assert message.endswith(f"; the checkpoint before it is {folder}/epoch=0-step=2.pt")
    assert found == f"2 {weight}"
    assert again == "3"


def test_missing_file_is_not_reported_as_corrupt(tmp_path):
    work = """
manager.save(run, epoch: 0, step: 1)
match failure_of(\\: manager.resume(run, path: folder + "/other.pt")):
    case Io(message): print message
    case other: print "other {other}"
"""
    message = f"read_checkpoint: no such file: '{tmp_path}/run/other.pt'; there is no earlier checkpoint"
    assert output_of(tmp_path, work.replace("\\\\", "\\")) == [message]


def test_other_files_are_not_checkpoints(tmp_path):
    work = """
torch.save({"a": 1}, folder + "-file.pt")
print failure_of(\\: manager.resume(run, path: folder + "-file.pt")).message()
"""
    message = f"read_checkpoint: '{tmp_path}/run-file.pt' is not a checkpoint of torch.training; "
    message += "there is no earlier checkpoint"
    assert output_of(tmp_path, work) == [message]


def test_temporary_files_of_killed_processes_are_removed(tmp_path):
    output_of(tmp_path, SAVED)
    left = tmp_path / "run" / "epoch=0-step=4.pt.1234-1.part"
    left.write_bytes(b"a half")
    other = tmp_path / "run" / "notes.part"
    other.write_text("not ours")
    output_of(tmp_path, "manager.resume(run)")
    assert not left.exists()
    assert other.exists()


def test_pythons_torch_reads_a_checkpoint(tmp_path):
    torch = pytest.importorskip("torch", exc_type=ModuleNotFoundError)
    (weight,) = output_of(tmp_path, SAVED)
    found = torch.load(tmp_path / "run" / "epoch=0-step=3.pt", weights_only=True)
    state = found["content"]["state"]["parts"]["model"]
    assert state["weight"].sum().item() == float(weight)
