"""Functions of torch that are not one operator return the bits of Python's, and reject what Python's reject."""

from __future__ import annotations

import array

import pytest
from embedded_simple import equal, run, torch
from functorch.einops import rearrange

OURS = run(
    """
use torch
fn seed(n): torch.manual_seed(n)
fn sparse_mm(a, b): torch.sparse.mm(a, b)
fn sparse_mm_reduce(a, b, reduce): torch.sparse.mm(a, b, reduce)
fn sparse_addmm(c, a, b): torch.sparse.addmm(c, a, b, beta: 2, alpha: 0.5)
fn sparse_sum(a): torch.sparse.sum(a)
fn sparse_sum_dim(a, dim): torch.sparse.sum(a, dim: dim)
fn sparse_softmax(a): torch.sparse.softmax(a, 1)
fn sparse_log_softmax(a): torch.sparse.log_softmax(a, 1)
fn spdiags(d, o): torch.sparse.spdiags(d, o, [4, 4])
fn spmm(a, b): torch.spmm(a, b)
fn svd_lowrank(a, q): torch.svd_lowrank(a, q)
fn svd_lowrank_of_difference(a, m): torch.svd_lowrank(a, 3, M: m)
fn pca_lowrank(a): torch.pca_lowrank(a)
fn lobpcg(a, k, largest): torch.lobpcg(a, k: k, largest: largest)
fn lu(a): torch.lu(a)
fn lu_with_infos(a): torch.lu(a, get_infos: true)
fn unravel_index(i, a, b): torch.unravel_index(i, [a, b])
fn frombuffer(b): torch.frombuffer(b, dtype: torch.int32, count: 2, offset: 4)
fn einsum(a, b): torch.einsum(a, [Ellipsis, 0, 1], b, [Ellipsis, 1, 2], [Ellipsis, 0, 2])
fn einsum_without_result(a, b): torch.einsum(a, [0, 1], b, [1, 2])
fn einsum_of_a_large_number(a): torch.einsum(a, [0, 52])
fn dim_order(x): x.dim_order()
fn unique_dim_order(x): x.dim_order(ambiguity_check: true)
fn rearrange(x, pattern): torch.func.rearrange(x, pattern)
fn rearrange_with(x, pattern, h): torch.func.rearrange(x, pattern, h: h)
fn get_device(x): torch.get_device(x)
fn asarray(x): torch.asarray(x)
fn asarray_with(x, requires_grad): torch.asarray(x, requires_grad: requires_grad)
"""
)


def random(*shape: int) -> torch.Tensor:
    torch.manual_seed(len(shape))
    return torch.randn(shape)


def test_products_of_sparse_matrices():
    a, b, c = random(3, 4).relu(), random(4, 5), random(3, 5)
    sparse = a.to_sparse()
    assert equal(OURS.sparse_mm(sparse, b), torch.sparse.mm(sparse, b))
    assert equal(OURS.spmm(sparse, b), torch.spmm(sparse, b))
    assert equal(OURS.sparse_addmm(c, sparse, b), torch.sparse.addmm(c, sparse, b, beta=2, alpha=0.5))
    for reduce in ("sum", "mean", "amax", "amin"):
        assert equal(OURS.sparse_mm_reduce(a.to_sparse_csr(), b, reduce), torch.sparse.mm(a.to_sparse_csr(), b, reduce))


def test_reductions_of_sparse_matrices():
    sparse = random(3, 4).relu().to_sparse()
    assert equal(OURS.sparse_sum(sparse), torch.sparse.sum(sparse))
    for dim in (0, 1):
        assert equal(OURS.sparse_sum_dim(sparse, dim).to_dense(), torch.sparse.sum(sparse, dim).to_dense())
    assert equal(OURS.sparse_softmax(sparse).to_dense(), torch.sparse.softmax(sparse, 1).to_dense())
    assert equal(OURS.sparse_log_softmax(sparse).to_dense(), torch.sparse.log_softmax(sparse, 1).to_dense())


def test_sparse_diagonals():
    diagonals, offsets = random(2, 4), torch.tensor([0, -1])
    expected = torch.sparse.spdiags(diagonals, offsets, (4, 4)).to_dense()
    assert equal(OURS.spdiags(diagonals, offsets).to_dense(), expected)


