"""std.io's open files against Python's: reads, lines, seeks and writes in any order."""

from __future__ import annotations

import io
import json
import os
import random
from pathlib import Path
from typing import Any

from programs import run

CASES = 5000 if os.environ.get("SIMPLE_LONG_TESTS") == "1" else 500
PROGRAM = Path(__file__).parent / "file_answers.spl"
PARTS = [b"a", b"bc", b"\n", b"\r", b"\r\n", "é".encode(), "😀".encode(), b"x" * 50, b"\0"]


def random_question(source: random.Random) -> list[Any]:
    content = b"".join(source.choice(PARTS) for _ in range(source.choice([0, 3, 10, 40])))
    mode = source.choice(["r", "r", "rb", "r+b"])
    newline = source.choice([None, None, "", "\n"]) if mode == "r" else None
    names = ["read", "line", "line", "lines", "start"] + (["write"] if mode == "r+b" else [])
    steps = [[source.choice(names), source.choice([-1, 0, 1, 2, 5, 30])] for _ in range(source.randrange(1, 6))]
    return [content.hex(), mode, newline, steps]


def step(file: Any, name: str, argument: int) -> Any:
    if name == "read":
        return file.read(argument)
    if name == "line":
        return file.readline()
    if name == "lines":
        return file.readlines()
    return file.seek(0) if name == "start" else file.write("xé".encode())


def digits_of(answer: Any) -> Any:
    """Bytes as hexadecimal digits."""
    if isinstance(answer, list):
        return [digits_of(one) for one in answer]
    return answer.hex() if isinstance(answer, bytes) else answer


def expected(path: Path, question: list[Any]) -> list[Any]:
    content, mode, newline, steps = question
    path.write_bytes(bytes.fromhex(content))
    found: list[Any] = []
    encoding = None if "b" in mode else "utf-8"
    with io.open(path, mode, newline=newline, encoding=encoding) as file:  # noqa: UP020
        for name, argument in steps:
            answer = step(file, name, argument)
            found.append(digits_of(answer))
    return [*found, path.read_bytes().hex()]


def test_steps_return_what_they_return_in_python(tmp_path: Path) -> None:
    source = random.Random(80)
    questions = [random_question(source) for _ in range(CASES)]
    asked, answers = tmp_path / "questions.json", tmp_path / "answers.json"
    asked.write_text(json.dumps(questions))
    result = run(PROGRAM, asked, answers, tmp_path / "file")
    assert (result.returncode, result.stderr) == (0, "")
    for question, found in zip(questions, json.loads(answers.read_text()), strict=True):
        assert found == expected(tmp_path / "python", question), question
