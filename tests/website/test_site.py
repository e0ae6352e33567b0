"""The built site: every link leads somewhere, nothing comes from a network, and the search knows the pages."""

from __future__ import annotations

import html.parser
import json
import os
import signal
import socket
import subprocess
import urllib.request
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import documents
from console import SetupError
from layout import ROOT

yaml = pytest.importorskip("yaml")
if not (documents.TOOLS / "simple-lock").exists():
    pytest.skip("bin/simple docs installs mkdocs", allow_module_level=True)


class Elements(html.parser.HTMLParser):
    """The addresses and identifiers in a page."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.identifiers: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if name := values.get("id") or (tag == "a" and values.get("name")):
            self.identifiers.add(name)
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if tag in ("img", "script", "iframe", "source") and values.get("src"):
            self.loaded.append(values["src"])
        if tag == "link" and values.get("href") and values.get("rel") != "canonical":
            self.loaded.append(values["href"])


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "out"
    documents.build_site(out)
    return out


@pytest.fixture(scope="session")
def pages(site: Path) -> dict[Path, Elements]:
    return {page: Elements(page) for page in site.rglob("*.html")}


def test_every_link_of_the_site_leads_somewhere(pages, site):
    faults = []
    for page, elements in pages.items():
        if page.name == "404.html":
            continue  # its links are absolute, for a server
        for link in elements.links + elements.loaded:
            address = urlsplit(link)
            if address.scheme:
                continue
            target = (page.parent / unquote(address.path)).resolve() if address.path else page
            if not target.is_file():
                faults.append(f"{page.relative_to(site)}: {link}")
            elif address.fragment and target in pages and address.fragment not in pages[target].identifiers:
                faults.append(f"{page.relative_to(site)}: {link}: no such anchor")
    assert len(pages) > 30
    assert faults == []


def test_nothing_is_fetched_from_a_network(pages, site):
    addresses = {link for elements in pages.values() for link in elements.loaded}
    assert {link for link in addresses if urlsplit(link).scheme or link.startswith("//")} == set()
    styles = "".join(file.read_text() for file in site.rglob("*.css"))
    assert "url(http" not in styles and "@import" not in styles


def test_the_search_knows_every_page_but_sources(site, pages):
    index = json.loads((site / "search" / "search_index.json").read_text())
    found = {entry["location"].partition("#")[0] for entry in index["docs"]}
    names = {page.relative_to(site).as_posix() for page in pages}
    assert {name for name in names - found if not name.startswith("source/")} == {"404.html"}
    assert {name for name in found if name.startswith("source/")} == set()


def test_code_of_simple_is_highlighted(site):
    assert '<span class="k">val</span>' in (site / "training.html").read_text()


def test_the_start_page_is_the_readme(site):
    assert "PyTorch for programs written in" in (site / "index.html").read_text()


def test_a_document_without_a_place_in_the_menu_or_with_a_broken_link_stops_the_build(tmp_path, monkeypatch, capfd):
    """In a copy with the same settings and one page."""
    settings = yaml.unsafe_load((ROOT / "mkdocs.yml").read_text())
    settings.update(nav=[{"Page": "index.md"}], hooks=[], watch=[], extra={})
    (tmp_path / "mkdocs.yml").write_text(yaml.dump(settings))
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Page\n\n[a](b.md), [c](#d)\n")
    (tmp_path / "docs" / "other.md").write_text("# Other\n")
    monkeypatch.setattr(documents, "ROOT", tmp_path)
    with pytest.raises(SetupError, match="command failed with exit code 1"):
        documents.build_site(tmp_path / "out")
    printed = capfd.readouterr().err
    assert "other.md" in printed
    assert "'b.md'" in printed
    assert "'#d'" in printed


def test_the_command_builds_into_a_folder(tmp_path):
    variables = {name: value for name, value in os.environ.items() if not name.startswith("SIMPLE_")}
    command = [ROOT / "bin" / "simple", "docs", "--output", "out"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=variables)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "index.html").exists()
    assert f"open {tmp_path / 'out' / 'index.html'} in a browser" in done.stderr


def test_the_command_serves_the_site():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [ROOT / "bin" / "simple", "docs", "--serve", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as server:
        try:
            for line in server.stderr:
                if f"Serving on http://127.0.0.1:{port}/" in line:
                    break
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/first-model.html", timeout=60) as reply:
                assert "Ten minutes to a trained model" in reply.read().decode()
        finally:
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=60)
    assert server.returncode == 0