@pytest.mark.parametrize("shape", [(5, 8), (8, 5)])
def test_low_rank_factorizations(shape):
    a, m = random(*shape), random(*shape, 1)[..., 0]
    for ours, theirs in [
        (lambda: OURS.svd_lowrank(a, 3), lambda: torch.svd_lowrank(a, 3)),
        (lambda: OURS.svd_lowrank_of_difference(a, m), lambda: torch.svd_lowrank(a, 3, M=m)),
        (lambda: OURS.pca_lowrank(a), lambda: torch.pca_lowrank(a)),
    ]:
        torch.manual_seed(7)
        expected = theirs()
        OURS.seed(7)
        assert equal(ours(), expected)


@pytest.mark.parametrize("largest", [True, False])
def test_lobpcg_and_its_gradient(largest):
    m = random(20, 20).double()
    ours, theirs = ((m + m.T).clone().requires_grad_() for _ in range(2))
    torch.manual_seed(3)
    expected = torch.lobpcg(theirs, k=2, largest=largest)
    OURS.seed(3)
    result = OURS.lobpcg(ours, 2, largest)
    assert equal(result, expected)
    result[0].sum().backward()
    expected[0].sum().backward()
    assert equal(ours.grad, theirs.grad)


@pytest.mark.filterwarnings("ignore:torch.lu is deprecated")
def test_lu():
    a = random(2, 3, 3)
    assert equal(OURS.lu(a), torch.lu(a))
    assert equal(OURS.lu_with_infos(a), torch.lu(a, get_infos=True))


def test_unraveled_indices_are_views_as_in_python():
    ours, theirs = OURS.unravel_index(torch.tensor([4, 1]), 3, 2), torch.unravel_index(torch.tensor([4, 1]), (3, 2))
    assert equal(tuple(ours), theirs)
    assert [x.stride() for x in ours] == [x.stride() for x in theirs]


def test_a_buffer_is_shared():
    numbers = array.array("i", [1, 2, 3])
    made = OURS.frombuffer(numbers)
    assert made.tolist() == [2, 3]
    made[0] = -5
    assert numbers[1] == -5


def test_sublists_of_einsum():
    a, b = random(2, 3, 4), random(2, 4, 5)
    assert equal(OURS.einsum(a, b), torch.einsum(a, [..., 0, 1], b, [..., 1, 2], [..., 0, 2]))
    assert equal(OURS.einsum_without_result(a[0], b[0]), torch.einsum(a[0], [0, 1], b[0], [1, 2]))
    with pytest.raises(RuntimeError, match="must be in the range"):
        OURS.einsum_of_a_large_number(a[0])


@pytest.mark.parametrize("dims", [(0, 1, 2, 3), (0, 2, 1, 3), (3, 2, 1, 0), (1, 3, 0, 2)])
def test_the_order_of_dimensions(dims):
    x = torch.empty(2, 3, 5, 7).permute(dims)
    assert tuple(OURS.dim_order(x)) == x.dim_order()
    assert tuple(OURS.dim_order(x[:1])) == x[:1].dim_order()
    assert tuple(OURS.unique_dim_order(x)) == x.dim_order(ambiguity_check=True)
    with pytest.raises(RuntimeError, match="unique dim order"):
        OURS.unique_dim_order(torch.empty(1, 2, 3, 4))


PATTERNS = [
    *("b h w c -> b h w c", "b h w c -> (b h) w c", "b h w c -> h (b w) c", "b h w c -> b c h w"),
    *("b h w c -> b (c h w)", "b ... c -> c ... b", "... c -> (...) c", "b h w c -> b 1 h w c"),
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_rearrange(pattern):
    x = random(2, 6, 4, 3)
    assert equal(OURS.rearrange(x, pattern), rearrange(x, pattern))


def test_rearrange_splits_dimensions():
    x = random(2, 6, 4)
    assert equal(OURS.rearrange_with(x, "b (h a) w -> b h (a w)", 2), x.reshape(2, 2, 12))
    with pytest.raises(RuntimeError, match="cannot be split"):
        OURS.rearrange_with(x, "b (h a) w -> b h (a w)", 4)


@pytest.mark.parametrize(
    "pattern",
    ["a b", "a b -> a", "a a -> a", "a (b -> a b", "a ((b) c) -> a b c", "a b c d e -> a b c d e", "a 2 -> a 2"],
)
def test_rearrange_rejects_an_invalid_pattern(pattern):
    with pytest.raises(RuntimeError):
        OURS.rearrange(random(2, 3), pattern)


def test_devices_and_gradients():
    x = torch.ones(2, requires_grad=True)
    y = x + 1
    assert OURS.get_device(x) == x.get_device() == -1
    assert OURS.asarray(y).grad_fn is y.grad_fn
    assert OURS.asarray_with(y, True).grad_fn is y.grad_fn
    assert not OURS.asarray_with(y, False).requires_grad
