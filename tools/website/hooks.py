"""What mkdocs calls while it builds the site: adds pages that do not lie in docs/, and corrects links to them."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pygments.lexers import LEXERS
from simple_torch_jupyter.lexer import SimpleLexer

from website import reference
from website.repository import PAGES, ROOT, linked_sources, page_of, with_site_links
from website.source_pages import source_page

# Code blocks of Simple are highlighted by the lexer of notebooks.
LEXERS["SimpleLexer"] = (
    SimpleLexer.__module__,
    SimpleLexer.name,
    tuple(SimpleLexer.aliases),
    tuple(SimpleLexer.filenames),
    tuple(SimpleLexer.mimetypes),
)
_WORKER = Path(__file__).with_name("iframe-worker.js")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Adds the library to the menu."""
    (entries,) = (section["Reference"] for section in config.nav if "Reference" in section)
    entries.insert(0, {"Library": reference.menu()})
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    added = {page: (ROOT / file).read_text() for file, page in PAGES.items()}
    added |= reference.pages()
    for source in {*linked_sources(), *reference.sources()}:
        added[page_of(source)] = source_page(source)
    added["assets/iframe-worker.js"] = _WORKER.read_text()
    for page, text in added.items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    return with_site_links(markdown, page.file.src_uri)
