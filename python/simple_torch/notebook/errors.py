"""Failures of Simple cells as notebooks show them: the calls in both languages, with cell numbers and marked lines."""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

_CALL = re.compile(r"^ {4}(?P<name>\S.*?) \((?P<place>.+?):(?P<line>\d+)(?::(?P<column>\d+))?\)$", re.M)
_STACK = "stack (most recent call first)"
_CONTEXT = 2  # lines before and after the marked one
_RED, _GREEN, _CYAN, _END = "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[0m"


@dataclass(frozen=True)
class Call:
    """A call of the traceback: the function's name and the place where it stopped."""

    name: str
    place: str
    line: int
    column: int | None


class Tracebacks:
    """Renders failures of Simple cells; knows the cells' sources."""

    def __init__(self, python_cell: Callable[[str], str | None], colors: Callable[[], bool]) -> None:
        """`python_cell` returns the title of a Python cell by its file name, None for another file."""
        self._python_cell, self._colors = python_cell, colors
        self._cells: dict[str, list[str]] = {}

    def add_cell(self, name: str, source: str) -> None:
        """Record the source of a cell, also where Python's own tracebacks look for it."""
        self._cells[name] = source.splitlines()
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)

    def attach(self, error: BaseException) -> None:
        """Make IPython show `error` by its calls in Simple and Python, without those inside this package."""
        error._render_traceback_ = lambda: self.render(error)  # type: ignore[attr-defined]

    def render(self, error: BaseException) -> list[str]:
        """Return the lines of the traceback, the most recent call last."""
        return list(self._rendered(error))

    def _rendered(self, error: BaseException) -> Iterator[str]:
        if error.__cause__ is not None:
            yield from self._rendered(error.__cause__)
            yield "\nThe above exception was the direct cause of the following exception:\n"
        calls, notes = split_notes(error)
        name = type(error).__name__
        if calls:
            title = "Traceback (most recent call last)"
            yield self._colored(_RED, "-" * 75)
            yield self._colored(_RED, name) + " " * max(1, 75 - len(name) - len(title)) + title
        for call, count in _without_repetitions(reversed(calls)):
            yield from self._call(call)
            if count > 1:
                yield f"       ... the same call {count - 1} more times"
        yield f"{self._colored(_RED, name)}: {error}"
        yield from notes

    def _call(self, call: Call) -> Iterator[str]:
        lines, title = self._source(call.place)
        function = "" if call.name == "module" else f", in {self._colored(_CYAN, call.name)}"
        yield f"{self._colored(_GREEN, title)}, line {call.line}{function}"
        if not 1 <= call.line <= len(lines):
            return
        for at in range(max(1, call.line - _CONTEXT), min(len(lines), call.line + _CONTEXT) + 1):
            if at == call.line:
                yield f"{self._colored(_GREEN, f'{at:->6}'.replace(f'-{at}', f'> {at}'))} {lines[at - 1]}"
                if call.column is not None:
                    yield " " * (7 + call.column) + self._colored(_RED, "^")
            else:
                yield f"{at:>7} {lines[at - 1]}"

    def _source(self, place: str) -> tuple[list[str], str]:
        """Return the lines of a cell or a file, and its title."""
        if place in self._cells:
            return self._cells[place], f"Cell In[{place.removeprefix('cell ')}]"
        title = self._python_cell(place)
        return [line.rstrip("\n") for line in linecache.getlines(place)], title or place

    def _colored(self, color: str, text: str) -> str:
        return f"{color}{text}{_END}" if self._colors() else text


def _without_repetitions(calls: Iterable[Call]) -> Iterator[tuple[Call, int]]:
    """Yield each call with the number of its successive repetitions, such as those of a recursion."""
    return ((call, len(list(same))) for call, same in groupby(calls))


def split_notes(error: BaseException) -> tuple[list[Call], list[str]]:
    """Return Simple's calls, which a note lists with the most recent one first, and the other notes."""
    calls: list[Call] = []
    others = []
    for note in getattr(error, "__notes__", ()):
        if not isinstance(note, str) or _STACK not in note:
            others.append(str(note))
            continue
        hints, _, stack = note.partition(_STACK)
        calls += [_call_of(found) for found in _CALL.finditer(stack)]
        others += [line for line in hints.splitlines() if line.lstrip().startswith("hint:")]
    return calls, others


def _call_of(found: re.Match[str]) -> Call:
    column: Any = found["column"]
    return Call(found["name"], found["place"], int(found["line"]), column and int(column))
