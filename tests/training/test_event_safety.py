"""However a program ends, its event file ends with a complete event, and has all flushed events."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small_disk import small_disk

import event_files as reading
from programs import host

pytestmark = pytest.mark.skipif(os.environ.get("SIMPLE_TORCH") == "off", reason="there is no PyTorch")
ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(__file__).with_name("events.spl")
TRAINING = """
use torch
use torch.nn
use torch.training.{Callback, ModelCheckpoint, TensorBoard, Trainer}
use torch.utils.data.{DataLoader, TensorDataset}
use std.process.{args}
extern fn rt_flush()
class Reporting(Callback):
    fn on_batch_end(trainer):
        print "step {trainer.step}"
        rt_flush()
torch.manual_seed(2)
val x = torch.randn([40, 3])
val model = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.5), nn.Linear(8, 1))
val trainer = Trainer(model, torch.optim.SGD(model.parameters(), lr: 0.05), nn.MSELoss(),
    callbacks: [TensorBoard(args()[0] + "/logs", update_freq: "batch", histogram_freq: 1), Reporting(),
        ModelCheckpoint(args()[0] + "/checkpoints", every_n_train_steps: 3)])
trainer.fit(DataLoader(TensorDataset(x, x.sum(dim: 1, keepdim: true)), batch_size: 4, shuffle: true), epochs: 3,
    ckpt_path: "last")
"""


def steps_in(folder: Path) -> list[int]:
    (file,) = reading.files_in(folder)
    return [event.step for event in reading.events_in(file)[1:]]


@pytest.mark.parametrize("seed", range(3))
def test_killed_program_leaves_its_flushed_events(seed, tmp_path):
    process = subprocess.Popen([host(), PROGRAM, tmp_path, "1000000", "200"], stdout=subprocess.PIPE, text=True)
    printed = [process.stdout.readline() for _ in range(random.Random(seed).randrange(3, 40))]
    process.kill()
    rest, _ = process.communicate()
    last = int((printed + [line for line in rest.splitlines(keepends=True) if line.endswith("\n")])[-1].split()[1])
    steps = steps_in(tmp_path)
    assert steps == list(range(len(steps)))
    assert len(steps) > last


def test_events_are_written_when_a_full_disk_has_space_again(tmp_path):
    with small_disk(tmp_path / "disk", "64k") as disk:
        process = subprocess.Popen([host(), PROGRAM, disk, "30", "5000"], stdout=subprocess.PIPE, text=True)
        try:
            while not (line := process.stdout.readline()).startswith("Io "):
                assert line.startswith("flushed ")
            assert line.endswith(" cannot be written: No space left on device\n")
            steps = steps_in(disk)
            assert steps == list(range(len(steps)))
            assert 5 <= len(steps) < 15
            subprocess.run(["mount", "-o", "remount,size=4m", disk], check=True)
            (disk / "space").touch()
            process.communicate(timeout=60)
        finally:
            process.kill()
            process.wait()
        assert process.returncode == 0
        assert steps_in(disk) == list(range(30))


def test_file_size_limit_keeps_complete_events(tmp_path):
    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (12_345, 12_345))

    process = subprocess.Popen(
        [host(), PROGRAM, tmp_path, "10", "3000"], stdout=subprocess.PIPE, text=True, preexec_fn=limited
    )
    try:
        assert process.stdout.readline().endswith(" cannot be written: File too large\n")
        assert steps_in(tmp_path) == []
    finally:
        process.kill()
        process.communicate()


ENDS = {
    "its last line": "",
    "exit()": "use std.process.{exit}\nexit(0)",
    "an error": 'panic("over")',
    "Ctrl-C": "extern fn raise(number: i32) -> i32\nraise(2)\nwhile true: pass",
}


@pytest.mark.parametrize("end", ENDS)
def test_a_program_that_ends_without_close_has_written_its_events(end, tmp_path):
    program = tmp_path / "program.spl"
    program.write_text(
        "use torch.utils.tensorboard.{SummaryWriter}\n"
        f'val w = SummaryWriter("{tmp_path}/run")\nfor step in 0..5: w.add_scalar("a", step, step)\n{ENDS[end]}\n'
    )
    done = subprocess.run([host(), program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == {"an error": 1, "Ctrl-C": 130}.get(end, 0)
    assert steps_in(tmp_path / "run") == [0, 1, 2, 3, 4]


def test_python_process_that_ends_without_close_has_written_its_events(tmp_path):
    source = f"""
use torch.utils.tensorboard.{{SummaryWriter}}
val w = SummaryWriter("{tmp_path}/run")
for step in 0..5: w.add_scalar("a", step, step)
"""
    program = f"import simple_torch; simple_torch.run({source!r})"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert steps_in(tmp_path / "run") == [0, 1, 2, 3, 4]


def curves(folder: Path) -> dict[str, list]:
    """The curves as TensorBoard shows them: step and value."""
    board = reading.shown(folder)
    return {tag: [(event.step, event.value) for event in board.Scalars(tag)] for tag in board.Tags()["scalars"]}


@pytest.fixture
def training(tmp_path):
    program = tmp_path / "program.spl"
    program.write_text(TRAINING)

    def of(name: str) -> list:
        (tmp_path / name).mkdir(exist_ok=True)
        return [host(), program, tmp_path / name]

    return of


def test_curves_of_a_killed_and_resumed_run_match_an_uninterrupted_run(training, tmp_path):
    subprocess.run(training("whole"), check=True, timeout=60, stdout=subprocess.DEVNULL)
    expected = curves(tmp_path / "whole/logs")
    assert [step for step, _ in expected["batch_loss"]] == list(range(1, 31))
    assert [step for step, _ in expected["loss"]] == [10, 20, 30]
    assert [value for _, value in expected["epoch"]] == [0, 1, 2]

    for step in (5, 14, 23):
        process = subprocess.Popen(training("killed"), stdout=subprocess.PIPE, text=True)
        while process.stdout.readline() != f"step {step}\n":
            assert process.poll() is None
        process.kill()
        process.communicate()
        time.sleep(1.1)  # TensorBoard orders files by name, with a resolution of seconds
    subprocess.run(training("killed"), check=True, timeout=60, stdout=subprocess.DEVNULL)
    assert len(reading.files_in(tmp_path / "killed/logs")) == 4
    assert curves(tmp_path / "killed/logs") == expected


def test_a_training_has_a_graph_and_histograms(training, tmp_path):
    subprocess.run(training("whole"), check=True, timeout=60, stdout=subprocess.DEVNULL)
    board = reading.shown(tmp_path / "whole/logs")
    names = [node.name for node in board.Graph().node]
    assert names == ["input/0", "Sequential/0", "Sequential/1", "Sequential/2", "output/0"]
    assert sorted(board.Tags()["histograms"]) == ["0.bias", "0.weight", "2.bias", "2.weight"]
    assert [event.step for event in board.Histograms("0.weight")] == [10, 20, 30]
    assert board.Histograms("0.weight")[0].histogram_value.num == 24
