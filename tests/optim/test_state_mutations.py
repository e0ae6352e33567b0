"""Mutated states of optimizers: accepted as in Python, or rejected without a change."""

from __future__ import annotations

import contextlib
import random
from copy import deepcopy

import pytest
from compare_optimizers import NAMES, ours, plain, problems_for, pythons, torch
from state_mutations import ERROR_OF, mutate, python_error

OPTIONS = {
    "Adam": {"amsgrad": True},
    "LBFGS": {"lr": 0.1, "max_iter": 3, "line_search_fn": "strong_wolfe"},
    "RMSprop": {"momentum": 0.9, "centered": True},
    "SGD": {"momentum": 0.9},
}
MUTATIONS = 40


def comparable(value):
    """Converts counters to numbers, drops empty states, and lists Python's generators of strings."""
    if isinstance(value, torch.Tensor) and not value.is_meta and value.layout == torch.strided:
        return comparable(value.tolist())
    if isinstance(value, dict):
        pairs = sorted((str(key), comparable(item)) for key, item in value.items() if item != {})
        return [pair for pair in pairs if pair[1] != []]
    if isinstance(value, (list, tuple)):
        return comparable(value[0]) if len(value) == 1 else [comparable(item) for item in value]
    if isinstance(value, (bool, int, float)):
        return f"{float(value):.6g}"
    return type(value).__name__ if value is None else "another"


def pair_of(name):
    theirs, mine = problems_for(name)
    options = OPTIONS.get(name, {})
    one, other = pythons(name, theirs.params, **options), ours(name, mine.params, **options)
    theirs.steps(one, 2, closure=name == "LBFGS")
    mine.steps(other, 2, closure=name == "LBFGS")
    return theirs, one, mine, other


@pytest.mark.parametrize("name", NAMES)
def test_mutated_state_is_accepted_as_in_python_or_changes_nothing(name):
    rng = random.Random(name)
    accepted = 0
    for _ in range(MUTATIONS):
        theirs, one, mine, other = pair_of(name)
        good, before = deepcopy(other.state_dict()), plain(other.state_dict())
        state = deepcopy(good)
        what = [mutate(state, rng) for _ in range(rng.choice([1, 1, 2]))]
        why = ERROR_OF.of(other, deepcopy(state))
        if why is not None:
            assert plain(other.state_dict()) == before, what
            assert all(torch.equal(a, b) for a, b in zip(theirs.params, mine.params, strict=True)), what
            mine.steps(other, 1, closure=name == "LBFGS")
            continue
        accepted += 1
        assert python_error(one, state) is None, (what, "Python rejects it")
        assert comparable(other.state_dict()["state"]) == comparable(one.state_dict()["state"]), what
        with contextlib.suppress(RuntimeError):
            mine.steps(other, 2, closure=name == "LBFGS")
    assert 0 < accepted < MUTATIONS


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s["state"][0].update(exp_avg=torch.ones(2)), 'state[0]["exp_avg"] must have shape '),
        (
            lambda s: s["state"][1].update(step=torch.ones(2)),
            'state[1]["step"] must be a number, got a tensor of shape [2]',
        ),
        (lambda s: s["state"][2].pop("exp_avg_sq"), 'state[2] has no entry "exp_avg_sq" of Adam'),
        (lambda s: s["state"].update({3: [1, 2]}), "state[3] must be a dict, got array"),
        (lambda s: s["param_groups"][0].update(lr="fast"), 'param_groups[0]["lr"] must be a number, got text'),
        (lambda s: s["param_groups"][0].update(betas=(0.9,)), 'param_groups[0]["betas"] must be 2 numbers, got '),
        (lambda s: s["param_groups"][0].update(params=[0, 0, 1, 2]), "contains the parameter index 0 twice"),
        (lambda s: s["param_groups"][0].pop("eps"), 'has no param_groups[0]["eps"], an option of Adam'),
    ],
)
def test_error_names_the_entry(change, message):
    _, _, _, other = pair_of("Adam")
    state = deepcopy(other.state_dict())
    change(state)
    state["param_groups"][0].setdefault("lr", 5.0)
    assert message in ERROR_OF.of(other, state)


def test_state_of_another_optimizer_is_rejected():
    _, _, _, adam = pair_of("Adam")
    _, _, mine, sgd = pair_of("SGD")
    why = ERROR_OF.of(sgd, adam.state_dict())
    assert 'has no param_groups[0]["momentum"], an option of SGD' in why
    assert "of an optimizer of the same class with the same parameters" in why
    mine.steps(sgd, 1)


def test_state_without_a_parameter_is_kept_as_in_python():
    _, one, _, other = pair_of("SGD")
    state = deepcopy(one.state_dict())
    state["state"]["schedule"] = "mine"
    for optimizer in (one, other):
        optimizer.load_state_dict(state)
        assert optimizer.state_dict()["state"]["schedule"] == "mine"


def test_state_with_other_strides_steps_in_one_kernel():
    """Python's kernel would read past the end of this memory."""
    theirs, one, mine, other = pair_of("Adam")
    for optimizer in (one, other):
        state = deepcopy(other.state_dict())
        spread = torch.full((1, 1), 0.5).expand(3, 4)
        state["state"][0].update(exp_avg=spread.contiguous() if optimizer is one else spread)
        state["param_groups"][0].update(fused=True, amsgrad=False)
        optimizer.load_state_dict(state)
    theirs.steps(one, 1)
    mine.steps(other, 1)
    assert all(torch.equal(a, b) for a, b in zip(theirs.params, mine.params, strict=True))


def test_options_missing_from_a_state():
    """Flags stay, custom options are dropped, parameter names stay: as in Python."""
    _, one, _, other = pair_of("SGD")
    for optimizer in (one, other):
        optimizer.param_groups[0]["own"] = 3
        optimizer.param_groups[0]["param_names"] = ["a", "b", "c", "d"]
        state = optimizer.state_dict()
        del state["param_groups"][0]["own"], state["param_groups"][0]["param_names"]
        del state["param_groups"][0]["nesterov"]
        optimizer.load_state_dict(state)
        group = optimizer.param_groups[0]
        assert ("own" in group, group["param_names"], group["nesterov"]) == (False, ["a", "b", "c", "d"], False)
