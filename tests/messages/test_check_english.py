"""tools/check_english.py finds words, spellings and names wherever people read them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import check_english


def findings(path: str, text: str) -> list[str]:
    found = [*check_english.glossary_findings(path, text)]
    if path.endswith(".md"):
        found += check_english.document_findings(path, text)
    return [str(one) for one in found]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.cpp", "// Gives the sum."),
        ("a.cpp", 'fail("the file is refused");'),
        ("a.spl", '"""Loops round\n`center`."""'),
        ("a.py", "# goes round\n"),
        ("CMakeLists.txt", "# The rooms of the house."),
        ("a.cmake", "# Initialises the target."),
        ("a.md", "The behaviour of data sets."),
        ("a.md", "```simple\nval told = 1\n```"),
        ("a.md", "```python\nprint(1)  # gives 1\n```"),
        ("a.md", "```\nerror: the array is refused\n```"),
        ("a.spl", "fn why_refused(): 1"),
        ("a.h", "void LendTensor();"),
        ("a.h", "int given = 2;"),
        ("tests/test_error_is_told.py", ""),
    ],
)
def test_finds(path, text):
    assert findings(path, text)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.cpp", "#include <rooms.h>"),
        ("a.cpp", "std::round(x);  // to the nearest integer"),
        ("a.h", "int tellp();"),
        ("a.py", "shroom, mushrooms = 1, 2"),
        ("a.md", "`torch.round` rounds the given tensor."),
        ("a.md", "```simple\nval x = torch.round(y)\n```"),
    ],
)
def test_leaves_other_meanings(path, text):
    assert findings(path, text) == []


def test_a_colon_does_not_end_a_sentence():
    half = "word word word word word word\n" * 3
    assert findings("a.md", f"{half}word: {half}.")
    assert findings("a.md", f"{half}word. {half}.") == []


def test_reads_build_files_and_scripts_without_a_suffix():
    assert all(map(check_english.is_checked, ("CMakeLists.txt", "bin/simple", ".ci/run", "README.md")))
    assert not any(map(check_english.is_checked, ("LICENSE", "abi/generated/front.map")))
