"""Runs Simple programs on the host and checks them against the marks in their comments.

    # rule: NAME              the rule of tests/conformance/rules.toml that the file tests (before the first statement)
    # arguments: WORDS        the program's arguments
    # folder: NAME            the working folder, relative to the file
    # environment: NAME=VALUE environment variables
    # exit: N                 the exit code, if it is not 0 (1 after an error)
    … # expect: TEXT          one line of standard output, in the file's order
    … # expect error: TEXT    an error reported at this line, with TEXT in its message
    … # expect warning: TEXT  a warning reported at this line
    … # expect hint: TEXT     a hint, somewhere on standard error

A program with errors exits with code 1. One without errors exits with 0 and prints only its warnings to standard error.
SIMPLE_HOST is the path of the host's executable.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

TIME_LIMIT_S = 60
_MARK = re.compile(
    r"# (rule|arguments|folder|environment|exit|expect|expect error|expect warning|expect hint): ?(.*?)"
    r"(?=$| # expect (?:error|warning|hint): )"
)
_REPORT = re.compile(r"^(?P<file>.+?):(?P<line>\d+):((?P<column>\d+):)? (?P<kind>error|warning): (?P<message>.*)$")


@dataclass
class Expectations:
    """The expectations in a program's comments."""

    rules: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    folder: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    status: int | None = None
    output: list[str] = field(default_factory=list)
    reports: list[tuple[str, int, str]] = field(default_factory=list)  # error or warning, line, text
    hints: list[str] = field(default_factory=list)

    def add(self, kind: str, text: str, line: int) -> None:
        if kind == "rule":
            self.rules += text.split()
        elif kind == "arguments":
            self.arguments = shlex.split(text)
        elif kind == "folder":
            self.folder = text
        elif kind == "environment":
            self.environment |= dict(word.split("=", 1) for word in shlex.split(text))
        elif kind == "exit":
            self.status = int(text)
        elif kind == "expect":
            self.output.append(text)
        elif kind == "expect hint":
            self.hints.append(text)
        else:
            self.reports.append((kind.removeprefix("expect "), line, text))

    def errors(self) -> list[tuple[str, int, str]]:
        return [report for report in self.reports if report[0] == "error"]


def expectations(file: Path) -> Expectations:
    """Parses the marks in `file`."""
    found = Expectations()
    for number, line in enumerate(file.read_text().splitlines(), start=1):
        for mark in _MARK.finditer(line):
            found.add(mark[1], mark[2].rstrip(), number)
    return found


def has_terminals() -> bool:
    """Whether pseudo-terminals are available: a root without /dev/pts has none."""
    try:
        for end in os.openpty():
            os.close(end)
    except OSError:
        return False
    return True


def host() -> str:
    """The path of the host's executable."""
    path = os.environ.get("SIMPLE_HOST")
    if not path:
        pytest.fail("SIMPLE_HOST does not name the host's executable")
    return path


def run(
    *words: str | Path, folder: Path | None = None, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs the host with these arguments, optionally in another folder and with more variables."""
    return subprocess.run(
        [host(), *map(str, words)],
        cwd=folder,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=TIME_LIMIT_S,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def is_sanitized() -> bool:
    """Whether the build under test uses the address sanitizer."""
    return "asan" in os.environ.get("SIMPLE_BUILD", "")


def skip_greenlets_if_sanitized() -> None:
    """Skips the module under the address sanitizer, which reports the C stacks that greenlets copy as errors."""
    if is_sanitized():
        pytest.skip("greenlets copy the C stack, which the sanitizer reports", allow_module_level=True)


def hold_excerpts(lines: list[str], file: Path) -> None:
    """Each report with a column is followed by its source line and a caret at the column."""
    source = file.read_text().splitlines()
    for at, line in enumerate(lines):
        report = _REPORT.match(line)
        if not report or not report["column"]:
            continue
        text, column = source[int(report["line"]) - 1], int(report["column"])
        if len(text.encode()) > 160 or not text:
            continue  # shown in part, or nothing to show
        shown = [number for number in range(at + 1, len(lines)) if lines[number].rstrip() == f"  {text}".rstrip()]
        assert shown, lines
        in_characters = len(text.encode()[: column - 1].decode())
        assert lines[shown[0] + 1].index("^") == 2 + in_characters, lines


def hold(file: Path) -> None:
    """Runs `file` and asserts all of its marks."""
    wanted = expectations(file)
    assert wanted.output or wanted.reports or wanted.status is not None, "the file expects nothing"
    folder = file.resolve().parent / wanted.folder if wanted.folder else None
    result = run(file, *wanted.arguments, folder=folder, environment=wanted.environment)
    assert [line.rstrip() for line in result.stdout.splitlines()] == wanted.output, result.stderr
    reported = [match for line in result.stderr.splitlines() if (match := _REPORT.match(line))]
    found = [(match["kind"], int(match["line"])) for match in reported]
    assert found == [(kind, line) for kind, line, _ in wanted.reports], result.stderr
    for match, (_, _, text) in zip(reported, wanted.reports):
        assert text in match["message"], result.stderr
    for match in reported:
        assert Path(match["file"]).resolve() == file.resolve(), result.stderr
    hold_excerpts(result.stderr.splitlines(), file)
    for hint in wanted.hints:
        assert hint in result.stderr
    if not wanted.reports:
        assert result.stderr == ""
    status = wanted.status if wanted.status is not None else 1 if wanted.errors() else 0
    assert result.returncode == status, result.stderr
