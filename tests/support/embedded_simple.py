"""Simple in the Python process of the tests, and bitwise comparison of results."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
torch = pytest.importorskip("torch")
sys.path.insert(0, str(ROOT / "python"))
from simple_torch import run, run_file  # noqa: E402

__all__ = ["equal", "run", "run_file", "torch"]


def equal(ours, theirs) -> bool:
    """Whether two results have the same bits, also in nested tuples."""
    if isinstance(theirs, (tuple, list)):
        return len(ours) == len(theirs) and all(map(equal, ours, theirs))
    if not isinstance(theirs, torch.Tensor):
        return ours == theirs
    return ours.dtype == theirs.dtype and ours.shape == theirs.shape and ours.detach().equal(theirs.detach())
