"""torch.random: fork_rng and seed."""

from __future__ import annotations

import pytest
from embedded_simple import equal, run, torch

OURS = run(
    """
    use torch
    fn forked(seed, enabled):
        torch.manual_seed(seed)
        with torch.random.fork_rng(enabled: enabled):
            torch.manual_seed(99)
            torch.rand([7])
        torch.rand([3])
    fn forked_and_failed(seed):
        torch.manual_seed(seed)
        torch.attempt(\\:
            with torch.random.fork_rng():
                torch.rand([7])
                torch.ones([2]) + torch.ones([3]))
        torch.rand([3])
    fn seeds(): [torch.seed(), torch.random.seed(), torch.random.initial_seed()]
    """
)


def theirs(seed, enabled=True):
    torch.manual_seed(seed)
    with torch.random.fork_rng(devices=[], enabled=enabled):
        torch.manual_seed(99)
        torch.rand(7)
    return torch.rand(3)


@pytest.mark.parametrize("enabled", [True, False])
def test_fork_rng_restores_the_state(enabled):
    assert equal(OURS.forked(5, enabled), theirs(5, enabled))


def test_fork_rng_restores_the_state_after_a_failure():
    assert equal(OURS.forked_and_failed(5), theirs(5))


def test_seed_seeds_by_a_new_number():
    first, second, current = OURS.seeds()
    assert first != second == current
    assert torch.initial_seed() == current
