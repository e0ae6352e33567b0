"""Programs with the constructs of upstream's repositories, and the share of those repositories that loads.

Each program names the file whose constructs it has. The repositories themselves are measured where they were cloned by
tests/support/upstream_corpora.py.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import tomllib
import upstream_corpora as measure

from programs import hold

FOLDER = Path(__file__).parent
PROGRAMS = sorted((FOLDER / "programs").glob("*.spl"))
CORPORA = measure.corpora()
CLONED = [name for name in CORPORA if measure.folder_of(name).exists()]


@pytest.mark.parametrize("file", PROGRAMS, ids=lambda file: file.stem)
def test_program(file: Path) -> None:
    hold(file)


@pytest.mark.parametrize("file", PROGRAMS, ids=lambda file: file.stem)
def test_program_names_its_source(file: Path) -> None:
    source = re.search(r"^# source: ormastes/(\S+) \S+\.spl", file.read_text(), re.MULTILINE)
    assert source is not None
    assert source[1] in CORPORA


@pytest.mark.parametrize("name", CORPORA)
def test_goals_hold(name: str) -> None:
    corpus = CORPORA[name]
    assert corpus["parsed"] >= 0.98 * corpus["files"]
    assert corpus["loaded"] >= 0.94 * (corpus["files"] - corpus["needs_other_modules"])


def test_the_rest_is_named() -> None:
    rest = tomllib.loads(measure.CORPORA.read_text())["rest"]
    corpus = CORPORA["simple-os"]
    assert corpus["files"] - corpus["loaded"] - corpus["needs_other_modules"] <= len(rest) + 3


def test_figures_of_cloned_repositories_do_not_fall() -> None:
    for name in CLONED:
        figures, corpus = measure.measure(name, CORPORA[name]), CORPORA[name]
        assert figures.files == corpus["files"]
        assert figures.parsed >= corpus["parsed"], figures.failures
        assert figures.loaded >= corpus["loaded"], figures.failures
