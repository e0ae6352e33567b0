"""Custom optimizers and schedulers, compared with the same classes in Python."""

from __future__ import annotations

import re
from copy import deepcopy

import pytest
from compare_optimizers import Problem, ours, plain, torch
from simple_torch import run

OWN = run(
    """
    use torch
    use torch.optim.{Optimizer, Adam}
    use torch.optim.lr_scheduler.{LRScheduler}

    class Heavy(Optimizer):
        fn init(params, lr = 0.01, momentum = 0.9):
            Optimizer.init(self, params, {"lr": lr, "momentum": momentum})
        fn step(closure = nil):
            self.hooked(\\(closure = nil): self.move(closure), closure)
        fn move(closure):
            val loss = if closure == nil: nil else: closure()
            with torch.no_grad():
                for group in self.param_groups:
                    for p in group["params"]:
                        if p.grad == nil: continue
                        val state = self.state[p]
                        if state.is_empty():
                            state["step"] = 0
                            state["buffer"] = torch.zeros_like(p)
                        state["step"] = state["step"] + 1
                        val buffer = state["buffer"]
                        buffer.mul_(group["momentum"]).add_(p.grad)
                        p.add_(buffer, alpha: -group["lr"])
            loss

    class Idle(Optimizer):
        fn init(params): Optimizer.init(self, params, {"lr": 1.0})

    # Adam whose gradients are the signs only.
    class Signs(Adam):
        fn init(params, lr = 0.001): Adam.init(self, params, lr)
        fn step(closure = nil):
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad != nil: p.grad.sign_()
            Adam.step(self, closure)

    class Halving(LRScheduler):
        fn init(optimizer, every, last_epoch = -1):
            self.every = every
            LRScheduler.init(self, optimizer, last_epoch)
        fn get_lr(): self.base_lrs.map(\\lr: lr * 0.5 ** (self.last_epoch / self.every))

    class Silent(LRScheduler):
        fn last(): 1
    class Wrong(LRScheduler):
        fn get_lr(): [0.1, 0.2, 0.3]

    fn heavy(params, **named): Heavy(params, **named)
    fn signs(params, **named): Signs(params, **named)
    fn idle(params): Idle(params)
    fn plain_one(params, defaults): Optimizer(params, defaults)
    fn halving(optimizer, every): Halving(optimizer, every)
    fn silent(optimizer): Silent(optimizer)
    fn wrong(optimizer): Wrong(optimizer)
    """
)


class Heavy(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01, momentum=0.9):
        super().__init__(params, {"lr": lr, "momentum": momentum})

    def step(self, closure=None):
        loss = None if closure is None else closure()
        with torch.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    state = self.state[p]
                    if not state:
                        state.update(step=0, buffer=torch.zeros_like(p))
                    state["step"] += 1
                    state["buffer"].mul_(group["momentum"]).add_(p.grad)
                    p.add_(state["buffer"], alpha=-group["lr"])
        return loss


class Signs(torch.optim.Adam):
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.grad.sign_()
        return super().step(closure)


