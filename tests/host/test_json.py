"""std.json against Python's json: the same documents, the same values and the same faults."""

from __future__ import annotations

import json
import os
import random
import re
from pathlib import Path

import pytest

from programs import run

CASES = 10_000 if os.environ.get("SIMPLE_LONG_TESTS") == "1" else 500
PROGRAM = Path(__file__).parent / "json_documents.spl"
CHARACTERS = [
    "a",
    "Z",
    " ",
    '"',
    "\\",
    "/",
    "\n",
    "\t",
    "\b",
    "\f",
    "\r",
    "\0",
    "\x1f",
    "\x7f",
    "é",
    "€",
    "😀",
    "\u2028",
]
TOKENS = ["{", "}", "[", "]", ",", ":", '"', "1", "-", "0", ".", "e", "true", "nul", "NaN", "\\", "\\u00", " ", "é"]


def random_text(source: random.Random) -> str:
    return "".join(source.choice(CHARACTERS) for _ in range(source.choice([0, 1, 3, 8, 30])))


def random_float(source: random.Random) -> float:
    return source.choice(
        [
            source.random(),
            source.uniform(-1e6, 1e6),
            10.0 ** source.randint(-300, 300),
            source.random() * 10.0 ** source.randint(-320, 300),
            float(source.randint(-(10**18), 10**18)),
            *(0.0, -0.0, 1e16, 1e-5, 1e22, 5e-324, float("inf"), float("-inf")),
        ]
    )


def random_value(source: random.Random, depth: int = 0) -> object:
    kind = source.randrange(9 if depth < 4 else 6)
    if kind < 3:
        return [None, True, False, random_float(source)][source.randrange(4)]
    if kind == 3:
        return source.choice([0, -1, source.randint(-100, 100), source.randint(-(2**63), 2**63 - 1), 2**63 - 1])
    if kind < 6:
        return random_text(source)
    size = source.choice([0, 1, 2, 5])
    if kind == 6:
        return [random_value(source, depth + 1) for _ in range(size)]
    return {random_text(source): random_value(source, depth + 1) for _ in range(size)}


def random_document(source: random.Random) -> str:
    """A document in one of the forms that Python writes, with other white space."""
    indent = source.choice([None, None, 0, 3])
    text = json.dumps(random_value(source), indent=indent, ensure_ascii=source.random() < 0.5)
    return source.choice(["", " ", "\r\n"]) + text + source.choice(["", "\t\n "])


def answers(folder: Path, documents: list[str]) -> list[list[str]]:
    """What Simple finds in each document: its forms, or one message."""
    source, target = folder / "documents.txt", folder / "answers.txt"
    source.write_text("\n".join(map(json.dumps, documents)))
    result = run(PROGRAM, source, target)
    assert (result.returncode, result.stderr) == (0, "")
    found = [json.loads(line) for line in target.read_text().split("\n")]
    assert len(found) == len(documents)
    return found


def forms(document: str) -> list[str]:
    """Python's forms of a document, as in the Simple program."""
    value = json.loads(document)
    return [
        json.dumps(value),
        json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False),
        json.dumps(value, indent="\t", separators=(",", ":")),
    ]


def test_random_documents_are_read_and_written_as_by_python(tmp_path: Path) -> None:
    source = random.Random(20)
    documents = [random_document(source) for _ in range(CASES)]
    for document, found in zip(documents, answers(tmp_path, documents), strict=True):
        assert found == forms(document), document


def position(message: str) -> str:
    return message[message.rindex(": line ") :]


def is_beyond_simple(message: str) -> bool:
    """Whether Simple rejects by name a document that Python accepts."""
    return re.match(r"json.loads: (integer|number) out of range|json.loads: unpaired surrogate", message) is not None


def test_random_faults_are_found_where_python_finds_them(tmp_path: Path) -> None:
    source = random.Random(21)
    documents = []
    for _ in range(CASES):
        text = random_document(source)
        at = source.randrange(len(text) + 1)
        documents.append(text[:at] + source.choice([*TOKENS, ""]) + text[at + source.choice([0, 1, 1, 5, 1000]) :])
    faults = 0
    for document, found in zip(documents, answers(tmp_path, documents), strict=True):
        try:
            expected = forms(document)
        except json.JSONDecodeError as fault:
            faults += 1
            assert len(found) == 1, document
            # Python's place of an escape is its second character.
            if found[0].startswith(f"json.loads: {fault.msg}:") and "escape" not in fault.msg:
                assert position(found[0]) == position(str(fault)), document
            else:
                assert re.search(r": line \d+ column \d+ \(char \d+\)$", found[0]), found
        else:
            assert found == expected or is_beyond_simple(found[0]), document
    assert faults > CASES // 4


@pytest.mark.parametrize(
    "document",
    [
        "",
        " ",
        "[1,]",
        '{"a":1,}',
        "[1 2]",
        '{"a" 1}',
        '{"a":1 "b":2}',
        "{1:2}",
        "[1]\n x",
        "[",
        '{"a":',
        "\n\né",
        "tru",
    ],
)
def test_a_fault_has_the_words_and_the_place_of_python(tmp_path: Path, document: str) -> None:
    with pytest.raises(json.JSONDecodeError) as fault:
        json.loads(document)
    assert answers(tmp_path, [document]) == [[f"json.loads: {fault.value}"]]
