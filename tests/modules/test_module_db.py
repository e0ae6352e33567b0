"""Every input of PyTorch's `module_db`, in its modules and ours: all results are equal bit for bit.

Both modules are created with the same arguments and seed and called with the same inputs, in one process. Compared are
the random numbers drawn, names and values of the state, printing, outputs and their strides, gradients of inputs and
parameters, and the final state. A difference is a line in tolerances.tsv, with the reason.
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
from module_runs import BINDINGS, cases_of, rejected_cases_of  # noqa: E402
from torch.testing._internal.common_modules import module_db  # noqa: E402

ENTRIES = {info.module_cls.__name__: info for info in module_db}
REJECTING = [name for name, info in ENTRIES.items() if info.module_error_inputs_func is not None]
MISSING = [name for name in ENTRIES if not BINDINGS.has(name)]


@pytest.fixture(scope="module")
def total():
    whole = Tally()
    yield whole
    print(f"\nmodule_db: {dict(whole.counts)}; {len(MISSING)} modules missing")


def test_every_module_is_implemented():
    assert MISSING == []


@pytest.mark.parametrize("name", [name for name in ENTRIES if name not in MISSING])
def test_module(name, total):
    tally = Tally()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in cases_of(ENTRIES[name]):
            compare(case, tally, tolerances())
    total.counts += tally.counts
    assert tally.counts["inputs"] > 0
    assert tally.counts["rejected by both"] == 0, "an input that both reject is not compared"
    report = "\n".join(tally.differing[:20])
    assert tally.counts["different"] == 0, f"{dict(tally.counts)}\n{report}"


@pytest.mark.parametrize("name", [name for name in REJECTING if name not in MISSING])
def test_error_inputs_of_module_db_are_rejected(name):
    """Rejected by Python on the CPU: a few are rejected only on other devices."""
    tally = Tally()
    for case in rejected_cases_of(ENTRIES[name]):
        compare(case, tally, {})
    assert tally.counts["inputs"] > 0
    assert tally.counts["different"] == 0, "\n".join(tally.differing)
