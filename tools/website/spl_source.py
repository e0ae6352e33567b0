"""The declarations of an .spl file, read line by line: names, signatures, docstrings, imports and exports.

It reads what the library in simple/ writes, not the whole language: a declaration begins its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_DECLARATION = re.compile(
    r"(?P<words>(?:(?:pub|static|async|extern)\s+)*(?:fn|me|class|struct|enum|trait|mixin|impl|val|var|let|const|type))"
    r"\s+(?P<name>[^\W\d]\w*)"
)
_FIELD = re.compile(r"(?:(?:val|var)\s+)?(?P<name>[^\W\d]\w*)\s*(?::|=)")
_USE = re.compile(
    r"(?P<export>export\s+)?use\s+(?P<module>[\w.]+?)(?:\.(?P<names>\*|\{[^}]*\}))?(?:\s+as\s+(?P<alias>\w+))?$"
)
_EXPORT = re.compile(r"export\s+(?!use\b|fn\b|class\b)(?P<names>[\w, ]+)$")
_VALUES = ("val", "var", "let", "const", "type")
_RECORDS = ("class", "struct", "enum", "trait", "mixin", "impl")


@dataclass
class Declaration:
    """A function, record, constant or field."""

    kind: str  # the last keyword: fn, me, class, val …, or "field"
    name: str
    signature: str  # in one line, without the body
    line: int
    doc: str = ""
    is_static: bool = False
    members: list[Declaration] = field(default_factory=list)

    @property
    def is_function(self) -> bool:
        return self.kind in ("fn", "me")

    @property
    def is_record(self) -> bool:
        return self.kind in _RECORDS

    @property
    def bases(self) -> list[str]:
        """The names of the parents of a class.

        >>> Declaration("class", "Linear", "class Linear(Module, Other<T>)", 1).bases
        ['Module', 'Other']
        """
        found = re.fullmatch(r"\w+ \w+(?:<[^(]*>)?\((.*)\)", self.signature)
        return re.findall(r"([\w.]+)(?:<[^>]*>)?(?:,|$)", found[1]) if found else []


@dataclass(frozen=True)
class Use:
    """An import: what the file calls `local`. `name` is nil for a module itself, and "*" for all names of it."""

    module: str
    name: str | None
    local: str
    is_exported: bool


@dataclass
class SourceFile:
    """What one file declares."""

    doc: str
    declarations: list[Declaration]
    uses: list[Use]
    exports: list[str]


def read_source(text: str) -> SourceFile:
    """Reads the declarations of a file's first level, and those in its records."""
    reader = _Reader(text.splitlines())
    return SourceFile(reader.file_doc(), list(reader.declarations(0, 0, len(reader.lines))), *reader.names())


