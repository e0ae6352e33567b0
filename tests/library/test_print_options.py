"""torch.set_printoptions and the precision of matrix products."""

from __future__ import annotations

import pytest
from embedded_simple import run, torch

OURS = run(
    """
    use torch
    fn set(options): torch.set_printoptions(**options.to_value())
    fn shown(x): str(x)
    fn error(options): torch.attempt(\\: set(options)).unwrap_err().message()
    fn precision(): torch.get_float32_matmul_precision()
    fn set_precision(word): torch.set_float32_matmul_precision(word)
    fn precision_error(word): torch.attempt(\\: set_precision(word)).unwrap_err().message()
    """
)
TENSORS = [
    torch.tensor([1.12345, -2.5]),
    torch.arange(40.0).reshape(4, 10) / 7,
    torch.arange(2000),
    torch.tensor([1e-6, 1.0]),
    torch.tensor([1.0, 2.0]),
    torch.tensor([0.5 + 1.25j]),
    torch.tensor(3.14159),
    torch.tensor([float("inf"), 1.5]),
    torch.zeros(3),
    torch.ones(2, 3, requires_grad=True) / 3,
]
OPTIONS = [
    {"precision": 2},
    {"precision": 8},
    {"threshold": 5},
    {"threshold": 5, "edgeitems": 1},
    {"threshold": 5, "edgeitems": 2**63 - 1},
    {"linewidth": 40},
    {"sci_mode": True},
    {"sci_mode": False},
    {"profile": "short"},
    {"profile": "full"},
    {"profile": "default", "precision": 1},
    {},
]


@pytest.fixture(autouse=True)
def defaults():
    yield
    torch.set_printoptions(profile="default")
    OURS.set({"profile": "default"})


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_tensors_are_printed_with_the_options(options):
    torch.set_printoptions(**options)
    OURS.set(options)
    for tensor in TENSORS:
        assert OURS.shown(tensor) == str(tensor)


def test_options_are_kept_until_they_change():
    for options in ({"precision": 2}, {"edgeitems": 2, "threshold": 10}, {"linewidth": 50}):
        torch.set_printoptions(**options)
        OURS.set(options)
        for tensor in TENSORS:
            assert OURS.shown(tensor) == str(tensor)


@pytest.mark.parametrize(
    "options", [{"precision": -1}, {"edgeitems": 0}, {"linewidth": 0}, {"profile": "long"}], ids=str
)
def test_options_out_of_range_are_rejected(options):
    assert OURS.error(options).startswith("set_printoptions: ")


def test_the_precision_of_products_is_that_of_the_process():
    assert OURS.precision() == torch.get_float32_matmul_precision() == "highest"
    try:
        for word in ("high", "medium", "highest"):
            OURS.set_precision(word)
            assert torch.get_float32_matmul_precision() == word == OURS.precision()
    finally:
        torch.set_float32_matmul_precision("highest")
    assert OURS.precision_error("low").startswith("low is not one of 'highest', 'high', or 'medium'")
