"""`simple doctor ENTRY`: prints an entry of the page about troubleshooting, which errors and the doctor name."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Fault:
    """Why programs cannot run, with what to do, and the entry that describes it."""

    text: str
    entry: str

    def __str__(self) -> str:
        return f"{self.text}; see `simple doctor {self.entry}`"


def explain(page: Path, arguments: Sequence[str]) -> int:
    """Print the entry of the page that the argument names; return the exit code."""
    known = entries(page.read_text(encoding="utf-8"))
    if len(arguments) == 1 and arguments[0] in known:
        print(known[arguments[0]])
        return 0
    print(f"simple doctor: no entry {' '.join(arguments)!r}; entries: {', '.join(known)}", file=sys.stderr)
    return 2


def entries(page: str) -> dict[str, str]:
    """The entries of the page by the names of their links.

    >>> entries("# Page\\n\\n## Memory\\n\\n### Out of memory\\n\\nUse less.\\n\\n## Data\\n")
    {'out-of-memory': 'Out of memory\\n\\nUse less.'}
    """
    found = re.findall(r"^### ([^\n]+)\n((?:(?!^##).)*)", page, re.S | re.M)
    return {anchor(heading): f"{heading}\n\n{text.strip()}" for heading, text in found}


def anchor(heading: str) -> str:
    """The name of a heading in links.

    >>> anchor("A part that is not built")
    'a-part-that-is-not-built'
    """
    return re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-"))
