"""Every example of the language tour is a program that prints what is shown below it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TOUR = (Path(__file__).resolve().parents[2] / "docs" / "language-tour.md").read_text()
EXAMPLES = re.findall(r"^## ([^\n]*)\n(?:(?!^## ).)*?```simple\n(.*?)```\n\n```\n(.*?)```", TOUR, re.S | re.M)


def test_every_example_has_its_output():
    assert len(EXAMPLES) == TOUR.count("```simple")


@pytest.mark.parametrize(("title", "code", "output"), EXAMPLES, ids=[title for title, _, _ in EXAMPLES])
def test_prints_the_shown_output(title, code, output, simple, tmp_path):
    if "use torch" in code:
        pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)
    program = tmp_path / "example.spl"
    program.write_text(code)
    run = simple(str(program))
    assert run.code == 0, run.err
    assert run.out == output
