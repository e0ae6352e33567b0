"""std.csv against Python's csv: the same records, rows and texts."""

from __future__ import annotations

import csv
import io
import json
import os
import random
from pathlib import Path
from typing import Any

from programs import run

CASES = 10_000 if os.environ.get("SIMPLE_LONG_TESTS") == "1" else 1000
PROGRAM = Path(__file__).parent / "csv_answers.spl"
PARTS = ["a", "bc", "1.5", "", " ", ",", ";", "\n", "\r\n", "\n", '"', '""', '"x,y"', '"p\nq"', "é", "\t"]


def question(source: random.Random) -> list[Any]:
    text = "".join(source.choice(PARTS) for _ in range(source.randrange(12)))
    names = source.choice([None, ["a", "b"], ["x"]])
    values = [None, "", "a", "b,c", 'd"e', "f\ng", 1, -2.5, ";", " "]
    rows = [[source.choice(values) for _ in range(source.randrange(1, 4))] for _ in range(source.randrange(4))]
    match source.randrange(5):
        case 0:
            return ["read", text, source.choice([",", ";", "\t"])]
        case 1:
            return ["lines", [line for line in text.split("\n") if '"' not in line]]
        case 2:
            return ["dicts", text, names]
        case 3:
            return ["write", rows, source.choice([",", ";"])]
    return ["write_dicts", [dict(zip("abz", row, strict=False)) for row in rows], ["a", "b"]]


def answer(question: list[Any]) -> Any:
    kind, first, *rest = question
    file = io.StringIO(newline="")
    match kind:
        case "read":
            return [list(csv.reader(io.StringIO(first, newline=""), delimiter=rest[0])), True]
        case "lines":
            return list(csv.reader(first))
        case "dicts":
            lines = io.StringIO(first, newline="")
            rows = csv.DictReader(lines, fieldnames=rest[0], restkey="more", restval="less")
            return [[list(pair) for pair in row.items()] for row in rows]
        case "write":
            csv.writer(file, delimiter=rest[0]).writerows(first)
        case "write_dicts":
            writer = csv.DictWriter(file, rest[0], restval="-", extrasaction="ignore", lineterminator="\n")
            writer.writeheader()
            writer.writerows(first)
    return file.getvalue()


def test_answers_are_pythons(tmp_path: Path) -> None:
    source = random.Random(31)
    questions = [question(source) for _ in range(CASES)]
    (tmp_path / "questions.json").write_text(json.dumps(questions), encoding="utf-8")
    result = run(PROGRAM, str(tmp_path / "questions.json"))
    assert result.returncode == 0, result.stderr
    for asked, found in zip(questions, json.loads(result.stdout), strict=True):
        assert found == answer(asked), asked


def test_a_file_is_read_in_chunks(tmp_path: Path) -> None:
    rows = [[str(n), "x" * (n % 7), "a\r\nb" if n % 3 else 'q"'] for n in range(30_000)]
    with (tmp_path / "large.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    program = tmp_path / "sums.spl"
    program.write_text(
        "use std.csv\nvar rows = 0\nvar letters = 0\n"
        'with open("large.csv", newline: "") as file:\n'
        "    for (n, x, last) in csv.reader(file):\n"
        "        rows += if int(n) == rows: 1 else: 0\n"
        "        letters += x.len() + last.len()\n"
        "print rows, letters\n"
    )
    result = run(program, folder=tmp_path)
    assert result.stdout == f"{len(rows)} {sum(len(x) + len(last) for _, x, last in rows)}\n", result.stderr


def test_other_keys_are_an_error(tmp_path: Path) -> None:
    program = tmp_path / "other.spl"
    program.write_text(
        "use std.csv\nuse std.io\n"
        'try: csv.DictWriter(io.StringIO(), ["a"]).writerow({"a": 1, "zz": 2})\n'
        "except ValueError as e: print e\n"
    )
    result = run(program, folder=tmp_path)
    assert result.stdout == "csv: dict contains fields not in fieldnames: 'zz'\n", result.stderr
