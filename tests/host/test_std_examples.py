"""The examples at the head of the standard modules run, and print what their comments show."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from programs import run

STD = Path(__file__).resolve().parents[2] / "simple" / "std"
SHOWN = re.compile(r"^\s*print .*?\s{2,}# (.+)$", re.MULTILINE)
# What needs the network, or files and programs that a test does not have.
NOT_RUN = {"http/mod.spl"}
# Comments that are not the output.
PROSE = {"a random one", "removed after the block"}


def head_of(file: Path) -> str:
    """The module's docstring, as the language reads it."""
    found = re.match(r'(r?)"""(.*?)"""', file.read_text(encoding="utf-8"), re.DOTALL)
    if found is None:
        return ""
    text = found[2]
    return text if found[1] else re.sub(r"\\([\\{}\"])", r"\1", text)


def example_of(file: Path) -> str:
    """The indented block that begins with the module's import; empty if there is none."""
    found = re.search(r"(?:^    use std\..*\n)(?:^(?:    .*)?\n)*", head_of(file), re.MULTILINE)
    return "" if found is None else textwrap.dedent(found[0]).strip() + "\n"


EXAMPLES = {
    str(file.relative_to(STD)): example
    for file in sorted(STD.rglob("*.spl"))
    if (example := example_of(file)) and str(file.relative_to(STD)) not in NOT_RUN
}


def test_the_new_modules_have_examples() -> None:
    wanted = {"regex.spl", "datetime/mod.spl", "io.spl", "hash.spl", "zip.spl", "argparse/mod.spl", "sqlite.spl"}
    assert wanted <= EXAMPLES.keys()


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_prints_what_it_shows(tmp_path: Path, name: str) -> None:
    example = EXAMPLES[name]
    (tmp_path / "example.spl").write_text(example, encoding="utf-8")
    (tmp_path / "model.bin").write_text("abc")
    result = run(tmp_path / "example.spl", folder=tmp_path)
    assert result.returncode == 0, result.stderr
    shown = SHOWN.findall(example)
    lines = result.stdout.splitlines()
    if len(shown) == len(lines):  # each line has a comment
        assert [
            line for line, comment in zip(lines, shown, strict=True) if line != comment and comment not in PROSE
        ] == []
