"""std.argparse against Python's argparse: values, faults and pages of help."""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from pathlib import Path
from typing import Any, NoReturn

from programs import run

CASES = 3000 if os.environ.get("SIMPLE_LONG_TESTS") == "1" else 300
PROGRAM = Path(__file__).parent / "argparse_answers.spl"
WORDS = ["a", "b", "1", "-1", "2.5", "-", "-a", "-b", "-c", "-ab", "-a1", "--alpha", "--beta", "--alpha=1", "--al"]
WORDS += ["--gamma", "--beta=x", "-b=3", "--unknown", "-x", "run", "walk", "-n", "--beta=", "a b", "-vv", "-v"]
OPTIONS = [["-a", "--alpha"], ["-b", "--beta"], ["--gamma"], ["-c"], ["-v", "--verbose"], ["--alphabet"]]


class Fault(Exception):
    pass


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Fault(message)


def random_option(source: random.Random, names: list[str]) -> tuple[list[str], dict[str, Any], int]:
    kind = source.choice(["store", "store", "store", "store_true", "count", "append", "store_const", "extend"])
    options: dict[str, Any] = {"action": kind}
    if source.random() < 0.5:
        options["help"] = "what it does: " + "word " * source.choice([1, 15]) + "(default: %(default)s)"
    if kind == "store_const":
        options |= {"const": 7, "default": source.choice([None, 0])}
    if kind in ("store", "append", "extend"):
        nargs = source.choice([None, None, "?", "*", "+", 1, 2] if kind != "extend" else ["+", "*", 2])
        options |= {} if nargs is None else {"nargs": nargs}
        options |= source.choice([{}, {"type": "int"}, {"type": "float"}, {"choices": ["a", "b"]}, {"metavar": "M"}])
    if kind == "store" and source.random() < 0.3:
        options |= source.choice([{"default": 5}, {"required": True}, {"dest": "other" + names[-1].replace("-", "")}])
    # Old versions of Python let an option without its optional word stand next to an exclusive one.
    may_be_exclusive = "required" not in options and options.get("nargs") != "?"
    return names, options, source.choice([-1, -1, -1, 0 if may_be_exclusive else 1, 1])


def random_positional(source: random.Random, name: str, count: int) -> tuple[list[str], dict[str, Any], int]:
    # In old versions of Python, optional arguments have no words after an option.
    nargs = source.choice([None, None, "+", 2] if count > 1 else [None, "?", "*", "+", 2])
    options = {} if nargs is None else {"nargs": nargs}
    options |= source.choice([{}, {}, {"type": "int"}, {"help": "some words"}, {"metavar": "NAME"}])
    return [name], options, -1


def random_specification(source: random.Random) -> dict[str, Any]:
    names = source.sample(OPTIONS, source.randrange(1, 5))
    arguments = [random_option(source, one) for one in names]
    count = source.randrange(3)
    arguments += [random_positional(source, name, count) for name in ["first", "second"][:count]]
    lines = [[source.choice(WORDS) for _ in range(source.randrange(6))] for _ in range(8)]
    return {
        "description": source.choice([None, "A program. " * 12]),
        "arguments": arguments,
        "commands": source.random() < 0.15,
        "lines": lines,
    }


def expected(specification: dict[str, Any]) -> list[Any]:
    parser = Parser(prog="prog", description=specification["description"])
    used = {group for _, _, group in specification["arguments"]}
    groups: list[Any] = [parser.add_mutually_exclusive_group() if 0 in used else None]
    groups.append(parser.add_argument_group("others", "Some others.") if 1 in used else None)
    for names, options, group in specification["arguments"]:
        named = dict(options)
        if "type" in named:
            named["type"] = {"int": int, "float": float}[named["type"]]
        (parser if group < 0 else groups[group]).add_argument(*names, **named)
    if specification["commands"]:
        commands = parser.add_subparsers(dest="command", required=True)
        commands.add_parser("run", help="runs").add_argument("-n", type=int)
        commands.add_parser("walk").add_argument("where", nargs="*")
    parsed: list[Any] = []
    for words in specification["lines"]:
        try:
            namespace, rest = parser.parse_known_args(words)
            parsed.append([vars(namespace), rest])
        except Fault as fault:
            parsed.append(f"error: {fault}")
    return [parser.format_help(), parsed]


def test_random_command_lines_have_the_values_and_faults_of_python(tmp_path: Path) -> None:
    source = random.Random(70)
    specifications = [random_specification(source) for _ in range(CASES)]
    questions, answers = tmp_path / "questions.json", tmp_path / "answers.json"
    questions.write_text(json.dumps(specifications))
    result = run(PROGRAM, questions, answers)
    assert (result.returncode, result.stderr) == (0, "")
    for specification, found in zip(specifications, json.loads(answers.read_text()), strict=True):
        page, parsed = expected(specification)
        for words, own, wanted in zip(specification["lines"], found[1], parsed, strict=True):
            assert own == wanted, (specification["arguments"], words)
        if sys.version_info < (3, 13):  # newer versions show an option's words once
            wanted = page.replace("(default: False)", "(default: false)").split("\n\n")
            own = found[0].split("\n\n")
            assert own[0].split() == wanted[0].split(), specification  # Python breaks lines inside options
            assert own[1:] == wanted[1:], specification
