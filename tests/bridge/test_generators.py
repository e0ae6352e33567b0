"""Random number generators shared by both languages: each continues the other's sequence."""

from __future__ import annotations

import pytest
from embedded_simple import equal, run, torch

OURS = run(
    """
    use torch
    use python as py
    fn drawn(g): torch.randn([3], generator: g)
    fn permuted(g): torch.randperm(5, generator: g)
    fn filled(g): torch.nn.init.normal_(torch.empty([2]), generator: g)
    fn split(g): torch.utils.data.random_split([0, 1, 2, 3, 4], [3, 2], g).map(\\part: part.indices)
    fn made(seed): torch.Generator().manual_seed(seed)
    fn in_python(seed):
        val g = torch.Generator().manual_seed(seed)
        (py.import("torch").randn(3, generator: g).to_tensor(), torch.randn([3], generator: g))
    """,
    name="generators",
)


@pytest.mark.parametrize("draw", ["drawn", "permuted", "filled"])
def test_simple_draws_from_a_python_generator(draw):
    theirs, ours = (torch.Generator().manual_seed(3) for _ in range(2))
    calls = {
        "drawn": lambda g: torch.randn(3, generator=g),
        "permuted": lambda g: torch.randperm(5, generator=g),
        "filled": lambda g: torch.nn.init.normal_(torch.empty(2), generator=g),
    }
    for _ in range(2):
        assert equal(getattr(OURS, draw)(ours), calls[draw](theirs))
    assert equal(ours.get_state(), theirs.get_state())


def test_random_split_equals_pythons():
    theirs, ours = (torch.Generator().manual_seed(3) for _ in range(2))
    expected = [part.indices for part in torch.utils.data.random_split(range(5), [3, 2], theirs)]
    assert [list(part) for part in OURS.split(ours)] == expected


def test_python_draws_from_a_simple_generator():
    ours, theirs = OURS.made(5), torch.Generator().manual_seed(5)
    assert isinstance(ours, torch.Generator)
    assert equal(torch.randn(3, generator=ours), torch.randn(3, generator=theirs))
    assert equal(OURS.drawn(ours), torch.randn(3, generator=theirs))
    again = torch.Generator().manual_seed(5)
    assert equal(OURS.in_python(5), (torch.randn(3, generator=again), torch.randn(3, generator=again)))


def test_other_objects_are_rejected():
    with pytest.raises(RuntimeError):
        OURS.drawn(object())
