"""Optimizer states load from Python and into Python, and training continues bit for bit."""

from __future__ import annotations

import io
from copy import deepcopy

import pytest
from compare_optimizers import NAMES, Problem, ours, plain, problems_for, pythons, torch

# Options with the largest state of each algorithm.
OPTIONS = {
    "Adam": {"amsgrad": True},
    "AdamW": {"amsgrad": True, "lr": 0.01},
    "LBFGS": {"lr": 0.1, "max_iter": 3, "line_search_fn": "strong_wolfe"},
    "RMSprop": {"momentum": 0.9, "centered": True},
    "SGD": {"momentum": 0.9, "nesterov": True},
    "ASGD": {"t0": 2},
}


def both(name):
    theirs, mine = problems_for(name)
    options = OPTIONS.get(name, {})
    return theirs, pythons(name, theirs.params, **options), mine, ours(name, mine.params, **options)


def in_python(state):
    """Through a file, as a checkpoint."""
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


@pytest.mark.parametrize("name", NAMES)
def test_state_dict_matches_python(name):
    theirs, their_optimizer, mine, my_optimizer = both(name)
    closure = name == "LBFGS"
    theirs.steps(their_optimizer, 5, closure=closure)
    mine.steps(my_optimizer, 5, closure=closure)
    expected, found = their_optimizer.state_dict(), my_optimizer.state_dict()
    if name == "LBFGS" and "maximize" not in expected["param_groups"][0]:  # new in 2.12
        del found["param_groups"][0]["maximize"]
    assert plain(found) == plain(expected)
    for group, other in zip(found["param_groups"], expected["param_groups"], strict=True):
        assert {key: type(value) for key, value in group.items()} == {key: type(value) for key, value in other.items()}


@pytest.mark.parametrize("name", NAMES)
def test_python_continues_from_our_state(name):
    theirs, their_optimizer, mine, my_optimizer = both(name)
    closure = name == "LBFGS"
    theirs.steps(their_optimizer, 8, closure=closure)
    mine.steps(my_optimizer, 4, closure=closure)
    resumed = pythons(name, mine.params)
    resumed.load_state_dict(in_python(my_optimizer.state_dict()))
    mine.steps(resumed, 4, closure=closure)
    assert all(torch.equal(a, b) for a, b in zip(theirs.params, mine.params, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_we_continue_from_pythons_state(name):
    theirs, their_optimizer, mine, _ = both(name)
    closure = name == "LBFGS"
    begun = pythons(name, mine.params, **OPTIONS.get(name, {}))
    theirs.steps(their_optimizer, 8, closure=closure)
    mine.steps(begun, 4, closure=closure)
    resumed = ours(name, mine.params)
    resumed.load_state_dict(in_python(begun.state_dict()))
    mine.steps(resumed, 4, closure=closure)
    assert all(torch.equal(a, b) for a, b in zip(theirs.params, mine.params, strict=True))


def test_state_is_cast_to_the_parameters_dtype_except_counters():
    _, _, mine, my_optimizer = both("Adam")
    mine.steps(my_optimizer, 2)
    double = Problem(torch.float64)
    resumed = ours("Adam", double.params)
    resumed.load_state_dict(my_optimizer.state_dict())
    state = resumed.state_dict()["state"][0]
    assert (state["exp_avg"].dtype, state["step"].dtype) == (torch.float64, torch.float32)
    double.steps(resumed, 1)


# Muon and SparseAdam need other parameters and gradients.
@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("Muon", "SparseAdam")])
def test_we_continue_in_float64_from_pythons_state(name):
    """A state that is loaded takes the parameters' dtype; what later steps store keeps Python's rounding."""
    closure = name == "LBFGS"
    theirs, mine = Problem(torch.float64), Problem(torch.float64)
    begun = pythons(name, theirs.params, **OPTIONS.get(name, {}))
    theirs.steps(begun, 4, closure=closure)
    mine.steps(pythons(name, mine.params, **OPTIONS.get(name, {})), 4, closure=closure)
    state = in_python(begun.state_dict())
    for problem, optimizer in ((theirs, pythons), (mine, ours)):
        resumed = optimizer(name, problem.params)
        resumed.load_state_dict(deepcopy(state))
        problem.steps(resumed, 4, closure=closure)
    assert all(torch.equal(a, b) for a, b in zip(theirs.params, mine.params, strict=True))


def test_number_steps_of_old_checkpoints_become_tensors():
    _, _, mine, my_optimizer = both("NAdam")
    mine.steps(my_optimizer, 3)
    old = deepcopy(my_optimizer.state_dict())
    for state in old["state"].values():
        state["step"] = int(state["step"].item())
        state["mu_product"] = state["mu_product"].item()
    resumed = ours("NAdam", mine.params)
    resumed.load_state_dict(old)
    assert plain(resumed.state_dict()["state"]) == plain(my_optimizer.state_dict()["state"])


def test_fused_state_loads_into_a_fused_optimizer():
    theirs, mine = problems_for("Adam")
    one, other = pythons("Adam", theirs.params, fused=True), ours("Adam", mine.params)
    theirs.steps(one, 3)
    other.load_state_dict(one.state_dict())
    assert other.param_groups[0]["fused"] is True
    mine.params[0].data.copy_(theirs.params[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda state: state["param_groups"].append(state["param_groups"][0]), "different number of parameter groups"),
        (lambda state: state["param_groups"][0]["params"].pop(), "doesn't match the size of optimizer's group"),
        (lambda state: state.pop("param_groups"), 'has no "param_groups"'),
        (lambda state: state.pop("state"), 'has no "state"'),
    ],
)
def test_state_of_another_shape_is_rejected_and_changes_nothing(change, message):
    _, _, mine, my_optimizer = both("Adam")
    mine.steps(my_optimizer, 2)
    before = plain(my_optimizer.state_dict())
    state = deepcopy(my_optimizer.state_dict())
    change(state)
    state.get("param_groups", [{}])[0]["lr"] = 5.0
    with pytest.raises(RuntimeError, match=message):
        my_optimizer.load_state_dict(state)
    assert plain(my_optimizer.state_dict()) == before
