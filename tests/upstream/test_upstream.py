"""Programs with the constructs of upstream's repositories, and the share of those repositories that loads.

Each program names the file whose constructs it has. The repositories themselves are measured where they were cloned by
tests/support/upstream_corpora.py.
"""

from __future__ import annotations

import re
from collections import Counter
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
    source = re.search(r"^# source: ormastes/(\S+) (\S+\.spl)", file.read_text(), re.MULTILINE)
    assert source is not None
    assert source[1] in CORPORA or source[2] in CORPORA["simple-os"]["added"]


@pytest.mark.parametrize("name", CORPORA)
def test_goals_hold(name: str) -> None:
    corpus = CORPORA[name]
    assert corpus["parsed"] >= 0.98 * corpus["files"]
    assert corpus["loaded"] >= 0.93 * (corpus["files"] - corpus["needs_other_modules"])


def test_three_quarters_of_all_files_load() -> None:
    assert sum(corpus["loaded"] for corpus in CORPORA.values()) >= 0.75 * sum(
        corpus["files"] for corpus in CORPORA.values()
    )


def test_every_file_that_does_not_load_is_named() -> None:
    tables = tomllib.loads(measure.CORPORA.read_text())
    corpus = CORPORA["simple-os"]
    assert sum(tables["missing_modules"].values()) == corpus["needs_other_modules"]
    assert corpus["files"] - corpus["loaded"] == corpus["needs_other_modules"] + len(tables["rest"])


def test_figures_and_causes_of_cloned_repositories() -> None:
    for name in CLONED:
        figures, corpus = measure.measure(name, CORPORA[name]), CORPORA[name]
        assert figures.files == corpus["files"]
        assert figures.parsed >= corpus["parsed"], figures.failures
        assert figures.loaded >= corpus["loaded"], figures.failures
        if name == "simple-os":
            check_causes(figures.failures)


def check_causes(failures: dict[str, str]) -> None:
    """Fails unless corpora.toml names each file that does not load, or the module at which it stops."""
    tables = tomllib.loads(measure.CORPORA.read_text())
    modules = Counter(missing[1] for message in failures.values() if (missing := measure.MISSING.search(message)))
    assert modules == tables["missing_modules"]
    assert {file for file, message in failures.items() if not measure.MISSING.search(message)} == set(tables["rest"])
