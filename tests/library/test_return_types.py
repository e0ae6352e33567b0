"""What max, sort, topk … return along a dimension is one type, which unpacks, is saved, and is a tuple in Python."""

from __future__ import annotations

import pytest
from embedded_simple import equal, run, torch

OURS = run(
    """
    use torch
    fn all(x): [x.max(1), torch.max(x, 1), x.max(dim: 1, keepdim: true), torch.min(x, dim: 0), x.min(0), x.sort(),
        torch.sort(x, descending: true), x.topk(2), torch.topk(x, 2), torch.median(x, 1), torch.mode(x, 1), x.cummax(0),
        torch.kthvalue(x, 2)]
    fn kinds(x): [for each in all(x): type_of(each)]
    fn unpacked(x):
        val (values, indices) = torch.max(x, 1)
        val both = x.max(1)
        [values, indices, both.values, both.indices, both[0], both[1]]
    fn arithmetic(x): [torch.max(x, 1) * 2, 1 + x.max(1)]
    fn saved(x, path): torch.save({"best": x.max(1), "other": torch.max(x, 1)}, path)
    fn shown(x): "{torch.max(x, 1)}"
    """
)
X = torch.tensor([[1.0, 3.0, 2.0], [6.0, 5.0, 4.0]])


def test_methods_and_functions_return_the_same_type():
    assert set(OURS.kinds(X)) == {"ValuesAndIndices"}


def test_the_values_are_those_of_pytorch():
    expected = [
        *(X.max(1), torch.max(X, 1), X.max(dim=1, keepdim=True), torch.min(X, dim=0), X.min(0), X.sort()),
        *(torch.sort(X, descending=True), X.topk(2), torch.topk(X, 2), torch.median(X, 1), torch.mode(X, 1)),
        *(X.cummax(0), torch.kthvalue(X, 2)),
    ]
    assert equal(OURS.all(X), [tuple(each) for each in expected])


def test_it_unpacks_and_has_the_names_of_pytorch():
    best = X.max(1)
    assert equal(OURS.unpacked(X), [*best, best.values, best.indices, best[0], best[1]])


def test_in_arithmetic_it_stands_for_its_values():
    assert equal(OURS.arithmetic(X), [X.max(1).values * 2, 1 + X.max(1).values])


def test_save_writes_a_tuple(tmp_path):
    path = str(tmp_path / "x.pt")
    OURS.saved(X, path)
    loaded = torch.load(path)
    for name in ("best", "other"):
        assert isinstance(loaded[name], tuple)
        assert equal(loaded[name], tuple(X.max(1)))


def test_it_prints_both(tmp_path):
    assert OURS.shown(X) == "(values: tensor([3., 6.]), indices: tensor([1, 0]))"


@pytest.mark.parametrize("dim", [0, 1])
def test_gradients_flow_through_the_values(dim):
    ours, theirs = X.clone().requires_grad_(), X.clone().requires_grad_()
    OURS.all(ours)[4 if dim == 0 else 0][0].sum().backward()
    (theirs.min(0) if dim == 0 else theirs.max(1)).values.sum().backward()
    assert equal(ours.grad, theirs.grad)
