"""Every link between documents leads to a file, and to a heading of it. No site is built for this."""

from __future__ import annotations

import doctest
import re
import subprocess
from pathlib import Path

import pytest

from website import repository
from website.repository import ROOT, links_of, map_links, page_of, with_site_links


def documents() -> list[Path]:
    done = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("not a git repository")
    return [ROOT / name for name in done.stdout.splitlines() if "/templates/" not in name and (ROOT / name).exists()]


def anchors(document: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub and mkdocs make them."""
    text = re.sub(r"^```.*?^```", "", document.read_text(), flags=re.S | re.M)
    found: set[str] = set()
    for heading in re.findall(r"^#+ +(.+)$", text, re.M):
        plain = re.sub(r"[^\w\- ]", "", heading.lower()).strip()
        slug = re.sub(r" +", "-", plain)
        found.add(next(name for name in (slug, *(f"{slug}_{n}" for n in range(1, 99))) if name not in found))
    return found


def faults_of(document: Path) -> list[str]:
    faults = []
    for target in links_of(document.read_text()):
        path, _, anchor = target.partition("#")
        if ":" in path:
            continue
        linked = (document.parent / path).resolve() if path else document
        if not linked.exists():
            faults.append(f"{document.relative_to(ROOT)}: {target}: no such file")
        elif anchor and linked.suffix == ".md" and anchor not in anchors(linked):
            faults.append(f"{document.relative_to(ROOT)}: {target}: no such heading")
    return faults


def test_every_link_leads_somewhere():
    found = documents()
    assert len(found) > 30
    assert [fault for document in found for fault in faults_of(document)] == []


def test_a_broken_link_is_found(tmp_path, monkeypatch):
    (tmp_path / "a.md").write_text(
        "# One two\n\n[a](b.md) [c](a.md#one-two) [d](#three) `[e](f.md)` [g](https://h.org/i)\n"
    )
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    assert faults_of(tmp_path / "a.md") == ["a.md: b.md: no such file", "a.md: #three: no such heading"]


def test_links_to_files_of_the_repository_become_links_to_pages():
    assert with_site_links("[a](../host/README.md#memory)", "python.md") == "[a](internals/host.md#memory)"
    assert with_site_links("[a](docs/data.md)", "index.md") == "[a](data.md)"
    assert with_site_links("[a](../docs/gpu.md)", "internals/results.md") == "[a](../gpu.md)"
    assert with_site_links("[a](../README.md)", "decisions/README.md") == "[a](../README.md)"  # no such file
    source = with_site_links("[a](../examples/vision/fine_tune.spl)", "models.md")
    assert source == "[a](source/examples/vision/fine_tune.spl.md)"
    assert with_site_links("[a](https://pytorch.org#x) [b](#c)", "models.md") == "[a](https://pytorch.org#x) [b](#c)"


def test_code_has_no_links():
    text = "`a[0](b)` [c](d)\n```python\na[0](b)\n```\n    [e](f)\n"
    assert map_links(text, str.upper) == "`a[0](b)` [c](D)\n```python\na[0](b)\n```\n    [e](F)\n"


def test_each_document_is_one_page():
    pages = [page_of(document.relative_to(ROOT).as_posix()) for document in documents()]
    assert len(set(pages)) == len(pages)


def test_the_examples_of_the_functions():
    assert doctest.testmod(repository).failed == 0
