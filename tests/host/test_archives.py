"""std.zip and std.gzip exchange archives with Python's zipfile and gzip."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

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
