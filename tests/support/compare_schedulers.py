"""Python's and Simple's schedulers, on optimizers of each, created by the same functions."""

from __future__ import annotations

import re
import warnings

import pytest
from compare_optimizers import ours, plain, torch
from simple_torch import run

NAMES = [
    *("StepLR", "MultiStepLR", "ConstantLR", "ExponentialLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts"),
    *("CyclicLR", "OneCycleLR", "ReduceLROnPlateau", "LinearLR", "PolynomialLR", "SequentialLR", "ChainedScheduler"),
    *("LambdaLR", "MultiplicativeLR"),
]
OURS = run(
    "use torch.optim.lr_scheduler\n"
    + "\n".join(f"fn {name}(args..., **named): lr_scheduler.{name}(args..., **named)" for name in NAMES),
    name="schedulers",
)


class Theirs:
    """Python's schedulers and optimizers, by the same names as in `Mine`."""

    def optimizer(self, name, *args, **options):
        return getattr(torch.optim, name)(*args, **options)

    def __getattr__(self, name):
        return getattr(torch.optim.lr_scheduler, name)


class Mine:
    def optimizer(self, name, *args, **options):
        return ours(name, *args, **options)

    def __getattr__(self, name):
        return getattr(OURS, name)


def simple_case(name, *args, **options):
    shown = ",".join([*map(str, args), *(f"{key}={value}" for key, value in options.items())])
    shown = re.sub(" at 0x[0-9a-f]+", "", shown)  # an address differs between the processes of pytest-xdist
    return pytest.param(lambda side, o: getattr(side, name)(o, *args, **options), id=f"{name}({shown})")


def sequence(side, optimizer):
    parts = [side.LinearLR(optimizer, 0.1, total_iters=10), side.ExponentialLR(optimizer, 0.9)]
    return side.SequentialLR(optimizer, parts, [12])


def longer_sequence(side, optimizer):
    parts = [
        side.ConstantLR(optimizer, 0.5, 4),
        side.StepLR(optimizer, 3, 0.7),
        side.CosineAnnealingLR(optimizer, 20),
        side.PolynomialLR(optimizer, 30, 2.0),
    ]
    return side.SequentialLR(optimizer, parts, milestones=[5, 20, 60])


def chain(side, optimizer):
    return side.ChainedScheduler([side.ConstantLR(optimizer, 0.1, 2), side.ExponentialLR(optimizer, 0.9)])


def chain_in_sequence(side, optimizer):
    first = side.ChainedScheduler([side.ConstantLR(optimizer, 0.1, 2), side.ExponentialLR(optimizer, 0.9)], optimizer)
    return side.SequentialLR(optimizer, [first, side.StepLR(optimizer, 5)], [30])


CASES = [
    simple_case("StepLR", 30),
    simple_case("StepLR", 7, 0.9),
    simple_case("StepLR", step_size=1, gamma=0.97),
    simple_case("MultiStepLR", [30, 80]),
    simple_case("MultiStepLR", [3, 3, 10, 50], gamma=0.7),
    simple_case("ConstantLR"),
    simple_case("ConstantLR", 0.25, 40),
    simple_case("ConstantLR", 1.0, 0),
    simple_case("LinearLR"),
    simple_case("LinearLR", 0.5, 0.1, 60),
    simple_case("LinearLR", start_factor=1.0, end_factor=0.0, total_iters=99),
    simple_case("ExponentialLR", 0.95),
    simple_case("ExponentialLR", gamma=1.01),
    simple_case("PolynomialLR"),
    simple_case("PolynomialLR", 150, 2.5),
    simple_case("PolynomialLR", total_iters=40, power=0.5),
    simple_case("CosineAnnealingLR", 10),
    simple_case("CosineAnnealingLR", 33, 0.001),
    simple_case("CosineAnnealingLR", T_max=200, eta_min=0.02),
    simple_case("CosineAnnealingWarmRestarts", 10),
    simple_case("CosineAnnealingWarmRestarts", 7, 2, 0.001),
    simple_case("CyclicLR", 0.01, 0.1, 10),
    simple_case("CyclicLR", 0.01, 0.1, step_size_up=5, step_size_down=13, mode="triangular2"),
    simple_case("CyclicLR", [0.01, 0.02], [0.1, 0.3], 8, mode="exp_range", gamma=0.99),
    simple_case("CyclicLR", 0.01, 0.1, 10, scale_fn=lambda x: 0.5**x, scale_mode="cycle", cycle_momentum=False),
    simple_case("OneCycleLR", 0.5, total_steps=120),
    simple_case("OneCycleLR", [0.5, 0.1], epochs=11, steps_per_epoch=10, anneal_strategy="linear", three_phase=True),
    simple_case("OneCycleLR", 0.5, total_steps=100, pct_start=0.4, three_phase=True, div_factor=5.0),
    simple_case("LambdaLR", lambda epoch: 0.95**epoch),
    simple_case("LambdaLR", [lambda epoch: 1 / (1 + epoch), lambda epoch: epoch // 10]),
    simple_case("MultiplicativeLR", lambda epoch: 0.98),
    simple_case("MultiplicativeLR", [lambda epoch: 0.98, lambda epoch: 1 - 1 / (epoch + 5)]),
    pytest.param(sequence, id="SequentialLR"),
    pytest.param(longer_sequence, id="SequentialLR of four"),
    pytest.param(chain, id="ChainedScheduler"),
    pytest.param(chain_in_sequence, id="ChainedScheduler in a SequentialLR"),
]


def params():
    return [torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)]


def optimizer_of(side, kind="SGD", **options):
    first, second = params()
    more = {"momentum": 0.9} if kind == "SGD" else {}
    return side.optimizer(kind, [{"params": [first]}, {"params": [second], "lr": 0.3}], lr=0.05, **more, **options)


def state_of(scheduler, optimizer):
    rest = [
        [group["lr"], group["initial_lr"], group.get("momentum"), group.get("betas")]
        for group in optimizer.param_groups
    ]
    return plain([scheduler.get_last_lr(), rest])


def step(scheduler, optimizer, count=1):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(count):
            optimizer.step()
            scheduler.step()


def pair(make, kind="SGD", **options):
    """Python's and Simple's: (scheduler, optimizer) each."""
    made = []
    for side in (Theirs(), Mine()):
        optimizer = optimizer_of(side, kind, **options)
        made.append((make(side, optimizer), optimizer))
    return made
