"""std.path against Python's os.path."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

from programs import run

CASES = 10_000 if os.environ.get("SIMPLE_LONG_TESTS") == "1" else 500
PROGRAM = Path(__file__).parent / "path_answers.spl"
PARTS = ["/", "/", "//", ".", "..", "...", "a", "b.txt", ".c", "d.tar.gz", "é", "e.", "usr", " "]


def random_path(source: random.Random) -> str:
    return source.choice(["", "", "/", "./"]) + "".join(source.choice(PARTS) for _ in range(source.randrange(7)))


def expected(a: str, b: str) -> list[object]:
    path = os.path
    parts = [path.join(a, b), [*path.split(a)], [*path.splitext(a)], path.basename(a), path.dirname(a)]
    whole = [path.normpath(a), path.abspath(a), path.isabs(a), path.relpath(a, "x" + b) if a else ""]
    return [*parts, *whole, path.exists(a), path.isdir(a), path.isfile(a)]


def test_random_paths_have_the_parts_that_python_finds(tmp_path: Path) -> None:
    source = random.Random(30)
    pairs = [(random_path(source), random_path(source)) for _ in range(CASES)]
    questions, answers = tmp_path / "questions.json", tmp_path / "answers.json"
    questions.write_text(json.dumps(pairs))
    result = run(PROGRAM, questions, answers)
    assert (result.returncode, result.stderr) == (0, "")
    for (a, b), found in zip(pairs, json.loads(answers.read_text()), strict=True):
        assert found == expected(a, b), (a, b)


def test_files_and_folders_of_the_system_are_distinguished(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("12345")
    program = tmp_path / "program.spl"
    program.write_text(
        f"use std.path\nval at = {json.dumps(str(tmp_path))}\n"
        'for name in ["", "file", "absent"]:\n'
        "    val whole = path.join(at, name)\n"
        "    print path.exists(whole), path.isdir(whole), path.isfile(whole)\n"
        'print path.getsize(path.join(at, "file")), path.join("a", "b", "c")\n'
        'print attempt(\\: path.relpath("")).unwrap_err().message\n'
    )
    result = run(program)
    lines = ["true true false", "true false true", "false false false", "5 a/b/c", "relpath: no path specified"]
    assert (result.stdout.splitlines(), result.stderr) == (lines, "")
