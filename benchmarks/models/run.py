"""Runs models and loads files in Simple and in Python alternately, and prints Simple's speed relative to Python's.

    SIMPLE_BUILD=build/release SIMPLE_HOST=build/release/bin/simple-host python3 benchmarks/models/run.py [--rounds N]

One run has native models and TorchScript, files of safetensors, whole programs from start to first answer, and models
of Python called from Simple (benchmarks/bridge/forwards.py). Both programs have the same weights, inputs and thread;
their results are equal, or the run ends with an error. Ratios are of processor time, so that other work on the machine
has little effect; "by clock" is the ratio of wall-clock times. Both use the minimum of the rounds. A goal is the
smallest accepted ratio; a row that misses it ends with MISSED. text.py has the same for generation.

"optimized" is torch.nn.utils.optimize_for_inference() in Simple against the plain model in Python, "both optimized"
against Python's torch.jit.optimize_for_inference(), which also fuses ReLUs and sums, but stores images as contiguous.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent / "train"))
from run import Trainer  # noqa: E402

# Program, arguments, goal, calls in a round, title.
FORWARDS = [
    ("forward_programs", "image resnet18 224", 1.0, 4, "ResNet-18, 224 x 224"),
    ("forward_programs", "image resnet50 224", 1.0, 2, "ResNet-50, 224 x 224"),
    ("forward_programs", "image resnet18 32", 1.0, 20, "ResNet-18, 32 x 32"),
    ("forward_programs", "image resnet18 224 optimized", 1.1, 4, "ResNet-18, 224, optimized"),
    ("forward_programs", "image resnet50 224 optimized", 1.1, 2, "ResNet-50, 224, optimized"),
    ("forward_programs", "image resnet18 32 optimized", 1.1, 20, "ResNet-18, 32, optimized"),
    ("forward_programs", "image resnet18 224 both", 0.9, 4, "ResNet-18, 224, both optimized"),
    ("forward_programs", "image resnet50 224 both", 0.9, 2, "ResNet-50, 224, both optimized"),
    ("forward_programs", "image resnet18 32 both", 0.9, 20, "ResNet-18, 32, both optimized"),
    ("text_programs", "minilm-1", 1.1, 20, "MiniLM, 16 tokens"),
    ("text_programs", "gpt2 forward", 1.0, 2, "GPT-2 small, 16 tokens"),
    ("forward_programs", "script SCRIPT", 1.0, 2000, "TorchScript, one small layer"),
    ("forward_programs", "safetensors WEIGHTS", 1.0, 1, "safetensors, 400 MB"),
]


def peak_bytes(program: Trainer) -> int:
    for line in Path(f"/proc/{program.process.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    raise KeyError("VmHWM")


def write_files(folder: str) -> dict[str, str]:
    """The files of the rows, by the names that their arguments have for them."""
    import torch
    from safetensors.torch import save_file

    files = {"SCRIPT": f"{folder}/small.pt", "WEIGHTS": f"{folder}/weights.safetensors"}
    torch.manual_seed(0)
    torch.jit.script(torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU()).eval()).save(files["SCRIPT"])
    save_file({f"layer.{i}": torch.randn(1024, 2560) for i in range(40)}, files["WEIGHTS"])
    return files


def report(title: str, theirs: tuple, ours: tuple, goal: float) -> None:
    """A row: processor and clock seconds, and peak memory, of both."""
    ratio = theirs[0] / ours[0]
    verdict = "" if ratio >= goal else "  MISSED"
    print(
        f"{title:<32}{theirs[0] * 1e3:12.3f}{ours[0] * 1e3:12.3f}{ratio:8.2f}{goal:7.2f}{theirs[1] / ours[1]:10.2f}"
        f"{theirs[2] / 2**20:8.0f}{ours[2] / 2**20:8.0f}{verdict}",
        flush=True,
    )


def compare(row: tuple, files: dict[str, str], host: str, rounds: int) -> None:
    program, words, goal, count, title = row
    arguments = [files.get(word, word) for word in words.split()]
    theirs = Trainer([sys.executable, str(FOLDER / f"{program}.py"), *arguments])
    ours = Trainer([host, str(FOLDER / f"{program}.spl"), *arguments])
    for _ in range(rounds):
        for each in (theirs, ours):
            each.train(count)
    figures = [(each.processor, each.clock, peak_bytes(each)) for each in (theirs, ours)]
    for each in (theirs, ours):
        each.end()
    report(title, *figures, goal)
    if not math.isclose(theirs.loss, ours.loss, rel_tol=1e-5):
        sys.exit(f"{title}: the results differ: {theirs.loss} in Python, {ours.loss} in Simple")


def whole_program(command: list[str]) -> tuple[float, float, int, str]:
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        answer = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command} ended with code {process.returncode}")
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - start, usage.ru_maxrss * 1024, answer


def compare_starts(host: str, rounds: int) -> None:
    commands = [[sys.executable, str(FOLDER / "first_answer.py")], [host, str(FOLDER / "first_answer.spl")]]
    runs = [[whole_program(command) for command in commands] for _ in range(rounds)]
    if len({run[3] for pair in runs for run in pair}) != 1:
        sys.exit("the first answers differ")
    figures = [tuple(min(run[i] for run in column) for i in range(3)) for column in zip(*runs, strict=True)]
    report("start to first answer", *figures, 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description="Models and files in Simple against Python.")
    parser.add_argument("--rounds", type=int, default=8)
    options = parser.parse_args()
    host = os.environ.get("SIMPLE_HOST")
    if not host:
        sys.exit("SIMPLE_HOST does not name the host's executable")
    columns = f"{'Python':>12}{'Simple':>12}{'ratio':>8}{'goal':>7}{'by clock':>10}{'MB':>8}{'MB':>8}"
    print(f"{'processor ms':<32}{columns}")
    with tempfile.TemporaryDirectory() as folder:
        files = write_files(folder)
        for row in FORWARDS:
            compare(row, files, host, options.rounds)
    compare_starts(host, options.rounds)
    print("\nModels of Python, called from Simple and from Python")
    sys.stdout.flush()
    forwards = subprocess.run([sys.executable, FOLDER.parent / "bridge" / "forwards.py"], check=False)
    sys.exit(forwards.returncode)


if __name__ == "__main__":
    main()
