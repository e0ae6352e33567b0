"""Reads the event files of a run, with TensorBoard's own messages."""

from __future__ import annotations

import struct
import sys
import types
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)
# This module makes TensorBoard work without TensorFlow, which would take seconds to load.
sys.modules.setdefault("tensorboard.compat.notf", types.ModuleType("tensorboard.compat.notf"))
event_pb2 = pytest.importorskip("tensorboard.compat.proto.event_pb2", exc_type=ModuleNotFoundError)
accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
records = pytest.importorskip("tensorboard.compat.tensorflow_stub.pywrap_tensorflow")


def files_in(folder: Path) -> list[Path]:
    """The files in order of creation."""
    return sorted(folder.glob("events.out.tfevents.*"), key=lambda file: int(file.name.split(".")[6]))


def events_in(file: Path) -> list:
    """All events. TensorBoard's reader checks each length and checksum; a truncated record is an error here."""
    size = file.stat().st_size
    found = []
    at = 0
    with file.open("rb") as stream:
        while at < size:
            (length,) = struct.unpack("<Q", stream.read(8))
            stream.seek(at)
            header, body = stream.read(12), stream.read(length + 4)
            assert len(body) == length + 4, "the last record is torn"
            assert header[8:] == struct.pack("<I", records.masked_crc32c(header[:8]))
            assert body[length:] == struct.pack("<I", records.masked_crc32c(body[:length]))
            found.append(event_pb2.Event.FromString(body[:length]))
            at += 16 + length
    return found


def values_in(folder: Path) -> dict[str, list]:
    """Pairs of step and value, by tag, of all files in the folder, in order of writing."""
    found: dict[str, list] = {}
    for file in files_in(folder):
        for event in events_in(file):
            for value in event.summary.value:
                found.setdefault(value.tag, []).append((event.step, value))
    return found


def shown(folder: Path):
    """The folder as TensorBoard reads it."""
    board = accumulator.EventAccumulator(str(folder), size_guidance={"scalars": 0, "histograms": 0, "images": 0})
    board.Reload()
    return board
