"""Gradient clipping matches Python bit for bit."""

from __future__ import annotations

import pytest
from compare_optimizers import torch
from simple_torch import run

NAMES = [
    *("clip_grad_norm_", "clip_grad_value_", "get_total_norm", "clip_grads_with_norm_"),
    *("parameters_to_vector", "vector_to_parameters"),
]
OURS = run(
    "use torch.nn.utils\n"
    + "\n".join(f"fn {name}(args..., **named): utils.{name}(args..., **named)" for name in NAMES),
    name="clipping",
)
THEIRS = torch.nn.utils


def parameters(*, scale=1.0, seed=5):
    generator = torch.Generator().manual_seed(seed)
    made = []
    for sizes, dtype in [
        ((3, 4), torch.float32),
        ((4,), torch.float32),
        ((2, 2, 2), torch.float64),
        ((), torch.float32),
    ]:
        param = torch.zeros(sizes, dtype=dtype, requires_grad=True)
        param.grad = torch.randn(sizes, generator=generator, dtype=dtype) * scale
        made.append(param)
    return [*made, torch.zeros(3, requires_grad=True)]


def gradients(params):
    return [param.grad.tolist() for param in params if param.grad is not None]


@pytest.mark.parametrize("options", [{}, {"foreach": True}, {"foreach": False}])
@pytest.mark.parametrize("norm_type", [2, 1.0, 0.5, 3, float("inf"), "inf"])
@pytest.mark.parametrize("max_norm", [0.5, 1, 1e6])
def test_by_norm(max_norm, norm_type, options):
    theirs, mine = parameters(), parameters()
    expected = THEIRS.clip_grad_norm_(theirs, max_norm, norm_type, **options)
    found = OURS.clip_grad_norm_(mine, max_norm, norm_type, **options)
    assert torch.equal(found, expected)
    assert gradients(mine) == gradients(theirs)
    assert (gradients(mine) != gradients(parameters())) == (max_norm < 1e6)


@pytest.mark.parametrize("options", [{}, {"foreach": True}])
def test_by_value(options):
    theirs, mine = parameters(), parameters()
    THEIRS.clip_grad_value_(theirs, 0.7, **options)
    OURS.clip_grad_value_(mine, 0.7, **options)
    assert gradients(mine) == gradients(theirs) != gradients(parameters())


def test_total_norms():
    tensors = [param.grad for param in parameters()[:-1]]
    assert torch.equal(OURS.get_total_norm(tensors), THEIRS.get_total_norm(tensors))
    assert torch.equal(OURS.get_total_norm(tensors[0], 1), THEIRS.get_total_norm(tensors[0], 1))
    assert torch.equal(OURS.get_total_norm([]), THEIRS.get_total_norm([]))
    theirs, mine = parameters(), parameters()
    THEIRS.clip_grads_with_norm_(theirs, 0.3, torch.tensor(2.0))
    OURS.clip_grads_with_norm_(mine, 0.3, torch.tensor(2.0))
    assert gradients(mine) == gradients(theirs)


def test_one_tensor_and_none_with_gradients():
    theirs, mine = parameters()[0], parameters()[0]
    assert torch.equal(OURS.clip_grad_norm_(mine, 0.1), THEIRS.clip_grad_norm_(theirs, 0.1))
    assert torch.equal(mine.grad, theirs.grad)
    bare = torch.zeros(2, requires_grad=True)
    assert OURS.clip_grad_norm_([bare], 1.0).item() == 0.0
    OURS.clip_grad_value_([bare], 1.0)
    assert bare.grad is None


def test_nonfinite_norm_is_rejected_with_error_if_nonfinite():
    mine, theirs = parameters(), parameters()
    for params in (mine, theirs):
        params[1].grad[0] = float("inf")
    before = gradients(mine)
    with pytest.raises(RuntimeError, match=r"total norm of order 2\.0 for gradients from `parameters` is non-finite"):
        OURS.clip_grad_norm_(mine, 1.0, error_if_nonfinite=True)
    assert gradients(mine) == before
    OURS.clip_grad_norm_(mine, 1.0)
    THEIRS.clip_grad_norm_(theirs, 1.0)
    assert str(gradients(mine)) == str(gradients(theirs))


def test_parameters_to_vector_round_trip():
    params = [torch.randn(3, 2, requires_grad=True), torch.randn(4, requires_grad=True)]
    vector = OURS.parameters_to_vector(params)
    assert torch.equal(vector, THEIRS.parameters_to_vector(params))
    vector.sum().backward()
    assert params[0].grad.tolist() == [[1.0, 1.0]] * 3
    OURS.vector_to_parameters(torch.arange(10.0), params)
    assert params[0].tolist() == [[0, 1], [2, 3], [4, 5]]
    assert params[1].tolist() == [6, 7, 8, 9]


@pytest.mark.parametrize(
    ("vector", "message"),
    [
        ([1.0, 2.0], "expected torch.Tensor, but got"),
        (torch.ones(5), "expected a vector of at least 10 elements, got 5"),
    ],
)
def test_vector_that_does_not_match_is_rejected(vector, message):
    params = [torch.zeros(3, 2, requires_grad=True), torch.zeros(4, requires_grad=True)]
    with pytest.raises(RuntimeError, match=message):
        OURS.vector_to_parameters(vector, params)
    assert not params[0].any()
