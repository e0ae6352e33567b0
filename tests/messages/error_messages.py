"""Lists the error messages of the sources: file, function that raises it, and text.

    python3 tests/messages/error_messages.py --write

writes messages.tsv, the list that was read against the rules in CONTRIBUTING.md. A new message has to be read and
added there. Every string literal with a blank counts, whether it is raised, returned or printed; docstrings and other
texts of several lines do not. Parts that a message takes from variables are shown as {}.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("messages.tsv")

FOLDERS = ("abi", "bridge", "cmake", "core_libtorch", "dlpack_interop", "host", "python", "simple", "tools")
LEFT_OUT = ("abi/generated/", "abi/include/", "tools/check_english.py", "tools/abi_generator/")
# Functions and tables whose texts are data, patterns or the printed form of a value.
NOT_RAISED = {
    "extra_repr",
    "to_string",
    "__str__",
    "repr",
    "class_names",
    "kTable",
    "kValues",
    "IMAGENET",
    "CIFAR10",
    "SVHN",
}
CPP = {".cpp", ".h", ".inc"}
SUFFIXES = CPP | {".py", ".spl", ".cmake"}
MIN_LETTERS = 4

# A call of these is the text of its argument.
CONVERSIONS = {"std::string", "std::string_view", "text", "str"}
SEPARATORS = set(",;:?=<>!&|")
KEYWORDS = {
    "return",
    "throw",
    "raise",
    "print",
    "if",
    "else",
    "and",
    "or",
    "in",
    "panic",
    "yield",
    "for",
    "not",
    "co_return",
}

# The line that begins the function, or the table, that has a message.
_NOT_A_FUNCTION = r"(?!return\b|if\b|for\b|while\b|switch\b|else\b|throw\b|case\b|using\b|co_\w+|delete\b|\s|#|//)"
FUNCTIONS = {
    ".spl": (r"\s*(?:export |pub |static |async |me )*(?:fn|me|class)\s+(\w+)", r"(?:val|const)\s+(\w+)\s*[:=]"),
    ".py": (r"\s*(?:async )?(?:def|class)\s+(\w+)", r"([A-Z_]+)\b[^=]*="),
    ".inc": (r"\s*on_(\w+)\s*:", r"\w[\w:<>,&*\s]*\s(\w+)\([^;]*$"),
    ".cmake": (r"(?:function|macro)\((\w+)", r"\s*set\((\w+)"),
    ".txt": (r"(?:function|macro)\((\w+)", r"\s*set\((\w+)"),
    ".cpp": (
        rf"(?:  )?{_NOT_A_FUNCTION}[\w:<>,&*\s\[\]~()\"]*?[\w>&*\]]\s+[&*]*(?!if\b|for\b)([\w:~]+)\s*"
        r"\((?:[^;]*$|[^;{]*\{)",
        rf"(?:  )?(?:explicit )?{_NOT_A_FUNCTION}(\w[\w:<>~]*)\([^;\"]*[{{:]\s*$",
        r"(\w+::~?\w+)\((?:const )?[\w:]+&? \w+",
        r"(?:  )?(?:inline |static |constexpr |const )+[^=(]*?\b(k[A-Z]\w*)[^=(]*[={]",
    ),
}
_FUNCTIONS = {suffix: [re.compile(pattern) for pattern in patterns] for suffix, patterns in FUNCTIONS.items()}

_CPP_SKIPPED = re.compile(r"//[^\n]*|/\*.*?\*/|R\"(\w*)\(.*?\)\1\"|'(?:\\.[^']*|[^'\\\n])'|#\s*include[^\n]*", re.S)
_SKIPPED = re.compile(r"#[^\n]*|\"\"\".*?\"\"\"|'(?:[^'\\\n]|\\.)*'", re.S)
_NAME = re.compile(r"\d[\w'.]*|[A-Za-z_$@]\w*(?:(?:::|\.|->)~?[A-Za-z_]\w*)*")
_CLOSING = {"(": ")", "[": "]", "{": "}"}


@dataclass
class Token:
    """A literal, a name, a bracket group with its items, or another character."""

    kind: str  # "literal", "name", "group", or the character
    start: int
    text: str = ""
    inner: list[Token] = field(default_factory=list)


def sources() -> list[str]:
    listed = subprocess.run(["git", "ls-files", *FOLDERS], cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for path in listed.stdout.splitlines() if is_read(path)]


def is_read(path: str) -> bool:
    return not path.startswith(LEFT_OUT) and (Path(path).suffix in SUFFIXES or Path(path).name == "CMakeLists.txt")


def messages() -> list[tuple[str, str, str]]:
    """Every message as (file, function, text), in the order of the files."""
    rows: dict[tuple[str, str, str], None] = {}
    for path in sources():
        text, suffix = (ROOT / path).read_text(encoding="utf-8"), Path(path).suffix
        for start, message in sorted(messages_of(tokens_of(text, suffix))):
            function = function_at(text, text.count("\n", 0, start), suffix)
            if is_message(message) and function not in NOT_RAISED:
                rows[path, function, message] = None
    return list(rows)


def is_message(text: str) -> bool:
    plain = text.replace("{}", "")
    return " " in text.strip() and sum(map(str.isalpha, plain)) >= MIN_LETTERS


def tokens_of(text: str, suffix: str) -> list[Token]:
    """The tokens of a source; the groups contain theirs. Comments, docstrings and raw strings are left out."""
    skipped, has_lines = (_CPP_SKIPPED, False) if suffix in CPP else (_SKIPPED, suffix in {".py", ".spl"})
    top: list[Token] = []
    groups = [top]
    at = 0
    while at < len(text):
        character = text[at]
        if found := skipped.match(text, at):
            at = found.end()
        elif character == '"':
            end = end_of_literal(text, at, suffix)
            groups[-1].append(Token("literal", at, plain_text(text[at + 1 : end - 1])))
            at = end
        elif found := _NAME.match(text, at):
            is_prefix = text[found.end() : found.end() + 1] == '"' and len(found[0]) <= 2  # f"..."
            if not is_prefix:
                groups[-1].append(Token("," if found[0] in KEYWORDS else "name", at, found[0]))
            at = found.end()
        elif character in _CLOSING:
            group = Token("group", at, character)
            groups[-1].append(group)
            groups.append(group.inner)
            at += 1
        elif character in ")]}":
            if len(groups) > 1:
                groups.pop()
            at += 1
        else:
            continues = bool(groups[-1]) and groups[-1][-1].kind == "+"
            if character == "\n" and has_lines and len(groups) == 1 and not continues:
                groups[-1].append(Token(";", at))
            elif not character.isspace():
                groups[-1].append(Token(character, at))
            at += 1
    return top


def end_of_literal(text: str, at: int, suffix: str) -> int:
    """The position after the string literal at `at`. Simple's may contain literals in braces."""
    at += 1
    while at < len(text) and text[at] not in '"\n':
        if text[at] == "\\":
            at += 1
        elif text[at] == "{" and suffix == ".spl" and text[at : at + 2] != "{{":
            depth = 0
            while at < len(text) and text[at] != "\n":
                if text[at] == '"':
                    at = end_of_literal(text, at, suffix)
                    continue
                depth += {"{": 1, "}": -1}.get(text[at], 0)
                if depth == 0:
                    break
                at += 1
        elif text[at : at + 2] == "{{":
            at += 1
        at += 1
    return at + 1


