"""torch.testing.assert_close accepts, rejects and reports as in PyTorch."""

from __future__ import annotations

import pytest
from embedded_simple import run, torch

OURS = run(
    """
    use torch
    fn plain(value): if type_of(value) == "Object": value.to_value() else: value
    fn message(actual, expected, options):
        val outcome = torch.attempt(\\: torch.testing.assert_close(plain(actual), plain(expected), **plain(options)))
        if outcome.is_ok(): "" else: outcome.unwrap_err().message()
    fn chosen(a, b):
        [torch.attempt(\\: torch.testing.assert_close(a, b, msg: "mine")).unwrap_err().message(),
            torch.attempt(\\: torch.testing.assert_close(a, b, msg: \\m: "<" + m[:12])).unwrap_err().message()]
    """
)
X = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
NAN = torch.tensor([float("nan"), 1.0])
SAME = {
    "equal": (X, X.clone(), {}),
    "close": (X, X + 1e-6, {}),
    "close doubles": (X.double(), X.double() * (1 + 1e-8), {}),
    "close halves": (X.half(), X.half() * 1.0005, {}),
    "nan": (NAN, NAN.clone(), {"equal_nan": True}),
    "tolerances": (X, X + 0.5, {"rtol": 0.0, "atol": 1.0}),
    "integers": (torch.arange(3), torch.arange(3), {}),
    "another dtype": (X, X.double(), {"check_dtype": False}),
    "numbers": (1.0, 1.0 + 1e-9, {}),
    "lists": ([1, X], [1, X.clone()], {}),
    "dicts": ({"a": X, "b": [1.5]}, {"a": X.clone(), "b": [1.5]}, {}),
}
DIFFERENT = {
    "values": (X, X + torch.tensor([[0.0, 0.5], [0.0, 1.0]]), {}),
    "integers": (torch.arange(3), torch.tensor([0, 1, 4]), {}),
    "bools": (torch.tensor([True, False]), torch.tensor([True, True]), {}),
    "complex": (torch.tensor([1 + 1j]), torch.tensor([1 + 2j]), {}),
    "nan": (NAN, NAN.clone(), {}),
    "shape": (X, X[0], {}),
    "dtype": (X, X.double(), {}),
    "stride": (X, X.t().contiguous().t(), {"check_stride": True}),
    "0-d": (torch.tensor(1.0), torch.tensor(2.0), {}),
    "tolerances": (X, X + 0.5, {"rtol": 0.0, "atol": 0.25}),
    "floats": (1.5, 2.5, {}),
    "whole numbers": (1, 3, {}),
    "in a list": ([X, X], [X, X + 1], {}),
    "length of lists": ([1], [1, 2], {}),
    "in a dict": ({"a": [1, 2]}, {"a": [1, 3]}, {}),
    "one tolerance": (X, X, {"rtol": 1.0}),
}


@pytest.mark.parametrize("name", [*SAME])
def test_close_values_pass(name):
    actual, expected, options = SAME[name]
    torch.testing.assert_close(actual, expected, **options)
    assert OURS.message(actual, expected, options) == ""


@pytest.mark.parametrize("name", [*DIFFERENT])
def test_others_have_the_message_of_pytorch(name):
    actual, expected, options = DIFFERENT[name]
    with pytest.raises((AssertionError, ValueError)) as theirs:
        torch.testing.assert_close(actual, expected, **options)
    ours = OURS.message(actual, expected, options)
    assert ours == str(theirs.value).replace("(2, 1) != (1, 2)", "[2, 1] != [1, 2]")


def test_the_message_can_be_chosen():
    assert OURS.chosen(X, X + 1) == ["mine", "<Tensor-likes"[:13]]
