"""Hooks around steps and states of optimizers, compared with the same hooks in Python."""

from __future__ import annotations

from copy import deepcopy

import pytest
from compare_optimizers import Problem, ours, plain, pythons, torch
from simple_torch import run

from torch.optim.optimizer import (  # isort: skip
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

OWN = run(
    """
    use torch
    use torch.optim.{Optimizer}
    use torch.optim.optimizer.{register_optimizer_step_pre_hook, register_optimizer_step_post_hook}
    class Plain(Optimizer):
        fn init(params, lr = 0.1): Optimizer.init(self, params, {"lr": lr})
        fn step(closure = nil): self.hooked(\\(closure = nil): self.move(closure), closure)
        fn move(closure):
            val loss = if closure == nil: nil else: closure()
            with torch.no_grad():
                for group in self.param_groups:
                    for p in group["params"]:
                        if p.grad != nil: p.add_(p.grad, alpha: -group["lr"])
            loss
    fn plain_one(params): Plain(params)
    fn before_all(hook): register_optimizer_step_pre_hook(hook)
    fn after_all(hook): register_optimizer_step_post_hook(hook)
    """,
    name="hooked",
)


class Plain(torch.optim.Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, {"lr": lr})

    def step(self, closure=None):
        loss = None if closure is None else closure()
        with torch.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        p.add_(p.grad, alpha=-group["lr"])
        return loss


MAKERS = {
    "SGD": (lambda params: pythons("SGD", params, lr=0.1), lambda params: ours("SGD", params, lr=0.1)),
    "Adam": (lambda params: pythons("Adam", params, lr=0.1), lambda params: ours("Adam", params, lr=0.1)),
    "LBFGS": (lambda params: pythons("LBFGS", params, lr=0.1), lambda params: ours("LBFGS", params, lr=0.1)),
    "one of ones own": (Plain, lambda params: OWN.plain_one(params)),
}


def hook_arguments(optimizer, args, kwargs, seen):
    """The arguments of a step hook, by position."""
    return (args[0] is optimizer or args[0] == optimizer, len(args), args[1:] == seen, dict(kwargs))


@pytest.mark.parametrize(
    ("name", "closed"), [(name, closed) for name in MAKERS for closed in (False, True) if closed or name != "LBFGS"]
)
def test_step_hooks_receive_the_optimizer_and_the_arguments(name, closed):
    transcripts = []
    for make in MAKERS[name]:
        problem, calls = Problem(), []
        optimizer = make(problem.params)
        closure = problem.closure(optimizer)
        expected_args = (closure,) if closed else ()
        before = optimizer.register_step_pre_hook(
            lambda o, args, kwargs, calls=calls, expected_args=expected_args: calls.append(
                ("before", *hook_arguments(o, args, kwargs, expected_args))
            )
        )
        after = optimizer.register_step_post_hook(
            lambda o, args, kwargs, calls=calls, expected_args=expected_args: calls.append(
                ("after", *hook_arguments(o, args, kwargs, expected_args))
            )
        )
        if not closed:
            closure()
        optimizer.step(*expected_args)
        before.remove()
        optimizer.step(*expected_args)
        after.remove()
        optimizer.step(*expected_args)
        transcripts.append((calls, [value.tolist() for value in problem.values()]))
    assert [call[0] for call in transcripts[0][0]] == ["before", "after", "after"]
    assert all(call[1] and call[3] for call in transcripts[0][0])
    assert transcripts[1] == transcripts[0]


@pytest.mark.parametrize("name", MAKERS)
def test_step_pre_hook_replaces_the_arguments(name):
    results = []
    for make in MAKERS[name]:
        problem, seen = Problem(), []
        optimizer = make(problem.params)
        closure = problem.closure(optimizer)
        optimizer.register_step_pre_hook(lambda o, args, kwargs, closure=closure: ((args[0], closure), kwargs))
        optimizer.register_step_post_hook(lambda o, args, kwargs, seen=seen: seen.append(len(args)))
        loss = optimizer.step()
        other = make(Problem().params)
        other.register_step_pre_hook(lambda o, args, kwargs, closure=closure: (args, {"closure": closure}))
        other.register_step_post_hook(lambda o, args, kwargs, seen=seen: seen.append(list(kwargs)))
        results.append((loss.item(), other.step().item(), seen, [value.tolist() for value in problem.values()]))
    assert results[0][2] == [2, ["closure"]]
    assert results[1] == results[0]


@pytest.mark.parametrize("wrong", [3, (1, 2, 3), "ab", [()]])
def test_step_pre_hook_with_an_invalid_result_is_rejected(wrong):
    for make in MAKERS["SGD"]:
        optimizer = make(Problem().params)
        optimizer.register_step_pre_hook(lambda o, args, kwargs: wrong)
        with pytest.raises(RuntimeError, match="must return None or a tuple of"):
            optimizer.step()


def test_global_hooks_run_around_an_optimizers_own():
    transcripts = []
    registries = [
        (register_optimizer_step_pre_hook, register_optimizer_step_post_hook),
        (OWN.before_all, OWN.after_all),
    ]
    for make, (before_all, after_all) in zip(MAKERS["SGD"], registries, strict=True):
        calls = []
        handles = [before_all(lambda o, a, k, c=calls: c.append("before all"))]
        handles.append(after_all(lambda o, a, k, c=calls: c.append("after all")))
        one, other = make(Problem().params), make(Problem().params)
        one.register_step_pre_hook(lambda o, a, k, c=calls: c.append("before"))
        one.register_step_post_hook(lambda o, a, k, c=calls: c.append("after"))
        one.step()
        other.step()
        for handle in handles:
            handle.remove()
        other.step()
        transcripts.append(calls)
    assert transcripts[0] == ["before all", "before", "after", "after all", "before all", "after all"]
    assert transcripts[1] == transcripts[0]


@pytest.mark.parametrize("name", ["SGD", "Adam", "one of ones own"])
def test_state_dict_hooks(name):
    results = []
    for make in MAKERS[name]:
        problem, calls = Problem(), []
        optimizer = make(problem.params)
        problem.steps(optimizer, 2)
        optimizer.register_state_dict_pre_hook(lambda o, c=calls: c.append("second"))
        optimizer.register_state_dict_pre_hook(lambda o, c=calls: c.append("first"), prepend=True)
        optimizer.register_state_dict_post_hook(lambda o, state, c=calls: c.append(sorted(state)))
        optimizer.register_state_dict_post_hook(lambda o, state: {**state, "hook_arguments": 5})
        state = optimizer.state_dict()
        fresh = make(Problem().params)
        fresh.register_load_state_dict_pre_hook(lambda o, state, c=calls: c.append(state["hook_arguments"]))
        fresh.register_load_state_dict_pre_hook(lambda o, state: changed(state, lr=0.5))
        handle = fresh.register_load_state_dict_post_hook(lambda o, c=calls: c.append(o.param_groups[0]["lr"]))
        fresh.load_state_dict(deepcopy(state))
        handle.remove()
        fresh.load_state_dict(deepcopy(state))
        results.append((calls, plain(fresh.state_dict()), plain(state)))
    assert results[0][0] == ["first", "second", ["param_groups", "state"], 5, 0.5, 5]
    assert results[1] == results[0]


def changed(state, **options):
    return {**state, "param_groups": [{**group, **options} for group in state["param_groups"]]}
