"""Each `.spl` file below this folder shows one behavior of the language; see tests/support/programs.py for its marks.

rules.toml lists the language's rules. Each needs a file that succeeds and, where it can be broken, one that fails
with the right message.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import tomllib

from programs import expectations, hold

FOLDER = Path(__file__).parent
RULES = {
    name: rule for part in tomllib.loads((FOLDER / "rules.toml").read_text()).values() for name, rule in part.items()
}
# A file in a folder named `modules` or `project` is imported by a program, not run by itself.
PROGRAMS = sorted(file for file in FOLDER.rglob("*.spl") if not {"modules", "project"} & set(file.parts))


def name_of(file: Path) -> str:
    return str(file.relative_to(FOLDER).with_suffix(""))


@pytest.mark.parametrize("file", PROGRAMS, ids=name_of)
def test_program(file: Path) -> None:
    hold(file)


def test_every_program_names_rules_that_exist() -> None:
    wrong = [name_of(file) for file in PROGRAMS if not set(expectations(file).rules or ["none"]) <= set(RULES)]
    assert wrong == []


def test_every_rule_has_a_program_that_succeeds() -> None:
    shown = {rule for file in PROGRAMS if not expectations(file).errors() for rule in expectations(file).rules}
    assert sorted(set(RULES) - shown) == []


def test_every_rule_that_can_be_broken_has_a_program_that_fails() -> None:
    shown = {rule for file in PROGRAMS if expectations(file).errors() for rule in expectations(file).rules}
    breakable = {name for name, rule in RULES.items() if rule.get("can_fail")}
    assert sorted(breakable - shown) == []
