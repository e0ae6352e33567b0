"""Parameter groups, closures, sparse gradients, hooks, and errors."""

from __future__ import annotations

import re

import pytest
from compare_optimizers import NAMES, Problem, ours, pythons, torch
from simple_torch import run

from torch.testing._internal.common_optimizers import OptimizerErrorEnum, optim_db  # isort: skip


def groups_of(problem):
    weights, biases = problem.params[::2], problem.params[1::2]
    return [{"params": weights, "lr": 0.05, "weight_decay": 0.1}, {"params": biases}]


def equal(one, other):
    return all(torch.equal(a, b) for a, b in zip(one.params, other.params, strict=True))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("LBFGS", "Muon", "SparseAdam", "Rprop")])
def test_groups_step_with_their_own_options(name):
    theirs, mine = Problem(), Problem()
    one, other = pythons(name, groups_of(theirs), lr=0.01), ours(name, groups_of(mine), lr=0.01)
    theirs.steps(one, 5)
    mine.steps(other, 5)
    assert equal(theirs, mine)
    assert [group["lr"] for group in other.param_groups] == [0.05, 0.01]


def test_changed_option_applies_from_the_next_step():
    theirs, mine = Problem(), Problem()
    one, other = pythons("SGD", theirs.params, lr=0.1), ours("SGD", mine.params, lr=0.1)
    for optimizer, problem in [(one, theirs), (other, mine)]:
        problem.steps(optimizer, 2)
        optimizer.param_groups[0]["lr"] = 0.01
        optimizer.param_groups[0]["momentum"] = 0.5
        problem.steps(optimizer, 3)
    assert equal(theirs, mine)


def test_group_can_be_added_later():
    theirs, mine = Problem(), Problem()
    for optimizer, problem in [(pythons("Adam", theirs.params[:2]), theirs), (ours("Adam", mine.params[:2]), mine)]:
        problem.steps(optimizer, 2)
        optimizer.add_param_group({"params": problem.params[2:], "lr": 0.1, "own": "kept"})
        problem.steps(optimizer, 2)
        assert optimizer.param_groups[1]["own"] == "kept"
    assert equal(theirs, mine)


def test_names_of_parameters_are_kept():
    mine = Problem()
    optimizer = ours("SGD", list(zip("abcd", mine.params, strict=True)))
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["a", "b", "c", "d"]
    mine.steps(optimizer, 1)


def test_closure_runs_with_gradients_and_step_returns_its_loss():
    theirs, mine = Problem(), Problem()
    one, other = pythons("SGD", theirs.params, lr=0.1), ours("SGD", mine.params, lr=0.1)
    assert one.step(theirs.closure(one)).item() == other.step(mine.closure(other)).item()
    assert equal(theirs, mine)


@pytest.mark.parametrize("name", ["SGD", "LBFGS"])
def test_failing_closure_leaves_the_optimizer_unchanged(name):
    options = {"lr": 0.1, "line_search_fn": "strong_wolfe"} if name == "LBFGS" else {"lr": 0.1, "momentum": 0.9}
    theirs, mine = Problem(), Problem()
    one, other = pythons(name, theirs.params, **options), ours(name, mine.params, **options)
    calls = iter(range(9))

    def fails():
        loss = mine.closure(other)()
        if name == "SGD" or next(calls) == 1:
            raise KeyError("lost")
        return loss

    mine.steps(other, 1, closure=True)
    with pytest.raises(KeyError, match="lost"):
        other.step(fails)
    mine.steps(other, 2, closure=True)
    theirs.steps(one, 3, closure=True)
    assert equal(theirs, mine)


def test_ctrl_c_in_a_closure_leaves_the_optimizer_usable():
    theirs, mine = Problem(), Problem()
    one, other = pythons("Adam", theirs.params), ours("Adam", mine.params)

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        other.step(interrupted)
    theirs.steps(one, 2)
    mine.steps(other, 2)
    assert equal(theirs, mine)


@pytest.mark.parametrize(("name", "options"), [("SGD", {"momentum": 0.9}), ("SGD", {}), ("Adagrad", {"lr": 0.1})])
def test_sparse_gradients_step_as_in_python(name, options):
    theirs, mine = Problem(sparse=True), Problem(sparse=True)
    theirs.steps(pythons(name, theirs.params, **options), 5)
    mine.steps(ours(name, mine.params, **options), 5)
    assert equal(theirs, mine)


