"""`bin/simple test` reports which of LibTorch's kernels the tests use."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from layout import Environment
from testing import cpu_capability

pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)
HERE = Environment("", Path(sys.prefix), ())


def test_a_lower_capability_is_reported():
    assert cpu_capability(HERE, {**os.environ, "ATEN_CPU_CAPABILITY": "default"}) == "DEFAULT"


def test_a_python_that_fails_is_reported_with_its_last_line():
    broken = {**os.environ, "PYTHONHOME": "/no/such"}
    assert cpu_capability(HERE, broken).startswith("unknown (")
