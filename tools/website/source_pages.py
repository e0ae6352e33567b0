"""Source files as pages: highlighted, with an anchor for each line."""

from __future__ import annotations

from pathlib import PurePosixPath

from website.repository import ROOT

_LANGUAGES = {".spl": "simple", ".c": "c", ".cpp": "cpp", ".h": "c", ".hpp": "cpp", ".py": "python", ".toml": "toml"}


def source_page(path: str) -> str:
    """The page of a file. The search does not find it: it would find each name twice."""
    language = _LANGUAGES.get(PurePosixPath(path).suffix, "text")
    text = (ROOT / path).read_text()
    fence = "`" * 6
    heading = f"---\nsearch:\n  exclude: true\n---\n\n# {PurePosixPath(path).name}\n\n`{path}`\n\n"
    return f'{heading}{fence}{language} linenums="1"\n{text}{fence}\n'


def line_anchor(line: int) -> str:
    """The fragment of the address of a line on the page of its file."""
    return f"__codelineno-0-{line}"
