"""Positions in a notebook's cells: which part is Simple, the name at the cursor, and the call around it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PATH_BEFORE = re.compile(r"(?:([^\W\d]\w*(?:\.[^\W\d]\w*)*)\.)?([^\W\d]\w*)?$")
_WORD_AFTER = re.compile(r"\w*")
_LINE_MAGIC = re.compile(r"^(?:%[^\W\d]\w*|!|\?)")


@dataclass(frozen=True)
class Part:
    """Simple source in a cell."""

    source: str
    start: int  # its position in the cell


def simple_part(cell: str, *, simple_by_default: bool) -> Part | None:
    """Return the Simple source of a cell, or None if the cell is in another language.

    >>> simple_part("%%simple\\nprint 1", simple_by_default=False)
    Part(source='print 1', start=9)
    """
    if cell.startswith("%%"):
        first, newline, rest = cell.partition("\n")
        magic = first[2:].split(maxsplit=1)[0] if first[2:].strip() else ""
        if magic == "simple" or (simple_by_default and magic in ("time", "timeit", "capture", "prun")):
            return Part(rest, len(first) + len(newline))
        return None
    if cell.startswith("%simple "):
        return Part(cell[8:], 8)
    return Part(cell, 0) if simple_by_default and not cell.startswith(("%", "!")) else None


def line_magics(cell: str) -> int:
    """Return the number of lines at the start that are IPython's: line magics, shell commands, and blank lines between
    them.

    >>> line_magics("%matplotlib inline\\n\\n!ls\\nprint 1\\n%x")
    3
    """
    lines = cell.split("\n")
    magics = [i for i, line in enumerate(lines) if _LINE_MAGIC.match(line)]
    count = 0
    for i, line in enumerate(lines):
        if i in magics:
            count = i + 1
        elif line.strip():
            break
    return count


def path_before(source: str, cursor: int) -> tuple[str, str]:
    """Return the dotted name before the cursor: what precedes the last dot, and the begun name.

    >>> path_before("print torch.nn.Lin", 18), path_before("f(x).re", 7)
    (('torch.nn', 'Lin'), ('?', 're'))
    """
    found = _PATH_BEFORE.search(source[:cursor])
    base, name = (found[1] or "", found[2] or "") if found else ("", "")
    before = source[: cursor - len(name)]
    is_member = before.endswith(".") and not before.endswith("..")
    return ("?" if is_member and not base else base if is_member else ""), name


def name_at(source: str, cursor: int) -> str:
    """Return the dotted name at the cursor; inside the parentheses of a call and not at a name, that of the function.

    >>> name_at("x.relu().sum(dim: 1)", 4), name_at("torch.ones([2], ", 16)
    ('x.relu', 'torch.ones')
    """
    end = cursor + len(_WORD_AFTER.match(source, cursor)[0])  # type: ignore[index]
    base, name = path_before(source, end)
    if name and base != "?":
        return f"{base}.{name}" if base else name
    return enclosing_call(source, cursor)


def enclosing_call(source: str, cursor: int) -> str:
    """Return the dotted name of the function in whose parentheses the cursor is, or "".

    >>> enclosing_call("f(g(1), [2, ", 12)
    'f'
    """
    depth = 0
    for at in range(cursor - 1, -1, -1):
        character = source[at]
        if character in ")]}":
            depth += 1
        elif character in "([{":
            if depth > 0:
                depth -= 1
                continue
            base, name = path_before(source, at)
            if character == "(" and name and base != "?":
                return f"{base}.{name}" if base else name
    return ""


def is_hidden(source: str) -> bool:
    """Whether the source ends in a semicolon, which hides the value.

    >>> is_hidden("x;  # note"), is_hidden("x  # a;")
    (True, False)
    """
    lines = source.rstrip().splitlines()
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return bool(lines) and _without_comment(lines[-1]).rstrip().endswith(";")


def _without_comment(line: str) -> str:
    quote = ""
    for at, character in enumerate(line):
        if quote:
            if character == quote and line[at - 1] != "\\":
                quote = ""
        elif character in "\"'":
            quote = character
        elif character == "#":
            return line[:at]
    return line


def completeness(source: str) -> tuple[str, str]:
    """Return "complete" or "incomplete" for the source of a console, and the indentation of the next line.

    >>> completeness("fn f(x):"), completeness("print 1")
    (('incomplete', '    '), ('complete', ''))
    """
    lines = source.split("\n")
    last = _without_comment(lines[-1]).rstrip()
    indent = lines[-1][: len(lines[-1]) - len(lines[-1].lstrip())]
    if last.endswith(":"):
        return "incomplete", indent + "    "
    if source.count('"""') % 2 == 1 or _open_brackets(source) or last.endswith(("\\", "=", "+", ",", "->")):
        return "incomplete", indent
    if indent and last:
        return "incomplete", indent  # a block ends with a blank line
    return "complete", ""


def _open_brackets(source: str) -> bool:
    depth = 0
    for line in source.split("\n"):
        code = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])*\'', "", _without_comment(line))
        depth += sum(map(code.count, "([{")) - sum(map(code.count, ")]}"))
    return depth > 0
