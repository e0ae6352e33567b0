"""Plain-Simple tensors: behavior without a reference in PyTorch. tests/support/programs.py describes the marks."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs import hold

PROGRAMS = sorted((Path(__file__).parent / "behavior").glob("*.spl"))


@pytest.mark.parametrize("file", PROGRAMS, ids=lambda file: file.stem)
def test_program(file: Path) -> None:
    hold(file)
