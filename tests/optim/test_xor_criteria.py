"""Each optimizer meets PyTorch's C++ criterion (test/cpp/api/optim.cpp): it learns XOR."""

from __future__ import annotations

from pathlib import Path

import pytest
from compare_optimizers import NAMES
from simple_torch import run_file

XOR = run_file(Path(__file__).with_name("xor.spl"))
VARIANTS = ["RMSprop with momentum", "Adam with amsgrad", "AdamW with amsgrad", "LBFGS with strong_wolfe"]


@pytest.mark.parametrize("name", NAMES + VARIANTS)
def test_xor_is_learned(name):
    assert 200 < XOR.batches_until_learned(name) <= 3000
