"""The learning rates of each scheduler match Python bit for bit for 100 steps; states load in both directions."""

from __future__ import annotations

import warnings
from copy import deepcopy

import pytest
from compare_optimizers import ours, plain, torch
from compare_schedulers import CASES, NAMES, OURS, Mine, Theirs, optimizer_of, pair, params, state_of, step


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
@pytest.mark.parametrize("make", CASES)
def test_rates_match_python_for_100_steps(make, kind):
    (theirs, their_optimizer), (mine, my_optimizer) = pair(make, kind)
    for _ in range(100):
        assert state_of(mine, my_optimizer) == state_of(theirs, their_optimizer)
        step(theirs, their_optimizer)
        step(mine, my_optimizer)


@pytest.mark.parametrize("make", CASES)
def test_states_match_python_and_load_in_both_directions(make):
    (theirs, their_optimizer), (mine, my_optimizer) = pair(make)
    step(theirs, their_optimizer, 17)
    step(mine, my_optimizer, 17)
    expected, found = deepcopy(theirs.state_dict()), deepcopy(mine.state_dict())
    assert plain(found) == plain(expected)
    (fresh, fresh_optimizer), (mine_fresh, my_fresh_optimizer) = pair(make)
    for scheduler, optimizer, state in [(fresh, fresh_optimizer, found), (mine_fresh, my_fresh_optimizer, expected)]:
        optimizer.load_state_dict(their_optimizer.state_dict())
        scheduler.load_state_dict(state)
    for _ in range(3):
        for scheduler, optimizer in [
            (theirs, their_optimizer),
            (fresh, fresh_optimizer),
            (mine_fresh, my_fresh_optimizer),
        ]:
            step(scheduler, optimizer)
            assert state_of(scheduler, optimizer) == state_of(theirs, their_optimizer)


PLATEAUS = [
    {},
    {"patience": 2, "factor": 0.5},
    {"mode": "max", "patience": 1},
    {"mode": "max", "threshold_mode": "abs", "threshold": 0.3, "patience": 3, "cooldown": 4},
    {"threshold_mode": "abs", "threshold": 0.01, "patience": 0, "min_lr": [0.01, 0.001]},
    {"patience": 1, "min_lr": 0.002, "eps": 0.001, "factor": 0.3},
]


@pytest.mark.parametrize("options", PLATEAUS)
def test_plateaus_match_python(options):
    (theirs, one), (mine, other) = pair(lambda side, o: side.ReduceLROnPlateau(o, **options))
    generator = torch.Generator().manual_seed(1)
    for epoch in range(100):
        metric = 1 / (1 + epoch) + torch.rand((), generator=generator).item()
        theirs.step(metric)
        mine.step(torch.tensor(metric, dtype=torch.float64) if epoch % 2 else metric)
        assert [group["lr"] for group in other.param_groups] == [group["lr"] for group in one.param_groups]
    assert plain(mine.state_dict()) == plain(theirs.state_dict())
    fresh, again = pair(lambda side, o: side.ReduceLROnPlateau(o, **options))[1]
    again.load_state_dict(one.state_dict())
    fresh.load_state_dict(theirs.state_dict())
    for metric in (5.0, 5.0, 5.0, 5.0, 5.0, 5.0):
        theirs.step(metric)
        fresh.step(metric)
    assert fresh.get_last_lr() == theirs.get_last_lr()


@pytest.mark.parametrize("make", [case for case in CASES if "CyclicLR" not in case.id])
def test_tensor_rates_stay_the_same_tensors(make):
    made = []
    for side in (Theirs(), Mine()):
        rates = [torch.tensor(0.05), torch.tensor(0.3)]
        groups = [{"params": [param], "lr": rate} for param, rate in zip(params(), rates, strict=True)]
        optimizer = side.optimizer("SGD", groups, momentum=0.9)
        made.append((make(side, optimizer), optimizer, rates))
    for _ in range(20):
        for scheduler, optimizer, _rates in made:
            step(scheduler, optimizer)
        assert plain(made[1][2]) == plain(made[0][2])


@pytest.mark.parametrize("name", ["StepLR", "MultiStepLR", "ExponentialLR", "CosineAnnealingLR", "LinearLR"])
def test_schedule_starts_at_a_later_epoch(name):
    arguments = {
        "StepLR": [3],
        "MultiStepLR": [[3, 8]],
        "ExponentialLR": [0.9],
        "CosineAnnealingLR": [20],
        "LinearLR": [],
    }
    made = []
    for side in (Theirs(), Mine()):
        optimizer = optimizer_of(side)
        for group in optimizer.param_groups:
            group["initial_lr"] = 0.7
        scheduler = getattr(side, name)(optimizer, *arguments[name], last_epoch=4)
        step(scheduler, optimizer, 6)
        made.append(state_of(scheduler, optimizer))
    assert made[0] == made[1]


