"""The search of the site in headless Chromium, in pages of a server and in pages that are opened as files.

`bin/simple test --notebooks` runs it, because its environment has Playwright.
"""

from __future__ import annotations

import functools
import http.server
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright import sync_api

import documents

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if CHROMIUM is None:
    pytest.fail("Chromium is missing: apt-get install chromium", pytrace=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "out"
    documents.build_site(out)
    return out


@pytest.fixture
def served(site: Path) -> Iterator[str]:
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def titles_found(address: str, words: str) -> list[str]:
    """The titles that the search lists for words typed on the page at an address. Only that server is asked."""
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        problems, requests = [], []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(f"{address}/index.html")
        page.click("input.md-search__input")
        page.keyboard.type(words, delay=50)
        page.wait_for_selector(".md-search-result__item")
        found = [title.inner_text() for title in page.query_selector_all(".md-search-result__item :is(h1, h2)")]
        browser.close()
    assert problems == []
    assert [url for url in requests if not url.startswith((address, "data:", "about:"))] == []
    return found


def test_the_search_of_served_pages_finds_a_heading(served):
    assert "Completion of the shell" in titles_found(served, "completion of the shell")


def test_the_search_works_in_pages_that_are_files(site):
    assert "Completion of the shell" in titles_found(f"file://{site}", "completion of the shell")
