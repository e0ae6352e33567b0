"""std.zip and std.gzip exchange archives with Python's zipfile and gzip."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pytest

from programs import run

PROGRAM = Path(__file__).parent / "archive_answers.spl"
DATA = bytes(range(256)) * 300


def test_archives_are_exchanged_with_python(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(DATA)
    for name, method in [("stored.zip", zipfile.ZIP_STORED), ("deflated.zip", zipfile.ZIP_DEFLATED)]:
        with zipfile.ZipFile(tmp_path / name, "w", method) as archive:
            archive.comment = b"a comment"
            archive.writestr(zipfile.ZipInfo("d/é.txt", (2024, 2, 29, 12, 30, 58)), DATA, method)
            archive.writestr(zipfile.ZipInfo("empty", (1999, 12, 31, 0, 0, 0)), b"")
    (tmp_path / "two.gz").write_bytes(gzip.compress(b"one\n") + gzip.compress("twö".encode()))
    result = run(PROGRAM, tmp_path)
    lines = ["d/é.txt (2024, 2, 29, 12, 30, 58) 76800", "empty (1999, 12, 31, 0, 0, 0) 0"]
    assert (result.stdout.splitlines(), result.stderr) == ([*lines, *lines, "true"], "")
    for name in ["stored.zip", "deflated.zip"]:
        assert (tmp_path / f"extracted {name}" / "d" / "é.txt").read_bytes() == DATA
    with zipfile.ZipFile(tmp_path / "made.zip") as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["é/a.txt", "bytes"]
        assert archive.read("é/a.txt") == b"text" * 1000
        assert archive.read("bytes") == DATA
    assert gzip.decompress((tmp_path / "made.gz").read_bytes()) == DATA


LARGE = """
use std.process.{args}
use std.zip
val folder = args()[0]
val theirs = zip.ZipFile(folder + "/theirs.zip")
for name in theirs.namelist(): print name, theirs.read(name) == folder * 50
with zip.ZipFile(folder + "/ours.zip", "w") as ours:
    for i in 0..70000: ours.writestr("f{i}", "{i}")
with zip.ZipFile(folder + "/ours.zip", "a") as ours: ours.writestr("more", "x")
print zip.ZipFile(folder + "/ours.zip").read("f69999")
"""


def test_large_archives_are_exchanged_with_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # So small files have the records of ZIP64, and their sizes and offsets stand in its extra fields.
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 5)
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 1)
    with zipfile.ZipFile(tmp_path / "theirs.zip", "w") as archive:
        archive.writestr("stored", str(tmp_path) * 50)
        archive.writestr("deflated", str(tmp_path) * 50, zipfile.ZIP_DEFLATED)
    (tmp_path / "large.spl").write_text(LARGE)
    result = run(tmp_path / "large.spl", tmp_path)
    assert (result.stdout.splitlines(), result.stderr) == (["stored true", "deflated true", "69999"], "")
    with zipfile.ZipFile(tmp_path / "ours.zip") as archive:
        assert archive.namelist() == [*[f"f{i}" for i in range(70_000)], "more"]
        assert archive.read("f65536") == b"65536" and archive.testzip() is None


def test_a_corrupt_field_of_zip64_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 5)
    with zipfile.ZipFile(tmp_path / "theirs.zip", "w") as archive:
        archive.writestr("a", "longer than five")
    content = (tmp_path / "theirs.zip").read_bytes()
    at = content.rindex(b"PK\x01\x02") + 47 + 2  # the length of the extra field's part
    (tmp_path / "theirs.zip").write_bytes(content[:at] + b"\x04" + content[at + 1 :])
    (tmp_path / "read.spl").write_text('use std.zip\nuse std.process.{args}\nzip.ZipFile(args()[0] + "/theirs.zip")\n')
    assert "Corrupt zip64 extra field" in run(tmp_path / "read.spl", tmp_path).stderr