@pytest.mark.parametrize("epoch", [0, 3, 6.5, 20, 50.25])
def test_step_accepts_an_epoch(epoch):
    (theirs, one), (mine, other) = pair(lambda side, o: side.CosineAnnealingWarmRestarts(o, 5, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs.step(epoch)
    mine.step(epoch)
    step(theirs, one, 3)
    step(mine, other, 3)
    assert state_of(mine, other) == state_of(theirs, one)


@pytest.mark.parametrize("make", [case for case in CASES if case.id.split("(")[0] in NAMES[:5] + NAMES[9:11]])
def test_closed_forms_match_python(make):
    (theirs, one), (mine, other) = pair(make)
    for epoch in (3, 50, 9):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs.step(epoch)
        mine.step(epoch)
        assert state_of(mine, other) == state_of(theirs, one)


def test_schedulers_expose_their_arguments():
    optimizer = optimizer_of(Mine())
    scheduler = OURS.CosineAnnealingLR(optimizer, 10, eta_min=0.01)
    assert (scheduler.T_max, scheduler.eta_min, scheduler.last_epoch, scheduler.base_lrs) == (10, 0.01, 0, [0.05, 0.3])


REJECTED = [
    (lambda side, o: side.StepLR("adam", 3), "is not an Optimizer"),
    (lambda side, o: side.StepLR(o, 3, last_epoch=2), "param 'initial_lr' is not specified in param_groups"),
    (lambda side, o: side.ConstantLR(o, 1.5), "Constant multiplicative factor expected to be between 0 and 1."),
    (lambda side, o: side.LinearLR(o, 0.0), "Starting multiplicative factor expected to be greater than 0"),
    (lambda side, o: side.LinearLR(o, 0.5, 2.0), "Ending multiplicative factor expected to be between 0 and 1."),
    (lambda side, o: side.LambdaLR(o, [lambda e: 1.0]), "Expected 2 lr_lambdas, but got 1"),
    (lambda side, o: side.CosineAnnealingWarmRestarts(o, 0), "Expected positive integer T_0, but got 0"),
    (lambda side, o: side.CosineAnnealingWarmRestarts(o, 3, 0), "Expected integer T_mult >= 1, but got 0"),
    (lambda side, o: side.CosineAnnealingWarmRestarts(o, 3).step(-1), "Expected non-negative epoch, but got -1"),
    (lambda side, o: side.CyclicLR(o, 0.1, 0.2, mode="square"), "mode is invalid and scale_fn is None"),
    (lambda side, o: side.CyclicLR(o, [0.1], 0.2), "base_lr must have the same length as optimizer.param_groups"),
    (lambda side, o: side.OneCycleLR(o, 0.1), "You must define either total_steps OR"),
    (lambda side, o: side.OneCycleLR(o, 0.1, total_steps=-3), "Expected positive integer total_steps, but got -3"),
    (lambda side, o: side.OneCycleLR(o, 0.1, total_steps=9, pct_start=2.0), "Expected float between 0 and 1 pct_start"),
    (lambda side, o: side.OneCycleLR(o, 0.1, total_steps=9, anneal_strategy="log"), "must be one of 'cos' or 'linear'"),
    (lambda side, o: side.ReduceLROnPlateau(o, factor=1.0), "Factor should be < 1.0."),
    (lambda side, o: side.ReduceLROnPlateau(o, "least"), "mode least is unknown!"),
    (lambda side, o: side.ReduceLROnPlateau(o, threshold_mode="far"), "threshold mode far is unknown!"),
    (lambda side, o: side.ReduceLROnPlateau(o, min_lr=[0.1]), "expected 2 min_lrs, got 1"),
    (lambda side, o: side.SequentialLR(o, [], []), "expects at least one scheduler, but got no scheduler"),
    (lambda side, o: side.SequentialLR(o, [side.StepLR(o, 3)], [3]), "number of milestones to be equal to 1"),
    (lambda side, o: side.ChainedScheduler([]), "at least one scheduler to be chained, but got no scheduler"),
    (lambda side, o: side.ChainedScheduler([side.ReduceLROnPlateau(o)]), "does not support `ReduceLROnPlateau`"),
    (
        lambda side, o: side.ChainedScheduler([side.StepLR(o, 1), side.StepLR(optimizer_of(side), 1)]),
        "the same optimizer",
    ),
]


@pytest.mark.parametrize(("make", "message"), REJECTED, ids=[message for _, message in REJECTED])
def test_rejects_the_same_as_python_with_its_message(make, message):
    for side, kinds in [(Theirs(), (ValueError, TypeError, KeyError)), (Mine(), RuntimeError)]:
        with pytest.raises(kinds) as caught:
            make(side, optimizer_of(side))
        assert message in str(caught.value).replace("\\n", "\n")


def test_cycle_needs_momentum():
    with pytest.raises(RuntimeError, match="optimizer must support momentum or beta1"):
        OURS.OneCycleLR(ours("Adagrad", params()), 0.1, total_steps=5)


def test_steps_after_the_cycle_are_rejected():
    optimizer = optimizer_of(Mine())
    scheduler = OURS.OneCycleLR(optimizer, 0.1, total_steps=5)
    with pytest.raises(RuntimeError, match=r"Tried to step 6 times\. The specified number of total steps is 5"):
        step(scheduler, optimizer, 6)
