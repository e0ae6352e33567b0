"""Mutated states of schedulers: accepted as in Python, or rejected without a change."""

from __future__ import annotations

import contextlib
import random
from copy import deepcopy

import pytest
from compare_optimizers import plain
from compare_schedulers import CASES, OURS, Mine, optimizer_of, pair, step
from state_mutations import ERROR_OF, mutate, python_error

MUTATIONS = 15


@pytest.mark.parametrize("case", range(len(CASES)))
def test_mutated_state_is_accepted_as_in_python_or_changes_nothing(case):
    make = CASES[case].values[0]
    rng = random.Random(case)
    for _ in range(MUTATIONS):
        (theirs, one), (mine, other) = pair(make)
        for scheduler, optimizer in [(theirs, one), (mine, other)]:
            step(scheduler, optimizer, 5)
        before = plain(mine.state_dict())
        state = deepcopy(theirs.state_dict())
        what = mutate(state, rng)
        why = ERROR_OF.of(mine, deepcopy(state))
        if why is None:
            assert python_error(theirs, state) is None, (what, "Python rejects it")
            with contextlib.suppress(RuntimeError):
                step(mine, other, 1)
        else:
            assert plain(mine.state_dict()) == before, what
            step(mine, other, 1)
            step(theirs, one, 1)
            assert mine.get_last_lr() == theirs.get_last_lr()


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"gamma": "a"}, '"gamma" must have the type of 0.1, got a'),
        ({"base_lrs": [0.1]}, '"base_lrs" must have a value for each of the 2 parameter groups, got 1'),
        ({"base_lrs": 0.1}, '"base_lrs" must have the type of [0.05, 0.3], got 0.1'),
        ({"last_epoch": [1]}, '"last_epoch" must have the type of 0, got [1]'),
        ([1], "state must be a dict, got array"),
        ({3: 1}, "names must be strings, got 3 of type i64"),
    ],
)
def test_error_names_the_entry(state, message):
    scheduler = OURS.StepLR(optimizer_of(Mine()), 3)
    assert message in ERROR_OF.of(scheduler, state)


def test_rejected_part_leaves_the_parts_before_it():
    optimizer = optimizer_of(Mine())
    chain = OURS.ChainedScheduler([OURS.StepLR(optimizer, 3), OURS.ExponentialLR(optimizer, 0.9)])
    before = plain(chain.state_dict())
    state = deepcopy(chain.state_dict())
    state["_schedulers"][0]["gamma"] = 0.7
    state["_schedulers"][1]["gamma"] = None
    assert 'ExponentialLR.load_state_dict(): "gamma" must have the type of 0.9, got nil' in ERROR_OF.of(chain, state)
    assert plain(chain.state_dict()) == before
    state["_schedulers"].pop()
    assert '"_schedulers" must be a list of 2 states' in ERROR_OF.of(chain, state)
