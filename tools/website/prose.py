"""Docstrings as Markdown: their text is plain, with code in backticks."""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"([\\*_\[\]<>|#~{}])")
_CODE = re.compile(r"(`[^`]*`)")
_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)\s+(?=[A-Z`\[(])")


def escaped(text: str) -> str:
    """Plain text with code in backticks, so that Markdown shows each character.

    >>> escaped("x[0] of `a[1]`, in_features * 2")
    'x\\\\[0\\\\] of `a[1]`, in\\\\_features \\\\* 2'
    """
    parts = _CODE.split(text)
    return "".join(part if part.startswith("`") else _SPECIAL.sub(r"\\\1", part) for part in parts)


def summary(doc: str) -> str:
    """The first sentence of a docstring in one line, for a table.

    >>> summary("Applies x to y.\\n\\nweight: [a, b]")
    'Applies x to y.'
    """
    first = " ".join(doc.split("\n\n")[0].split())
    return escaped(_SENTENCE_END.split(first)[0])


def markdown_of(doc: str) -> str:
    """A docstring as Markdown: paragraphs, lines that begin with a label, and indented blocks of code."""
    blocks, lines, code = [], doc.splitlines(), []
    paragraph: list[str] = []

    def close() -> None:
        if paragraph:
            blocks.append("\n".join(paragraph))
            paragraph.clear()
        if code:
            blocks.append("\n".join(["```simple", *code, "```"]))
            code.clear()

    for line in lines:
        if line.startswith("    ") and (code or not paragraph):
            code.append(line[4:])
        elif not line.strip():
            close()
        else:
            if code:
                close()
            if paragraph and starts_label(line):
                paragraph[-1] += "  "  # a new line
            paragraph.append(escaped(line.strip()))
    close()
    return "\n\n".join(blocks)


def starts_label(line: str) -> bool:
    """Whether a line describes one parameter, the errors or the source.

    >>> starts_label("weight: [out_features]"), starts_label("Errors of forward: X"), starts_label("of two: one")
    (True, True, False)
    """
    return re.match(r"([A-Za-z_]\w*|Errors? of [\w, ]+|[A-Z]\w+ [\w ]+): ", line) is not None
