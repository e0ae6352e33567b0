"""Truncated `.pte` files and files with wrong bytes are errors or have answers; the process and its memory stay."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from embedded_simple import ROOT, torch

exir = pytest.importorskip("executorch.exir", reason="this Python has no executorch", exc_type=ModuleNotFoundError)
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner  # noqa: E402
from simple_torch_helpers import executorch_process, executorch_seal  # noqa: E402

HOST = os.environ.get("SIMPLE_HOST", str(ROOT / "build" / "release" / "bin" / "simple-host"))
TRUNCATIONS, FLIPS = (1000, 10_000) if os.environ.get("SIMPLE_LONG_TESTS") else (20, 150)
X = torch.ones(2, 3, 8, 8)
ALLOWED = 64 << 20  # bytes that a process may need more than with undamaged files, next to twice the file
# Loads and calls each file that is named in a file; prints a line for each.
PROGRAM = r"""
use executorch
use std.fs.{read_text}
use std.process.{args}
use torch
for line in read_text(args()[0]).trim().split("\n"):
    match torch.attempt(\: executorch.load(line)(torch.ones(2, 3, 8, 8))):
        case Ok([value, ...]) if type_of(value) == "Tensor": print "value {value.sum().item()}"
        case Ok(values): print "value {values.len()}"    # a damaged file may return a number
        case Err(torch.TorchError.Io(message)): print "error {message}".replace("\n", " ")
        case Err(torch.TorchError.InvalidArgument(message)): print "error {message}".replace("\n", " ")
        case Err(torch.TorchError.Python(_, message, _, _)): print "error {message}".replace("\n", " ")
        case Err(other): print "wrong {other}".replace("\n", " ")
"""


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.fc = torch.nn.Linear(8, 5)

    def forward(self, image):
        return self.fc(self.norm(self.conv(image)).relu().mean([2, 3]))


def network() -> torch.nn.Module:
    torch.manual_seed(0)
    return Net().eval()


def lowered(partitioners: list):
    captured = torch.export.export(network(), (X,))
    return exir.to_edge_transform_and_lower(captured, partitioner=partitioners).to_executorch()


def answer() -> float:
    return network()(X).sum().item()


def damaged_files(path: Path) -> list[Path]:
    content, generator, files = path.read_bytes(), random.Random(0), []
    for number in range(TRUNCATIONS + FLIPS):
        changed = bytearray(content)
        if number < TRUNCATIONS:
            del changed[generator.randrange(len(content)) :]
        else:
            changed[generator.randrange(len(content))] ^= generator.randrange(1, 256)
        files.append(path.parent / f"{number}.pte")
        files[-1].write_bytes(changed)
    return files


def loaded(files: list[Path], folder: Path) -> tuple[int, list[str], int]:
    """The exit code of the program, its lines, and the maximum of its memory in bytes."""
    (folder / "program.spl").write_text(PROGRAM)
    (folder / "files").write_text("\n".join(map(str, files)))
    command = [HOST, str(folder / "program.spl"), str(folder / "files")]
    environment = {**os.environ, "SIMPLE_PYTHON": sys.executable}
    with (folder / "errors").open("w") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment)
        lines = process.stdout.read().splitlines()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, lines, usage.ru_maxrss * 1024


@contextlib.contextmanager
def without_log():
    """The runtime writes a line for each fault, and faulthandler a stack for each crash."""
    faulthandler.disable()
    kept = os.dup(2)
    with open(os.devnull, "wb") as null:
        os.dup2(null.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


@pytest.mark.parametrize("partitioners", [[], [XnnpackPartitioner()]], ids=["portable", "xnnpack"])
def test_damaged_files_of_others_end_no_program(partitioners, tmp_path):
    good = tmp_path / "good.pte"
    good.write_bytes(lowered(partitioners).buffer)
    files, bindings = damaged_files(good), executorch_process.runtime()
    with without_log():
        signals = [executorch_process.outcome(bindings, str(file), "forward", 20) for file in files]
    crashing = [file for file, signal in zip(files, signals, strict=True) if signal not in ("", "SIGALRM")]
    others = [file for file, signal in zip(files, signals, strict=True) if not signal]

    assert crashing  # so a process of its own is needed
    chosen = [good, *crashing[:8], *others[:4], *others[-8:], good]
    code, lines, peak = loaded(chosen, tmp_path)
    assert code == 0 and len(lines) == len(chosen), (tmp_path / "errors").read_text()[-2000:]
    assert not [line for line in lines if line.startswith("wrong")]
    # Whether a read beyond an array crashes depends on what is behind it.
    assert any(" is corrupt: the runtime ends with SIG" in line for line in lines[1:9])
    for line in (lines[0], lines[-1]):
        assert float(line.split()[1]) == pytest.approx(answer(), abs=1e-4)
    _, _, usual = loaded([good], tmp_path)
    assert peak < usual + 2 * good.stat().st_size + ALLOWED


@pytest.mark.parametrize("partitioners", [[], [XnnpackPartitioner()]], ids=["portable", "xnnpack"])
def test_the_digest_of_an_exported_file_finds_all_damage(partitioners, tmp_path):
    good = tmp_path / "good.pte"
    executorch_seal.write(lowered(partitioners), str(good))
    body = good.read_bytes()[: -executorch_seal.SIZE]
    files = damaged_files(good)

    states = [executorch_seal.state(str(file)) for file in files]
    assert "intact" not in states
    # Without a digest: shorter files, and a wrong byte in the mark with a program as it was.
    unknown = [file for file, state in zip(files, states, strict=True) if state == "unknown"]
    assert all(file.stat().st_size < good.stat().st_size or file.read_bytes().startswith(body) for file in unknown)

    chosen = [good, *[file for file in files if file not in unknown][:50]]
    code, lines, _ = loaded(chosen, tmp_path)
    assert code == 0 and len(lines) == len(chosen)
    assert float(lines[0].split()[1]) == pytest.approx(answer(), abs=1e-4)
    expected = "error executorch.load: '{}' is corrupt: its SHA-256 digest is a different one"
    assert lines[1:] == [expected.format(file) for file in chosen[1:]]
