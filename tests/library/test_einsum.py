"""einsum multiplies three and more operands in the order of opt_einsum, as PyTorch does."""

from __future__ import annotations

import random
import time

import pytest
from embedded_simple import equal, run, torch

pytest.importorskip("opt_einsum")
OURS = run(
    """
    use torch
    fn einsum(equation, operands): torch.einsum(equation, *operands.to_value())
    fn message(equation, operands):
        torch.attempt(\\: torch.einsum(equation, operands.to_value())).unwrap_err().message()
    """
)
EQUATIONS = [
    ("ij,jk,kl", [(40, 3), (3, 50), (50, 2)]),
    ("ij,jk,kl->il", [(2, 30), (30, 50), (50, 60)]),
    ("bi,ij,bj->b", [(7, 5), (5, 9), (7, 9)]),
    ("...ij,...jk,kl->...il", [(2, 3, 4, 5), (3, 5, 6), (6, 2)]),
    ("...i,i...,j", [(3, 4), (4, 3), (5,)]),
    ("ijk,ilm,njm,nlk,abc->", [(3, 4, 5), (3, 6, 7), (8, 4, 7), (8, 6, 5), (2, 2, 2)]),
    ("i,i,i,i->i", [(6,), (6,), (6,), (6,)]),
    ("ii,ij,jk->k", [(4, 4), (4, 5), (5, 6)]),
    ("a,b,c,d->abcd", [(2,), (3,), (4,), (5,)]),
    ("i j, j k ,k->i", [(2, 3), (3, 4), (4,)]),
    ("bij,bjk,bkl,b->bil", [(3, 4, 5), (3, 5, 6), (1, 6, 7), (3,)]),
]


def operands_of(shapes):
    torch.manual_seed(len(shapes))
    return [torch.randn(shape) for shape in shapes]


@pytest.mark.parametrize(("equation", "shapes"), EQUATIONS, ids=[equation for equation, _ in EQUATIONS])
def test_an_equation_has_the_bits_of_pytorch(equation, shapes):
    operands = operands_of(shapes)
    assert equal(OURS.einsum(equation, operands), torch.einsum(equation, *operands))


@pytest.mark.parametrize("count", range(3, 9))
def test_random_networks_have_the_bits_of_pytorch(count):
    chance = random.Random(count)
    for _ in range(20):
        sizes = {letter: chance.choice([1, 2, 3, 5, 8]) for letter in "abcdefgh"}
        terms = ["".join(chance.sample("abcdefgh", chance.randint(1, 3))) for _ in range(count)]
        output = "".join(sorted(chance.sample(sorted({*"".join(terms)}), 2)))
        equation = ",".join(terms) + "->" + output
        operands = operands_of([[sizes[letter] for letter in term] for term in terms])
        assert equal(OURS.einsum(equation, operands), torch.einsum(equation, *operands)), equation


@pytest.mark.serial
def test_the_order_saves_time():
    operands = operands_of([(400, 2), (2, 400), (400, 400), (400, 1)])
    begin = time.perf_counter()
    torch.einsum("ij,jk,kl,lm->im", *operands)
    theirs = time.perf_counter() - begin
    begin = time.perf_counter()
    OURS.einsum("ij,jk,kl,lm->im", operands)
    assert time.perf_counter() - begin < 20 * theirs + 0.01


@pytest.mark.parametrize("equation", ["ij,jk,kl,lm", "ij,jk", "ij,jk,k1->i", "ij,jk,kl->z"])
def test_wrong_equations_have_the_message_of_libtorch(equation):
    operands = operands_of([(2, 3), (3, 4), (4, 5)])
    with pytest.raises(RuntimeError) as theirs:
        torch._C._VariableFunctions.einsum(equation, operands)
    assert OURS.message(equation, operands) == str(theirs.value)


def test_gradients_flow_through_three_operands():
    ours, theirs = operands_of([(2, 3), (3, 4), (4, 5)]), operands_of([(2, 3), (3, 4), (4, 5)])
    for each in (*ours, *theirs):
        each.requires_grad_()
    OURS.einsum("ij,jk,kl->", ours).backward()
    torch.einsum("ij,jk,kl->", *theirs).backward()
    assert all(equal(a.grad, b.grad) for a, b in zip(ours, theirs))
