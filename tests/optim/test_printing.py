"""Optimizers print as in Python."""

from __future__ import annotations

import pytest
from compare_optimizers import NAMES, Problem, ours, pythons, torch


def matrices():
    return Problem(matrices_only=True).params


def assert_equal_text(name, **options):
    mine, theirs = str(ours(name, matrices(), **options)), str(pythons(name, matrices(), **options))
    if "maximize" not in theirs:  # LBFGS: new in 2.12
        mine = mine.replace("    maximize: False\n", "")
    assert mine == theirs


@pytest.mark.parametrize("name", NAMES)
def test_one_group(name):
    assert_equal_text(name)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "LBFGS"])
def test_several_groups_with_their_own_rates_and_custom_options(name):
    def groups():
        first, second = matrices()
        return [{"params": [first], "lr": 3e-7}, {"params": [second], "own": "kept", "tags": ("a", 1, None)}]

    assert str(ours(name, groups(), lr=10.0)) == str(pythons(name, groups(), lr=10.0))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("SGD", {"lr": torch.tensor(0.5), "momentum": 0.9, "nesterov": True, "fused": True}),
        ("Adam", {"lr": 1e16, "betas": (0.5, 0.123456789), "eps": 1e-16, "foreach": False}),
        ("Adafactor", {"eps": (None, 1e-3), "beta2_decay": -0.8}),
        ("LBFGS", {"line_search_fn": "strong_wolfe", "max_eval": 3}),
        ("Rprop", {"etas": (0.4, 1.3), "step_sizes": (1e-07, 51)}),
    ],
)
def test_options_of_every_kind(name, options):
    assert_equal_text(name, **options)


def test_names_and_scheduled_rates():
    def pairs():
        return list(zip("ab", matrices(), strict=True))

    mine, theirs = ours("SGD", pairs(), lr=0.5), pythons("SGD", pairs(), lr=0.5)
    for optimizer in (mine, theirs):
        optimizer.param_groups[0]["initial_lr"] = 0.5
    assert str(mine) == str(theirs)