def test_views_and_retained_gradients_are_accepted_as_parameters():
    weight = torch.ones(3, requires_grad=True)
    scaled = weight * 2
    scaled.retain_grad()
    optimizer = ours("SGD", [scaled], lr=0.5)
    scaled.sum().backward()
    optimizer.step()
    assert scaled.tolist() == [1.5, 1.5, 1.5]


def test_autograd_detects_the_change_by_a_step():
    weight = torch.ones(3, requires_grad=True)
    loss = (weight * weight).sum()
    loss.backward(retain_graph=True)
    ours("SGD", [weight], lr=0.5).step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


# ---- errors

ERRORS = [
    pytest.param(info.name, error, id=f"{info.name}-{error.optimizer_error_input.desc}")
    for info in optim_db
    for error in info.optim_error_inputs_func("cpu", torch.float32)
    if not isinstance(error.optimizer_error_input.params, set)
]


@pytest.mark.parametrize(("name", "error"), ERRORS)
def test_rejects_the_same_as_python_with_its_message(name, error):
    error_input = error.optimizer_error_input
    params = [torch.ones(2, 3, requires_grad=True)] if error_input.params is None else error_input.params

    def construct():
        return ours(name, params, **error_input.kwargs)

    if error.error_on is OptimizerErrorEnum.CONSTRUCTION_ERROR:
        with pytest.raises(RuntimeError, match=error.error_regex):
            construct()
    else:
        optimizer = construct()
        with pytest.raises(RuntimeError, match=error.error_regex):
            optimizer.step()


def leaf():
    return torch.ones(2, 2, requires_grad=True)


@pytest.mark.parametrize(
    ("name", "params", "options", "message"),
    [
        ("Adam", [], {}, "optimizer got an empty parameter list"),
        ("Adam", [leaf() * 2], {}, "can't optimize a non-leaf Tensor"),
        ("Adam", [torch.ones(2, dtype=torch.int64)], {}, "floating point and complex Tensors, .* is int64"),
        ("Adam", ["weight"], {}, "optimizer can only optimize Tensors, but one of the params is text"),
        ("Adam", [{"params": [leaf()], "betas": (2.0, 0.9)}], {}, "Invalid beta parameter at index 0: 2.0"),
        ("Adam", [{"weights": [leaf()]}], {}, 'param_group must have a key "params"'),
        ("Adam", [leaf()], {"lr": -1e-05}, "Invalid learning rate: -1e-05"),
        ("Adam", [leaf()], {"rate": 1}, "rate"),
        ("Adam", [leaf()], {"lr": "fast"}, "lr must be a number, got fast"),
        ("Adam", [leaf()], {"betas": 0.9}, "betas must be 2 numbers, got 0.9"),
        ("Adam", [leaf()], {"fused": True, "foreach": True}, "`fused` and `foreach` cannot be `True` together"),
        ("Adam", [leaf()], {"differentiable": True}, "differentiable=True is not supported"),
        ("SGD", [leaf()], {"nesterov": True}, "Nesterov momentum requires a momentum and zero dampening"),
        ("SGD", [leaf()], {"lr": float("nan")}, "Invalid learning rate: nan"),
        ("LBFGS", [{"params": [leaf()]}, {"params": [leaf()]}], {}, "LBFGS doesn't support per-parameter options"),
    ],
)
def test_invalid_options_are_invalid_arguments(name, params, options, message):
    with pytest.raises(TypeError if message == "rate" else RuntimeError, match=message):
        ours(name, params, **options)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("Adam", {}, "Adam does not support sparse gradients, please consider SparseAdam instead"),
        ("RMSprop", {}, "RMSprop does not support sparse gradients"),
        ("Adagrad", {"weight_decay": 0.1}, "weight_decay option is not compatible with sparse gradients"),
    ],
)
def test_sparse_gradients_are_rejected_as_in_python(name, options, message):
    problem = Problem(sparse=True)
    before = problem.values()
    with pytest.raises(RuntimeError, match=re.escape(message)):
        problem.steps(ours(name, problem.params, **options), 1)
    assert torch.equal(before[0], problem.params[0])


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("SparseAdam", {}, "SparseAdam does not support dense gradients, please consider Adam instead"),
        ("Adam", {"capturable": True}, "If capturable=True, params and state_steps must be on supported devices"),
        ("LBFGS", {}, r"LBFGS.step\(\) requires a closure"),
        ("LBFGS", {"line_search_fn": "golden"}, "only 'strong_wolfe' is supported"),
    ],
)
def test_impossible_step_is_rejected(name, options, message):
    problem = Problem()
    optimizer = ours(name, problem.params, **options)
    with pytest.raises(RuntimeError, match=message):
        problem.steps(optimizer, 1, closure="golden" in options.values())