def plain_text(literal: str) -> str:
    literal = re.sub(r"\\\n\s*", "", literal)
    return re.sub(
        r"\s+", " ", re.sub(r"(?<!\{)\{(?!\{)[^{}]*(?:\{[^{}]*\}[^{}]*)*\}", "{}", literal).replace("\\n", " ")
    )


def messages_of(tokens: list[Token]) -> Iterator[tuple[int, str]]:
    """The messages of a list of tokens, each with its position."""
    item: list[Token] = []
    for token in [*tokens, Token(";", 0)]:
        if token.kind not in SEPARATORS:
            item.append(token)
            continue
        yield from messages_of_item(item)
        item = []


def messages_of_item(item: list[Token]) -> Iterator[tuple[int, str]]:
    operands: list[list[Token]] = [[]]
    for token in item:
        if token.kind == "+":
            operands.append([])
        else:
            operands[-1].append(token)
    parts: list[str] = []
    start = None
    for operand in operands:
        literal = literal_of(operand)
        if literal is None:
            parts.append("{}")
            for kind, run in groupby(operand, key=lambda token: token.kind):
                found = list(run)
                if kind == "literal":
                    yield found[0].start, "".join(token.text for token in found).strip()
                for token in found:
                    yield from messages_of(token.inner)
        else:
            start = literal[0] if start is None else start
            parts.append(literal[1])
    if start is not None:
        yield start, re.sub(r"(?:\{\})+", "{}", "".join(parts)).strip()


def literal_of(operand: list[Token]) -> tuple[int, str] | None:
    """The text of an operand that is a literal: adjacent literals, also in brackets or in a conversion."""
    if operand and all(token.kind == "literal" for token in operand):
        return operand[0].start, "".join(token.text for token in operand)
    is_conversion = len(operand) == 2 and operand[0].text in CONVERSIONS
    if operand and operand[-1].kind == "group" and operand[-1].text == "(" and (len(operand) == 1 or is_conversion):
        inner = operand[-1].inner
        if not any(token.kind in SEPARATORS for token in inner):
            found = list(messages_of_item(inner))
            return found[0] if len(found) == 1 else None
    return None


def function_at(text: str, line: int, suffix: str) -> str:
    """The function that contains the line, or the constant that is defined there."""
    patterns = _FUNCTIONS.get(suffix, _FUNCTIONS[".cpp"])
    lines = text.splitlines()[: line + 1]
    for distance, candidate in enumerate(reversed(lines)):
        for pattern in patterns:
            found = pattern.match(candidate)
            is_finished = (
                pattern is patterns[-1] and distance > 0 and candidate.split("//")[0].rstrip().endswith((";", '"'))
            )
            if found and not is_finished and not found[1].startswith(("std::", "PyErr_")):
                return found[1]
    return "-"


def as_lines(rows: list[tuple[str, str, str]]) -> str:
    return "".join(f"{path}\t{function}\t{message}\n" for path, function, message in rows)


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        sys.exit(print(__doc__))
    if sys.argv[1:] == ["--write"]:
        LIST.write_text(as_lines(messages()), encoding="utf-8")
    else:
        print(as_lines(messages()), end="")
