"""Modules, and uses of modules, that `module_db` does not have, compared in the same way; and the rest of torch.nn.

The inputs are in tests/support/module_inputs.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import pytest

if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
torch = pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from compare_modules import Tally, compare, tolerances  # noqa: E402
from module_inputs import layers, models  # noqa: E402
from module_runs import BINDINGS, module_classes  # noqa: E402
from torch.testing._internal.common_modules import module_db  # noqa: E402

SAMPLES = layers.SAMPLES + models.SAMPLES
REJECTED = layers.REJECTED + models.REJECTED
NAMES = list(dict.fromkeys(sample.name for sample in SAMPLES))
IN_MODULE_DB = {info.module_cls.__name__ for info in module_db}

# Modules of torch.nn that are compared elsewhere, or not at all.
ELSEWHERE = {
    "Container": "deprecated in PyTorch",
    "NLLLoss2d": "deprecated in PyTorch",
    "Sequential": "tests/spec: containers hold modules and have no numbers of their own",
    "ModuleList": "tests/spec, as Sequential",
    "ModuleDict": "tests/spec, as Sequential",
    "ParameterList": "tests/spec, as Sequential",
    "ParameterDict": "tests/spec, as Sequential",
    "RNNBase": "the base of RNN, LSTM and GRU",
    "RNNCellBase": "the base of RNNCell, LSTMCell and GRUCell",
    "DataParallel": "of several devices",
}


@pytest.fixture(scope="module")
def total():
    whole = Tally()
    yield whole
    print(f"\nmore modules: {dict(whole.counts)}")


def test_every_module_of_torch_nn_is_implemented():
    assert [name for name in module_classes() if name not in ELSEWHERE and not BINDINGS.has(name)] == []


def test_every_module_of_torch_nn_is_compared():
    compared = IN_MODULE_DB | set(NAMES) | set(ELSEWHERE)
    assert [name for name in module_classes() if name not in compared] == []


@pytest.mark.parametrize("name", [name for name in NAMES if BINDINGS.has(name)])
def test_module(name, total):
    tally = Tally()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in SAMPLES:
            if sample.name == name:
                for case in sample.cases():
                    compare(case, tally, tolerances())
    total.counts += tally.counts
    report = "\n".join(tally.differing[:20])
    assert tally.counts["different"] == 0, f"{dict(tally.counts)}\n{report}"
    assert tally.counts["rejected by both"] == 0, "PyTorch rejects an input; move it to REJECTED"


def test_rejects_the_same_as_pytorch_with_its_message(total):
    tally = Tally()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in REJECTED:
            compare(next(sample.cases()), tally, {})
    total.counts += tally.counts
    assert tally.counts["different"] == 0, "\n".join(tally.differing)
    assert tally.counts["rejected by both"] + tally.counts["as in a later PyTorch"] == len(REJECTED)
