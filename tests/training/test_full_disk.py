"""A disk that fills up while a checkpoint is written loses no existing file."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from pathlib import Path

import pytest
from small_disk import small_disk

from programs import host

pytestmark = pytest.mark.skipif(os.environ.get("SIMPLE_TORCH") == "off", reason="there is no PyTorch")
PROGRAM = Path(__file__).with_name("saves.spl")
SAVES = 8


def saves(folder: Path, count: int, limit: int | None = None) -> list[str]:
    """Saves, with files of at most `limit` bytes; returns the program's output."""

    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # it would end the process, where a disk reports an error
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    command = [host(), PROGRAM, folder, str(count)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, preexec_fn=limited if limit else None
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_a_full_disk(tmp_path):
    with small_disk(tmp_path / "disk", "2m") as disk:
        message, last = saves(disk / "run", SAVES)
        assert message.endswith("cannot be written: No space left on device")
        before = contents(disk / "run")
        assert 2 <= len(before) < SAVES
        assert last == f"last {len(before)}"
        assert saves(disk / "run", SAVES) == [message, last]
        assert contents(disk / "run") == before


def test_file_size_limit(tmp_path):
    assert saves(tmp_path / "run", 2) == ["last 2"]
    before = contents(tmp_path / "run")
    message, last = saves(tmp_path / "run", 1, limit=200_000)
    assert message.endswith("epoch=0-step=3.pt cannot be written: File too large")
    assert last == "last 2"
    assert contents(tmp_path / "run") == before
    assert saves(tmp_path / "run", 1) == ["last 3"]
