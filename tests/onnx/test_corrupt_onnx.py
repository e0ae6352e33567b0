"""Truncated files of ONNX and files with wrong bytes end in an error or an answer, never in a crash."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import onnx
import pytest
from onnx_sessions import torch

LONG = os.environ.get("SIMPLE_LONG_TESTS") == "1"
TRUNCATIONS, FLIPS = (1000, 10_000) if LONG else (30, 60)
DATA = Path(onnx.__file__).parent / "backend/test/data"
FILES = [
    DATA / "pytorch-converted/test_Conv2d/model.onnx",
    DATA / "simple/test_sequence_model1/model.onnx",
    DATA / "light/light_squeezenet.onnx",
    Path(torch.__file__).parents[1] / "silero_vad/data/silero_vad_op18_ifless.onnx",
]
PROGRAM = r"""
use onnx
use onnxruntime as ort
use std.fs.{read_text}
use std.process.{args}
use torch

fn feeds(session):
    val made = {}
    for node in session.get_inputs():
        val sizes = [for size in node.shape: if type_of(size) == "i64": [size, 64].min() else: 1]
        if node.type == "tensor(float)": made[node.name] = torch.ones(sizes)
        elif node.type == "tensor(int64)": made[node.name] = torch.full(sizes, 16000, dtype: torch.int64)
    made

fn run(path):
    val options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    val session = ort.InferenceSession(path, sess_options: options)
    session.run(nil, feeds(session))

fn kind(body):
    match torch.attempt(body):
        case Ok(_): "ok"
        case Err(torch.TorchError.Io(_)): "error"
        case Err(torch.TorchError.InvalidArgument(_)): "error"
        case Err(torch.TorchError.ShapeMismatch(_, _, _)): "error"
        case Err(torch.TorchError.DtypeMismatch(_, _, _)): "error"
        case Err(torch.TorchError.NotImplemented(_)): "error"
        case Err(torch.TorchError.OutOfMemory(_, _, _)): "error"
        case Err(other): "wrong: {other}"

for line in read_text(args()[0]).trim().split("\n"):
    print "{kind(\: run(line))} {kind(\: onnx.load_state_dict(line))}"
"""


def damaged(content: bytes, generator: random.Random, kind: str) -> bytes:
    if kind == "truncated":
        return content[: generator.randrange(len(content))]
    changed = bytearray(content)
    for _ in range(generator.choice([1, 1, 1, 4])):
        changed[generator.randrange(len(changed))] = generator.randrange(256)
    return bytes(changed)


@pytest.mark.parametrize("kind", ["truncated", "flipped"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem if path.stem != "model" else path.parent.name)
def test_damaged_files_are_errors_or_have_answers(path, kind, tmp_path):
    program = tmp_path / "program.spl"
    program.write_text(PROGRAM)
    content, generator = path.read_bytes(), random.Random(0)
    left = TRUNCATIONS if kind == "truncated" else FLIPS
    seen = []
    while left > 0:
        count = min(left, 200)
        files = []
        for i in range(count):
            files.append(tmp_path / f"{i}.onnx")
            files[-1].write_bytes(damaged(content, generator, kind))
        (tmp_path / "files").write_text("\n".join(map(str, files)))
        done = subprocess.run(
            [os.environ["SIMPLE_HOST"], program, tmp_path / "files"], capture_output=True, text=True, timeout=900
        )
        lines = done.stdout.splitlines()
        assert done.returncode == 0, (len(lines), done.stderr[-2000:])
        assert len(lines) == count and not any("wrong" in line for line in lines)
        seen += lines
        left -= count
    # The end of a file may be a whole field that nothing needs.
    if kind == "truncated":
        assert sum(line == "error error" for line in seen) >= 0.9 * len(seen)
    assert any(line.startswith("error") for line in seen)
