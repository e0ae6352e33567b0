"""Lists the error messages of the sources: file, function that raises it, and text.

    python3 tests/messages/error_messages.py --write

writes messages.tsv, the list that was read against the rules in CONTRIBUTING.md. A new message has to be read and
added there. Parts that a message takes from variables are shown as {}.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("messages.tsv")

FOLDERS = ("abi/backend", "abi/front", "abi/handles", "bridge", "core_libtorch", "dlpack_interop", "host", "python", "simple", "tools")
SUFFIXES = {".cpp", ".h", ".inc", ".py", ".spl"}

# A call whose string literals are read by people when it fails: `fail(...)`, `throw Error(...)`, `TorchError.Io(...)`.
RAISING = re.compile(
    r"(?:\b(?:throw|raise)\s+[\w:.]+"
    r"|\b\w*(?:fail|refuse|reject|raise|throw|panic|diagnos|warn|unsupported|mismatch|undefined|expected)\w*"
    r"|\bPyErr_(?:Format|SetString)|\bTorchError\.\w+|\b\w*Error|\bErr|\bhint|\brequire\w*)\s*\("
)
FUNCTION = {
    ".spl": re.compile(r"^\s*(?:export |pub |static |async |me )*(?:fn|me|class)\s+(\w+)"),
    ".py": re.compile(r"^\s*(?:async )?(?:def|class)\s+(\w+)"),
}
CPP_FUNCTION = re.compile(r"^(?:  )?(?!\s|return|if|for|while|switch|else|throw|case|using|#|//)[\w:<>,&*\s\[\]~]*?([\w:~]+)\s*\([^;]*$")
LITERAL = re.compile(r'"""(.*?)"""|R"\((.*?)\)"|"((?:[^"\\\n]|\\.)*)"', re.S)
MIN_LETTERS = 4


def sources() -> list[str]:
    listed = subprocess.run(["git", "ls-files", *FOLDERS], cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for path in listed.stdout.splitlines() if Path(path).suffix in SUFFIXES]


def messages() -> list[tuple[str, str, str]]:
    """Every message as (file, function, text), in the order of the files."""
    rows: dict[tuple[str, str, str], None] = {}
    for path in sources():
        text = (ROOT / path).read_text(encoding="utf-8")
        for line, message in messages_in(without_comments(text, Path(path).suffix)):
            rows[path, function_at(text, line, Path(path).suffix), message] = None
    return list(rows)


def without_comments(text: str, suffix: str) -> str:
    """The text with comments blanked, so that positions stay the same."""
    mark = r"//[^\n]*" if suffix in {".cpp", ".h", ".inc"} else r"#[^\n]*"
    pattern = re.compile(rf'("(?:[^"\\\n]|\\.)*")|{mark}')
    return pattern.sub(lambda found: found[1] or " " * len(found[0]), text)


def messages_in(text: str) -> Iterator[tuple[int, str]]:
    end = 0
    for call in RAISING.finditer(text):
        if call.start() < end:
            continue
        end = end_of_call(text, call.end())
        message = joined(text[call.end() : end])
        if sum(map(str.isalpha, message.replace("{}", ""))) >= MIN_LETTERS and " " in message:
            yield text.count("\n", 0, call.start()), message


def end_of_call(text: str, start: int) -> int:
    depth, at = 1, start
    while at < len(text) and depth:
        if text[at] == '"':
            literal = LITERAL.match(text, at)
            at = literal.end() if literal else at + 1
            continue
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at - 1


def joined(arguments: str) -> str:
    """The literals of a call's arguments as one text."""
    parts, last = [], None
    for literal in LITERAL.finditer(arguments):
        between = arguments[last : literal.start()] if last is not None else ""
        if last is not None:
            parts.append("" if not between.strip() else " | " if between.strip() == "," else "{}")
        content = next(group for group in literal.groups() if group is not None)
        parts.append(re.sub(r"(?<!\{)\{[^{}]+\}", "{}", content))
        last = literal.end()
    if last is not None and re.search(r"\+\s*\S", arguments[last:]):
        parts.append("{}")
    return re.sub(r"\s+", " ", "".join(parts)).replace("\\n", " ").strip()


def function_at(text: str, line: int, suffix: str) -> str:
    pattern = FUNCTION.get(suffix, CPP_FUNCTION)
    for candidate in reversed(text.splitlines()[: line + 1]):
        found = pattern.match(candidate)
        if found:
            return found[1]
    return "-"


def as_lines(rows: list[tuple[str, str, str]]) -> str:
    return "".join(f"{path}\t{function}\t{message}\n" for path, function, message in rows)


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        LIST.write_text(as_lines(messages()), encoding="utf-8")
    else:
        print(as_lines(messages()), end="")
