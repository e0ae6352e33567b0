"""What usual mistakes are answered with: what is wrong, where, and what to do."""

from __future__ import annotations

import re

import pytest
from compare_optimizers import ours, torch
from compare_schedulers import OURS, Mine, optimizer_of
from simple_torch import run

PROGRAMS = run(
    """
    use torch
    use torch.optim
    fn weight(): torch.ones([2], requires_grad: true)
    fn module(): optim.Adam(torch.nn.Linear(2, 1))
    fn twice():
        val w = weight()
        optim.SGD([w, w])
    fn in_two_groups():
        val w = weight()
        optim.SGD([{"params": [w]}, {"params": w}])
    fn lbfgs_without(): optim.LBFGS([weight()]).step()
    fn lbfgs_nothing(): optim.LBFGS([weight()]).step(\\: nil)
    fn lbfgs_several(): optim.LBFGS([weight()]).step(\\: torch.ones([3]))
    fn no_function(): optim.SGD([weight()]).step(3)
    fn a_loss(): optim.SGD([weight()]).step(weight().sum())
    fn with_nothing() -> bool: optim.SGD([weight()]).step(\\: nil) == nil
    """
)


def weight():
    return torch.ones(2, requires_grad=True)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PROGRAMS.module(), "but got a module, Linear: give it module.parameters()"),
        (
            lambda: ours("Adam", torch.nn.Linear(2, 1)),
            "a module, torch.nn.modules.linear.Linear: give it module.parameters()",
        ),
        (lambda: ours("SGD", []), "optimizer got an empty parameter list"),
        (lambda: ours("SGD", None), "should be an iterable of Tensors or dicts, but got nil"),
        (lambda: ours("SGD", {"params": [weight()]}), 'a dict: groups stand in an array, [{"params": tensors}]'),
        (lambda: ours("SGD", [weight()], lr="fast"), "lr must be a number, not fast"),
        (lambda: ours("SGD", [weight()], lr=-0.5), "Invalid learning rate: -0.5"),
        (lambda: PROGRAMS.twice(), "optimizer contains a parameter group with duplicate parameters"),
        (lambda: PROGRAMS.in_two_groups(), "some parameters appear in more than one parameter group"),
        (lambda: PROGRAMS.lbfgs_without(), "LBFGS.step() needs a closure that gives the loss"),
        (lambda: PROGRAMS.lbfgs_nothing(), "the function that LBFGS.step() called gave nil; its last line is the loss"),
        (
            lambda: PROGRAMS.lbfgs_several(),
            "gave a tensor of shape [3]; its last line is the loss, a number or a tensor",
        ),
        (lambda: PROGRAMS.no_function(), "SGD.step() takes a function that gives the loss, not i64: step("),
        (lambda: PROGRAMS.a_loss(), "SGD.step() takes a function that gives the loss, not Tensor"),
    ],
)
def test_optimizer_mistakes(make, message):
    with pytest.raises(RuntimeError, match=re.escape(message)):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda o: OURS.StepLR(o, 0), "StepLR: step_size is a number of epochs, at least 1, not 0"),
        (lambda o: OURS.StepLR(o, "3"), "StepLR: step_size is a number, not text"),
        (lambda o: OURS.StepLR(o, 3, "a"), "StepLR: gamma is a number, not text"),
        (lambda o: OURS.ExponentialLR(o, None), "ExponentialLR: gamma is a number, not nil"),
        (lambda o: OURS.CosineAnnealingLR(o, 0), "CosineAnnealingLR: T_max is a number of epochs, at least 1, not 0"),
        (lambda o: OURS.CyclicLR(o, 0.1, "a"), "max_lr: the value is a number, not text"),
        (lambda o: OURS.CyclicLR(o, 0.1, 0.2, 0), "CyclicLR: step_size_up is a number of epochs, at least 1, not 0"),
        (lambda o: OURS.PolynomialLR(o, "a"), "PolynomialLR: total_iters is a number, not text"),
        (lambda o: OURS.LinearLR(o, "a"), "LinearLR: start_factor is a number, not text"),
        (lambda o: OURS.MultiStepLR(o, 30), "MultiStepLR: milestones is an array of epochs, [30, 80], not i64"),
        (lambda o: OURS.MultiStepLR(o, [1.5]), "MultiStepLR: milestones are integers, not f64"),
        (lambda o: OURS.LambdaLR(o, 3), "or an array with one for each parameter group, not i64; \\epoch: 0.95"),
        (lambda o: OURS.LambdaLR(o, [lambda e: 1.0]), "Expected 2 lr_lambdas, but got 1"),
        (lambda o: OURS.LambdaLR(o, lambda e: None), "LambdaLR: lr_lambda[0] gave nil for epoch 0; it gives a factor"),
        (lambda o: OURS.ReduceLROnPlateau(o).step(), "ReduceLROnPlateau.step(): metrics is a number, not nil"),
        (
            lambda o: OURS.SequentialLR(o, OURS.StepLR(o, 1), [5]),
            "SequentialLR takes an array of schedulers, not StepLR",
        ),
        (
            lambda o: OURS.SequentialLR(o, [OURS.StepLR(o, 1) for _ in range(3)], [5, 2]),
            "SequentialLR: milestones rise, and [5, 2] do not: 2 is before 5",
        ),
        (lambda o: OURS.StepLR(torch.nn.Linear(2, 1), 3), "the first argument of a scheduler is one of torch.optim's"),
    ],
)
def test_scheduler_mistakes(make, message):
    with pytest.raises(RuntimeError, match=re.escape(message)):
        make(optimizer_of(Mine()))


def test_accepts_what_python_accepts():
    param = weight()
    optimizer = ours("SGD", [param], lr=0.5)
    optimizer.step()  # without any gradient
    assert param.tolist() == [1.0, 1.0]
    assert PROGRAMS.with_nothing()
    OURS.StepLR(optimizer, -2)
    OURS.MultiStepLR(optimizer, [80, 30])
