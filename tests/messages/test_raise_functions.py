"""Errors with a raise function in simple/torch/error.spl are raised by it, so that each kind is built in one place."""

from __future__ import annotations

import re
from pathlib import Path

LIBRARY = Path(__file__).resolve().parents[2] / "simple"
FUNCTIONS = LIBRARY / "torch" / "error.spl"
PANIC = re.compile(r"\bpanic\(\s*TorchError\.(InvalidArgument|Io|ShapeMismatch)\b")


def test_only_the_raise_functions_panic_with_their_kinds() -> None:
    panics = [
        f"{path.relative_to(LIBRARY)}:{text.count(chr(10), 0, found.start()) + 1}: panic(TorchError.{found[1]}"
        for path in sorted(LIBRARY.rglob("*.spl"))
        if path != FUNCTIONS
        for text in [path.read_text(encoding="utf-8")]
        for found in PANIC.finditer(text)
    ]
    assert not panics


def test_each_kind_has_one_raise_function() -> None:
    kinds = PANIC.findall(FUNCTIONS.read_text(encoding="utf-8"))
    assert sorted(kinds) == ["InvalidArgument", "Io", "ShapeMismatch"]