def test_fused_steps_of_complex_parameters_are_rejected():
    problem = Problem(torch.complex64)
    with pytest.raises(RuntimeError, match="`fused=True` requires all the params to be floating point Tensors"):
        problem.steps(ours("SGD", problem.params, fused=True), 1)


def test_the_failures_are_invalid_arguments():
    module = run(
        """
        use torch
        use torch.optim
        fn kind(body) -> text:
            match torch.attempt(body):
                case Err(InvalidArgument(_)): "InvalidArgument"
                case Err(other): "{other}"
                case Ok(_): "nothing"
        val w = torch.ones([2]).requires_grad_()
        val kinds = [kind(\\: optim.Adam([w], lr: 0.0 - 1.0)), kind(\\: optim.Adam([w, w])), kind(\\: optim.Adam([])),
            kind(\\: optim.SGD([w]).load_state_dict({}))]
        """
    )
    assert module.kinds == ["InvalidArgument"] * 4


def test_group_behaves_like_a_dict():
    group = ours("Adam", [leaf()], lr=0.5).param_groups[0]
    assert (group["lr"], group.get("lr"), group.get("own", 3), "eps" in group, "own" in group) == (
        0.5,
        0.5,
        3,
        True,
        False,
    )
    assert group.setdefault("own", 7) == 7
    assert "params" in list(group.keys())
    assert len(group) == len(list(group.keys())) == 13
    assert group.options()["own"] == 7
    with pytest.raises(RuntimeError, match='parameter group has no option "momentum"'):
        print(group["momentum"])
    with pytest.raises(RuntimeError, match=r"use add_param_group\(\)"):
        group["params"] = []


def test_optimizer_prints_its_groups_as_python_does():
    mine, theirs = ours("SGD", [leaf()], lr=0.5), torch.optim.SGD([leaf()], lr=0.5)
    assert str(mine) == str(theirs)


def test_learning_rate_is_set_for_all_groups():
    optimizer = ours("SGD", [{"params": [leaf()], "lr": 0.1}, {"params": [leaf()]}], lr=0.2)
    optimizer.set_lr(0.5)
    assert ([group["lr"] for group in optimizer.param_groups], optimizer.lr()) == ([0.5, 0.5], 0.5)
    assert optimizer.state(0) == {}
    with pytest.raises(RuntimeError, match=r"Invalid learning rate: -1\.0"):
        optimizer.set_lr(-1.0)


def test_parameters_and_names_of_a_python_module_are_accepted():
    model = torch.nn.Linear(2, 2)
    optimizer = ours("SGD", model.named_parameters(), lr=0.5)
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]
    model(torch.ones(1, 2)).sum().backward()
    before = model.bias.detach().clone()
    optimizer.step()
    assert torch.equal(model.bias, before - 0.5)
    assert optimizer.param_groups[0]["params"][0] is model.weight


def test_training_leaks_no_handles():
    module = run(
        """
        use torch
        use torch.optim
        fn loss(optimizer, model):
            optimizer.zero_grad()
            val found = model(torch.ones([1, 3])).pow(2.0).sum()
            found.backward()
            found
        fn train():
            val model = torch.nn.Linear(3, 2)
            val optimizer = optim.Adam([{"params": [model.weight]}, {"params": [model.bias], "lr": 0.1}])
            val scheduler = optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps: 20)
            for _ in 0..10:
                optimizer.step(\\: loss(optimizer, model))
                scheduler.step()
            optimizer.load_state_dict(optimizer.state_dict())
            val search = optim.LBFGS(model.parameters(), line_search_fn: "strong_wolfe")
            search.step(\\: loss(search, model))
        fn handles() -> [i64]:
            train()
            val before = torch.live_handles()
            for _ in 0..5: train()
            [before, torch.live_handles()]
        """
    )
    before, after = module.handles()
    assert after == before
