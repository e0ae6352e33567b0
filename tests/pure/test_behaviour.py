"""Plain-Simple tensors: what PyTorch has no number for. See tests/support/programs.py for the marks."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs import hold

PROGRAMS = sorted((Path(__file__).parent / "behaviour").glob("*.spl"))


@pytest.mark.parametrize("file", PROGRAMS, ids=lambda file: file.stem)
def test_program(file: Path) -> None:
    hold(file)