class _Reader:
    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.is_in_text = list(_lines_in_text(lines))

    def file_doc(self) -> str:
        start = next((i for i, line in enumerate(self.lines) if line.strip()), 0)
        return self.doc_at(start)

    def names(self) -> tuple[list[Use], list[str]]:
        uses, exports = [], []
        for i, line in enumerate(self.lines):
            if self.is_in_text[i]:
                continue
            if found := _USE.match(line):
                uses += _uses(found)
            elif found := _EXPORT.match(line):
                exports += [name.strip() for name in found["names"].split(",")]
        return uses, exports

    def declarations(self, indent: int, start: int, end: int) -> Iterator[Declaration]:
        for i in range(start, end):
            line = self.lines[i]
            if self.is_in_text[i] or not line.strip() or _indent(line) != indent:
                continue
            if found := _DECLARATION.match(line, indent):
                yield self.declaration(i, found)
            elif indent and (found := _FIELD.match(line, indent)):
                yield Declaration("field", found["name"], line.split("#")[0].strip(), i + 1, self.comment_above(i))

    def declaration(self, start: int, found: re.Match[str]) -> Declaration:
        words = found["words"].split()
        kind = words[-1]
        last, signature = self.header(start, kind)
        made = Declaration(kind, found["name"], signature, start + 1, is_static="static" in words)
        made.doc = self.doc_at(last + 1) or self.comment_above(start)
        if not made.doc and kind in _VALUES:
            made.doc = _as_sentence(self.lines[start][len(_without_comment(self.lines[start])) :].strip("# "))
        if kind in _RECORDS:
            indent = _indent(self.lines[start])
            made.members = list(self.declarations(indent + 4, last + 1, self.block_end(last + 1, indent)))
            if kind == "impl" and (of := re.match(r"impl \w+ for (\w+)", signature)):
                made.name = of[1]
        return made

    def header(self, start: int, kind: str) -> tuple[int, str]:
        """The last line of a header, and its text without the colon and the body."""
        if kind in _VALUES:
            return start, _without_comment(self.lines[start]).strip()
        text, depth, i = "", 0, start
        while i < len(self.lines):
            for character in _without_comment(self.lines[i]):
                depth += (character in "([{") - (character in ")]}")
                if character == ":" and depth == 0:
                    return i, re.sub(r"\s+", " ", text).strip()
                text += character
            if depth == 0:
                break
            text += " "
            i += 1
        return min(i, len(self.lines) - 1), re.sub(r"\s+", " ", text).strip()

    def doc_at(self, start: int) -> str:
        """The docstring that begins in a line."""
        found = re.match(r'(\s*)r?"""', self.lines[start]) if start < len(self.lines) else None
        if found is None:
            return ""
        indent = len(found[1])
        text = "\n".join(self.lines[start:])[found.end() :]
        lines = text[: text.index('"""')].splitlines()
        rest = [line[indent:] if not line[:indent].strip() else line for line in lines[1:]]
        return "\n".join([lines[0] if lines else "", *rest]).strip()

    def comment_above(self, start: int) -> str:
        """The comment above a declaration, which describes what has no docstring."""
        found: list[str] = []
        indent = _indent(self.lines[start])
        for i in range(start - 1, -1, -1):
            line = self.lines[i].strip()
            if line.startswith(("@", "#[")) and not found:
                continue
            if not line.startswith("# ") or _indent(self.lines[i]) != indent:
                break
            found.insert(0, line[2:])
        return " ".join(found)

    def block_end(self, start: int, indent: int) -> int:
        for i in range(start, len(self.lines)):
            if self.lines[i].strip() and not self.is_in_text[i] and _indent(self.lines[i]) <= indent:
                return i
        return len(self.lines)


def _uses(found: re.Match[str]) -> list[Use]:
    module, names, is_exported = found["module"], found["names"], bool(found["export"])
    if names == "*":
        return [Use(module, "*", "*", is_exported)]
    if names is None:
        return [Use(module, None, found["alias"] or module.rsplit(".", 1)[-1], is_exported)]
    made = []
    for each in names.strip("{}").split(","):
        name, _, alias = each.strip().partition(" as ")
        made.append(Use(module, name.strip(), (alias or name).strip(), is_exported))
    return made


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _without_comment(line: str) -> str:
    """The line without a trailing comment; a # in a string remains.

    >>> _without_comment('fn f(a = "#"): a    # note')
    'fn f(a = "#"): a    '
    """
    quote = ""  # that of the string around the character
    for i, character in enumerate(line):
        if character in "\"'" and quote in ("", character) and line[i - 1 : i] != "\\":
            quote = "" if quote else character
        elif character == "#" and not quote:
            return line[:i]
    return line


def _as_sentence(comment: str) -> str:
    """A comment behind a value as its description.

    >>> _as_sentence("no flag; also (?x)"), _as_sentence("IndependentConstraint"), _as_sentence("")
    ('No flag; also (?x).', 'IndependentConstraint.', '')
    """
    if not comment:
        return ""
    is_word = re.match(r"[a-z]+[,;:]?(\s|$)", comment) is not None
    start = comment[0].upper() if is_word else comment[0]
    return start + comment[1:] + ("" if comment.endswith((".", "…")) else ".")


def _lines_in_text(lines: list[str]) -> Iterator[bool]:
    """For each line whether it begins within a string of several lines."""
    is_inside = False
    for line in lines:
        yield is_inside
        if line.count('"""') % 2:
            is_inside = not is_inside
