"""std.regex against Python's re: the same matches, replacements and errors."""

from __future__ import annotations

import json
import os
import random
import re
import warnings
from pathlib import Path

import pytest

from programs import run

CASES = 10_000 if os.environ.get("SIMPLE_LONG_TESTS") == "1" else 1000
PROGRAM = Path(__file__).parent / "regex_answers.spl"
CHARACTERS = ["a", "b", "c", "A", "1", "_", " ", "\n", "-", "é", "É", "٣", "€", "😀", "\x1c", "\xa0", "k"]
ATOMS = [
    *("a", "b", "c", "A", "1", "_", "é", "É", "€", "😀", "-", ".", ".", "k"),
    *(r"\d", r"\D", r"\s", r"\S", r"\w", r"\W", r"\.", r"\n", r"\x61", r"\u00e9", r"\-", r"\101", r"\t"),
    *("[abc]", "[^abc]", "[a-c1]", r"[\w-]", r"[^\W\d]", r"[\S\n]", r"[^\s1]", "[]a]", "[é-ê]", r"[\d€]", "[A-Z]"),
]
ANCHORS = ["^", "$", r"\b", r"\B", r"\A", r"\Z"]
QUANTIFIERS = ["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{,2}", "{1,}?", "{2}?"]
TOKENS = [*"()[]{}*+?|^$\\.-,:=!<>P#1aé", "(?", "(?P<n>", "(?P=n)", r"\1", r"\9"]
TOKENS += ["(?<=", "(?i)", "(?-i:", r"\q", "{3,1}"]
NO_FLAGS = ["unknown flag", "missing flag", "missing :", "missing -, : or )"]
REPLACEMENTS = ["", "x", r"[\g<0>]", r"\1", r"\n\\", r"\g<1>\g<n>", r"\x", r"\07", r"\g<", "€\\0", r"\g<zz>", r"\777"]
FLAGS = [0, 0, 0, re.I, re.M, re.S, re.A, re.I | re.A, re.X, re.I | re.M | re.S]


class Patterns:
    """Makes patterns that are correct, without repetitions of what may be empty: there the engines differ."""

    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.closed: list[int] = []  # groups that may be referred to
        self.groups = 0
        self.behind = False

    def alternatives(self, depth: int) -> tuple[str, bool]:
        """A pattern, and whether it may match nothing."""
        parts = [self.sequence(depth) for _ in range(self.source.choice([1, 1, 1, 2, 3]))]
        return "|".join(part for part, _ in parts), any(empty for _, empty in parts)

    def sequence(self, depth: int) -> tuple[str, bool]:
        parts = [self.item(depth) for _ in range(self.source.choice([1, 1, 2, 3]))]
        return "".join(part for part, _ in parts), all(empty for _, empty in parts)

    def item(self, depth: int) -> tuple[str, bool]:
        source, choice = self.source, self.source.random()
        if choice < 0.08:
            return source.choice(ANCHORS), True
        if choice < 0.12 and self.closed:
            return f"\\{source.choice(self.closed)}", True
        if choice < 0.17 and depth > 0:
            inner, _ = Patterns(source).plain()
            return source.choice(["(?=", "(?!", "(?<=", "(?<!"]) + inner + ")", True
        if choice < 0.4 and depth > 0:
            atom, empty = self.group(depth)
        else:
            atom, empty = source.choice(ATOMS), False
        if empty or source.random() < 0.6:
            return atom, empty
        quantifier = source.choice(QUANTIFIERS)
        return atom + quantifier, quantifier[0] in "*?" or quantifier.startswith("{,")

    def plain(self) -> tuple[str, bool]:
        return "".join(self.source.choice(ATOMS) for _ in range(self.source.choice([1, 2]))), False

    def group(self, depth: int) -> tuple[str, bool]:
        kind = self.source.choice(["(", "(", "(?:", "(?>", "(?i:", "(?-i:", "(?s:", "(?a:", "name"])
        number = None
        if kind in ("(", "name"):
            self.groups += 1
            number = self.groups
            kind = f"(?P<g{number}>" if kind == "name" else kind
        inner, empty = self.alternatives(depth - 1)
        if number is not None:
            self.closed.append(number)
        return f"{kind}{inner})", empty


def random_pattern(source: random.Random) -> str:
    return Patterns(source).alternatives(3)[0]


def random_text(source: random.Random) -> str:
    letters = CHARACTERS if source.random() < 0.5 else CHARACTERS[:9]
    return "".join(source.choice(letters) for _ in range(source.choice([1, 3, 8, 20])))


def broken(source: random.Random, pattern: str) -> str:
    at = source.randrange(len(pattern) + 1)
    return pattern[:at] + source.choice(TOKENS) + pattern[at + source.choice([0, 0, 1]) :]


def parts(found: re.Match[str] | None) -> object:
    if found is None:
        return None
    return [list(found.span()), list(found.groups()), found.groupdict(), found.lastindex, found.lastgroup]


def expected(pattern: str, flags: int, text: str, replacement: str) -> object:
    try:
        compiled = re.compile(pattern, flags)
    except (re.error, OverflowError) as fault:
        return f"regex.compile: {fault}"
    matches = [compiled.search(text), compiled.match(text), compiled.fullmatch(text), compiled.search(text, 1, 4)]
    try:
        replaced: object = list(compiled.subn(replacement, text))
    except (re.error, IndexError) as fault:
        replaced = f"regex.sub: {fault}"
    found = [list(f) if isinstance(f, tuple) else f for f in compiled.findall(text)]
    return [
        *map(parts, matches),
        [list(f.span()) for f in compiled.finditer(text)],
        found,
        compiled.split(text, maxsplit=3),
        replaced,
        compiled.sub(lambda f: f"<{f.group()}>", text, count=2),
    ]


def answers(folder: Path, questions: list[tuple[str, int, str, str]]) -> list[object]:
    source, target = folder / "questions.json", folder / "answers.json"
    source.write_text(json.dumps(questions))
    result = run(PROGRAM, source, target)
    assert (result.returncode, result.stderr) == (0, "")
    return json.loads(target.read_text())


def test_random_patterns_match_as_in_python(tmp_path: Path) -> None:
    source = random.Random(40)
    questions = [
        (random_pattern(source), int(source.choice(FLAGS)), random_text(source), source.choice(REPLACEMENTS))
        for _ in range(CASES)
    ]
    for question, found in zip(questions, answers(tmp_path, questions), strict=True):
        assert found == expected(*question), question


@pytest.mark.filterwarnings("ignore")
def test_faulty_patterns_have_the_message_and_the_position_of_python(tmp_path: Path) -> None:
    source = random.Random(41)
    questions = []
    for _ in range(CASES):
        pattern = random_pattern(source)
        for _ in range(source.choice([1, 2, 4])):
            pattern = broken(source, pattern)
        if re.search(r"\(\?[a-z-]*t", pattern):  # a flag of old versions of Python
            continue
        questions.append((pattern, int(source.choice(FLAGS)), "", ""))
    faults = 0
    for question, found in zip(questions, answers(tmp_path, questions), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = expected(*question)
        if isinstance(answer, str):
            faults += 1
            if not question[0].isascii():  # here only ASCII letters are unknown flags
                wanted = {answer.replace("unknown flag", words) for words in NO_FLAGS}
            else:
                wanted = {answer}
            assert found in wanted, question
        else:
            assert not isinstance(found, str) or "PCRE2 does not support" in found, (question, found)
    assert faults > CASES // 4
