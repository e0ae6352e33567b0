"""Buffered files at the exit of a Simple program: flushed as at Python's exit."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

HOST = os.environ.get("SIMPLE_HOST", "")
pytestmark = pytest.mark.skipif(not HOST, reason="SIMPLE_HOST is not set")
pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)

# Files that are never closed, referenced by __main__, by another module, and by a function.
OPENED = """
import gzip, io, zipfile, json
text = open('text', 'w'); text.write('grün')
binary = open('binary', 'wb'); binary.write(b'abc')
json.both = open('both', 'w+b'); json.both.write(b'def')
packed = gzip.open('packed.gz', 'wt'); packed.write('packed')
def keeps(file): return lambda: file
kept = keeps(io.TextIOWrapper(gzip.GzipFile('kept.gz', 'wb'))); kept().write('kept')
archive = zipfile.ZipFile('archive.zip', 'w'); archive.writestr('inner', 'inside')
closed = open('closed', 'w'); closed.write('closed'); closed.close()
full = open('/dev/full', 'w'); full.write('lost')
"""


def written(folder: Path) -> dict[str, bytes]:
    return {
        "text": (folder / "text").read_bytes(),
        "binary": (folder / "binary").read_bytes(),
        "both": (folder / "both").read_bytes(),
        "closed": (folder / "closed").read_bytes(),
        "packed": gzip.decompress((folder / "packed.gz").read_bytes()),
        "kept": gzip.decompress((folder / "kept.gz").read_bytes()),
        "archive": zipfile.ZipFile(folder / "archive.zip").read("inner"),
    }


def run(command: list[object], folder: Path) -> subprocess.CompletedProcess:
    folder.mkdir()
    return subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, timeout=120)


def test_open_files_are_flushed_as_by_python(tmp_path):
    program = tmp_path / "program.spl"
    program.write_text(f'use python as py\npy.exec("""{OPENED}""")\nprint "done"\n')
    ours = run([HOST, program], tmp_path / "ours")
    assert (ours.returncode, ours.stdout, ours.stderr) == (0, "done\n", "")
    run([sys.executable, "-c", OPENED], tmp_path / "theirs")
    assert written(tmp_path / "ours") == written(tmp_path / "theirs")


@pytest.mark.parametrize(
    ("raised", "status", "message"),
    [("SystemExit(3)", 3, ""), ("SystemExit()", 0, ""), ("SystemExit", 0, ""), ('SystemExit("bye")', 1, "bye")],
)
@pytest.mark.parametrize("through", ["panic({})", 'py.eval("lambda f: f()")(\\: panic({}))'])
def test_a_system_exit_of_the_program_ends_it(tmp_path, raised, status, message, through):
    program = tmp_path / "program.spl"
    raises = through.format(f'py.import("builtins").{raised}')
    program.write_text(f"use python as py\n{raises}\n")
    ended = run([HOST, program], tmp_path / "folder")
    assert ended.returncode == status, ended.stderr
    assert message in ended.stderr
    assert bool(ended.stderr) == bool(message)
