"""Every example of the language tour is a program that prints what is shown below it.

A block that begins with `# NAME.spl` is a file of that name: a module of the section's program, or a specification.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from programs import run

TOUR = (Path(__file__).resolve().parents[2] / "docs" / "language-tour.md").read_text()
SECTIONS = dict(re.findall(r"^## ([^\n]*)\n((?:(?!^## ).)*)", TOUR, re.S | re.M))
FILE = re.compile(r"# (\w+\.spl)\n")


def blocks(section: str) -> tuple[list[str], list[str]]:
    """The programs and the outputs of a section."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", section, re.S | re.M)
    return [code for language, code in found if language == "simple"], [
        text for language, text in found if not language
    ]


def test_every_section_has_programs_and_one_output():
    assert len(SECTIONS) > 10
    assert all(programs and len(outputs) == 1 for programs, outputs in map(blocks, SECTIONS.values()))


@pytest.mark.parametrize("title", SECTIONS)
def test_prints_the_shown_output(title, simple, tmp_path):
    programs, [output] = blocks(SECTIONS[title])
    if any("use torch" in code for code in programs):
        pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)
    for code in programs:
        named = FILE.match(code)
        (tmp_path / (named[1] if named else "example.spl")).write_text(code)
    program = tmp_path / "example.spl"
    if program.exists():
        done = simple(str(program))
        assert (done.code, done.out) == (0, output), done.err
    else:
        specs = run("test", *tmp_path.glob("*_spec.spl"))
        assert (specs.returncode, specs.stdout) == (0, output), specs.stderr
