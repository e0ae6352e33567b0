"""Truncated files of weights and files with wrong bytes are errors or have the values that their libraries read."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
torch = pytest.importorskip("torch")
numpy = pytest.importorskip("numpy")
safetensors = pytest.importorskip("safetensors.torch")

HOST = os.environ.get("SIMPLE_HOST", "")
TRUNCATIONS, FLIPS = (1000, 10_000) if os.environ.get("SIMPLE_LONG_TESTS") else (40, 120)
ALLOWED = 64 << 20  # bytes that a process may need more than with undamaged files, next to twice the file
# Converts each file that is named in a file; prints a line for each.
PROGRAM = r"""
use model_files.convert.{convert}
use std.fs.{read_text}
use std.process.{args}
use torch
for line in read_text(args()[0]).trim().split("\n"):
    match torch.attempt(\: convert(line, line + ".safetensors")):
        case Ok(count): print "ok {count}"
        case Err(torch.TorchError.Io(message)): print "error {message.replace("\n", " ")}"
        case Err(torch.TorchError.InvalidArgument(message)): print "error {message.replace("\n", " ")}"
        case Err(torch.TorchError.Unavailable(message)): print "error {message.replace("\n", " ")}"    # a device
        case Err(other): print "wrong {other}".replace("\n", " ")
"""
VALUES = {
    "fc.weight": torch.arange(600, dtype=torch.float32).reshape(20, 30),
    "fc.bias": torch.linspace(-1, 1, 20, dtype=torch.float64),
    "count": torch.tensor(5),
    "mask": torch.arange(9) % 2 == 0,
}


def save(kind: str, path: Path) -> None:
    match kind:
        case "pt":
            torch.save(VALUES, path)
        case "pth":
            torch.save(VALUES, path, _use_new_zipfile_serialization=False)
        case "safetensors":
            safetensors.save_file(VALUES, path, metadata={"license": "MIT"})
        case "npz":
            numpy.savez(path, **{name: value.numpy() for name, value in VALUES.items()})


def by_library(kind: str, path: Path) -> dict:
    match kind:
        case "pt" | "pth":
            return torch.load(path, weights_only=True)
        case "safetensors":
            return safetensors.load_file(path)
        case "npz":
            with numpy.load(path) as file:
                return {name: torch.from_numpy(file[name].copy()) for name in file}


def damaged(content: bytes, generator: random.Random, number: int) -> bytes:
    if number < TRUNCATIONS:
        return content[: generator.randrange(len(content))]
    changed = bytearray(content)
    changed[generator.randrange(len(changed))] ^= generator.randrange(1, 256)
    return bytes(changed)


def converted(files: list[Path], folder: Path) -> tuple[list[str], int]:
    """The lines of the program, and the maximum of its memory in bytes."""
    (folder / "program.spl").write_text(PROGRAM)
    (folder / "files").write_text("\n".join(map(str, files)))
    with (folder / "errors").open("w+") as errors:
        command = [HOST, str(folder / "program.spl"), str(folder / "files")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors) as process:
            # Messages may have other line separators, which a text file would convert.
            lines = process.stdout.read().decode(errors="replace").split("\n")[:-1]
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        assert process.returncode == 0, (len(lines), errors.read()[-2000:])
    assert len(lines) == len(files)
    return lines, usage.ru_maxrss * 1024


def same(found: dict, expected: dict) -> bool:
    """Compares bits, because damaged numbers may be NaN."""

    def bits(value: torch.Tensor) -> tuple:
        return value.dtype, value.shape, value.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()

    return {name: bits(value) for name, value in found.items()} == {
        name: bits(value) for name, value in expected.items()
    }


def is_right(kind: str, file: Path) -> bool:
    """Whether the values are the original ones, or what the format's library reads from the damaged file."""
    found = safetensors.load_file(f"{file}.safetensors")
    if same(found, VALUES):
        return True
    return same(found, by_library(kind, file))


@pytest.mark.skipif(not HOST, reason="SIMPLE_HOST is not set")
@pytest.mark.parametrize("kind", ["pt", "pth", "safetensors", "npz"])
def test_damaged_weights_are_errors_or_the_right_values(kind, tmp_path):
    good = tmp_path / f"good.{kind}"
    save(kind, good)
    content, generator = good.read_bytes(), random.Random(0)
    files = [tmp_path / f"{number}.{kind}" for number in range(TRUNCATIONS + FLIPS)]
    for number, file in enumerate(files):
        file.write_bytes(damaged(content, generator, number))
    lines, peak = converted(files, tmp_path)
    assert not [line for line in lines if line.startswith("wrong")]
    assert all(is_right(kind, file) for file, line in zip(files, lines, strict=True) if line.startswith("ok"))
    assert sum(line.startswith("error") for line in lines) > TRUNCATIONS * 0.9
    _, usual = converted([good], tmp_path)
    assert peak < usual + 2 * len(content) + ALLOWED