class Halving(torch.optim.lr_scheduler.LRScheduler):
    def __init__(self, optimizer, every, last_epoch=-1):
        self.every = every
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [lr * 0.5 ** (self.last_epoch // self.every) for lr in self.base_lrs]


BOTH = {"Heavy": (Heavy, OWN.heavy), "Signs": (Signs, OWN.signs)}


def groups(params):
    return [{"params": params[:2]}, {"params": params[2:], "lr": 0.3}]


@pytest.mark.parametrize("name", BOTH)
def test_custom_optimizer_steps_as_in_python(name):
    theirs, mine = Problem(), Problem()
    one, other = BOTH[name][0](groups(theirs.params), lr=0.05), BOTH[name][1](groups(mine.params), lr=0.05)
    for closure in (False, True):
        theirs.steps(one, 5, closure=closure)
        mine.steps(other, 5, closure=closure)
    assert all(torch.equal(a, b) for a, b in zip(theirs.params, mine.params, strict=True))
    assert plain(other.state_dict()) == plain(one.state_dict())
    assert str(other) == str(one)


@pytest.mark.parametrize("name", BOTH)
def test_custom_optimizers_state_loads_in_both_directions(name):
    theirs, mine, fresh, again = (Problem() for _ in range(4))
    one, other = BOTH[name][0](theirs.params, lr=0.05), BOTH[name][1](mine.params, lr=0.05)
    theirs.steps(one, 4)
    mine.steps(other, 2)
    resumed, resumed_in_python = BOTH[name][1](fresh.params), BOTH[name][0](again.params)
    for optimizer, problem in [(resumed, fresh), (resumed_in_python, again)]:
        for param, value in zip(problem.params, mine.values(), strict=True):
            param.data.copy_(value)
        optimizer.load_state_dict(deepcopy(other.state_dict()))
        problem.steps(optimizer, 2)
        assert all(torch.equal(a, b) for a, b in zip(theirs.params, problem.params, strict=True))


def test_custom_optimizers_state_is_cast_to_the_parameters_dtype_except_steps():
    mine, double = Problem(), Problem(torch.float64)
    one, other = Heavy(mine.params), OWN.heavy(double.params)
    mine.steps(one, 1)
    state = deepcopy(one.state_dict())
    state["state"][0]["step"] = torch.tensor(1.0)
    other.load_state_dict(state)
    found = other.state_dict()["state"][0]
    assert (found["buffer"].dtype, found["step"].dtype) == (torch.float64, torch.float32)


def test_foreign_state_changes_nothing():
    mine = Problem()
    other = OWN.heavy(mine.params)
    mine.steps(other, 1)
    before = plain(other.state_dict())
    for change in [{"param_groups": []}, {"state": 3}, {"state": {0: 3}}, {"param_groups": [{"params": [0]}]}]:
        with pytest.raises(RuntimeError, match="loaded state dict"):
            group = {"params": [0, 1, 2, 3], "lr": 9.0}
            other.load_state_dict({**other.state_dict(), "param_groups": [group], **change})
        assert plain(other.state_dict()) == before


def test_custom_optimizers_groups_closures_rates_and_zero_grad():
    mine = Problem()
    other = OWN.heavy(mine.params[:2], lr=0.5)
    other.add_param_group({"params": mine.params[2:], "lr": 0.1, "own": "kept"})
    assert [group["lr"] for group in other.param_groups] == [0.5, 0.1]
    assert (other.param_groups[1]["own"], other.lr()) == ("kept", 0.5)
    mine.loss().backward()
    other.zero_grad(False)
    assert mine.params[0].grad.count_nonzero() == 0
    other.zero_grad()
    assert mine.params[0].grad is None
    other.set_lr(0.2)
    assert [group["lr"] for group in other.param_groups] == [0.2, 0.2]
    scheduler = ours_of_library(other)
    scheduler.step()
    assert [group["lr"] for group in other.param_groups] == [0.1, 0.1]


def ours_of_library(optimizer):
    module = run("use torch.optim.lr_scheduler\nfn made(o): lr_scheduler.StepLR(o, 1, 0.5)", name="halving")
    return module.made(optimizer)


def test_custom_schedulers_rates_match_python():
    theirs, mine = Problem(), Problem()
    one = torch.optim.SGD(groups(theirs.params), lr=0.05)
    other = ours("SGD", groups(mine.params), lr=0.05)
    first, second = Halving(one, 3), OWN.halving(other, 3)
    for _ in range(8):
        assert [g["lr"] for g in other.param_groups] == [g["lr"] for g in one.param_groups]
        assert second.get_last_lr() == first.get_last_lr()
        for each in (one, first, other, second):
            each.step()
    assert plain(second.state_dict()) == plain(first.state_dict())
    again = OWN.halving(ours("SGD", groups(mine.params), lr=0.05), 7)
    again.load_state_dict(first.state_dict())
    assert (again.every, again.last_epoch, again._step_count) == (3, 8, 9)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda o: OWN.silent(o), "Silent must implement get_lr(), which returns the rates of all groups"),
        (
            lambda o: OWN.wrong(o),
            "Wrong.get_lr() must return an array with a rate for each of the 1 parameter groups, got 3 rates",
        ),
        (lambda o: OWN.idle([torch.ones(2)]).step(), "Idle must implement step()"),
        (lambda o: OWN.plain_one([torch.ones(2)], 3), "optimizer defaults must be a dict of options, got i64"),
        (lambda o: OWN.plain_one([], {}), "optimizer got an empty parameter list"),
        (lambda o: OWN.heavy([torch.ones(2, requires_grad=True) * 2]), "can't optimize a non-leaf Tensor"),
    ],
)
def test_missing_methods_are_reported(make, message):
    with pytest.raises(RuntimeError, match=re.escape(message)):
        make(ours("SGD", [torch.ones(2)]))
