"""The files of the repository as pages of the site, and links between them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_COMPONENTS = ("abi", "bridge", "core_libtorch", "dlpack_interop", "host", "simple")
# Documents outside docs/, and the page that each becomes.
PAGES = {
    "README.md": "index.md",
    "examples/README.md": "examples.md",
    "SECURITY.md": "security.md",
    "CONTRIBUTING.md": "internals/contributing.md",
    "CHANGELOG.md": "internals/changelog.md",
    "benchmarks/RESULTS.md": "internals/results.md",
    **{f"{component}/README.md": f"internals/{component}.md" for component in _COMPONENTS},
}
_FENCE = re.compile(r"^( *)(```+|~~~+)")
# Text in backticks is skipped, so that code such as `xs[0](2)` is no link.
_LINK = re.compile(r"(?P<code>`+).*?(?P=code)|\]\((?P<target>[^)\s]+)\)")


def page_of(path: str) -> str | None:
    """The page of a file of the repository, or None.

    >>> page_of("host/README.md"), page_of("docs/data.md"), page_of("simple/std/fs.spl"), page_of("abi")
    ('internals/host.md', 'data.md', 'source/simple/std/fs.spl.md', None)
    """
    if path in PAGES:
        return PAGES[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"source/{path}.md" if (ROOT / path).is_file() else None


def file_of(page: str) -> str:
    """The file of the repository that a page shows.

    >>> file_of("internals/host.md"), file_of("data.md")
    ('host/README.md', 'docs/data.md')
    """
    return next((file for file, named in PAGES.items() if named == page), f"docs/{page}")


def with_site_links(markdown: str, page: str) -> str:
    """The text of a page in which links to files of the repository are links to their pages."""

    def replaced(target: str) -> str:
        path, mark, anchor = target.partition("#")
        if not path or ":" in path:
            return target
        named = posixpath.normpath(posixpath.join(posixpath.dirname(file_of(page)), path))
        linked = page_of(named)
        if linked is None:
            return target  # mkdocs reports it
        return posixpath.relpath(linked, posixpath.dirname(page) or ".") + mark + anchor

    return map_links(markdown, replaced)


def map_links(markdown: str, change: Callable[[str], str]) -> str:
    """The text with each target of a link changed. Code is unchanged."""

    def of_match(match: re.Match[str]) -> str:
        return match[0] if match["target"] is None else f"]({change(match['target'])})"

    lines, fence = [], ""
    for line in markdown.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[2].startswith(fence)):
            fence = "" if fence else mark[2]
        elif not fence:
            line = _LINK.sub(of_match, line)
        lines.append(line)
    return "".join(lines)


def links_of(markdown: str) -> list[str]:
    """The targets of a text's links.

    >>> links_of("[a](b.md#c) and `x[0](2)`, [d](#e)")
    ['b.md#c', '#e']
    """
    found: list[str] = []
    map_links(markdown, lambda target: found.append(target) or target)
    return found


def linked_sources() -> list[str]:
    """The files that are no documents and to which documents link."""
    documents = [*(ROOT / path for path in PAGES), *sorted((ROOT / "docs").rglob("*.md"))]
    found = set()
    for document in documents:
        for target in links_of(document.read_text()):
            path = target.partition("#")[0]
            if path and ":" not in path:
                file = (document.parent / path).resolve()
                name = file.relative_to(ROOT).as_posix()
                if (page_of(name) or "").startswith("source/"):
                    found.add(name)
    return sorted(found)
