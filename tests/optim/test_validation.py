"""Errors for common mistakes state what is wrong, where, and what to do."""

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
        (lambda: PROGRAMS.module(), "but got a module, Linear; pass module.parameters()"),
        (
            lambda: ours("Adam", torch.nn.Linear(2, 1)),
            "a module, torch.nn.modules.linear.Linear; pass module.parameters()",
        ),
        (lambda: ours("SGD", []), "optimizer got an empty parameter list"),
        (lambda: ours("SGD", None), "should be an iterable of Tensors or dicts, but got nil"),
        (lambda: ours("SGD", {"params": [weight()]}), 'a dict; pass an array of groups, [{"params": tensors}]'),
        (lambda: ours("SGD", [weight()], lr="fast"), "lr must be a number, got fast"),
        (lambda: ours("SGD", [weight()], lr=-0.5), "Invalid learning rate: -0.5"),
        (lambda: PROGRAMS.twice(), "optimizer contains a parameter group with duplicate parameters"),
        (lambda: PROGRAMS.in_two_groups(), "some parameters appear in more than one parameter group"),
        (lambda: PROGRAMS.lbfgs_without(), "LBFGS.step() requires a closure that returns the loss"),
        (
            lambda: PROGRAMS.lbfgs_nothing(),
            "LBFGS.step(): the closure must return the loss, a number or a tensor with one element, got nil",
        ),
        (
            lambda: PROGRAMS.lbfgs_several(),
            "a number or a tensor with one element, got a tensor of shape [3]",
        ),
        (
            lambda: PROGRAMS.no_function(),
            "SGD.step(): closure must be a function that returns the loss, got i64; call step(",
        ),
        (lambda: PROGRAMS.a_loss(), "SGD.step(): closure must be a function that returns the loss, got Tensor"),
    ],
)
def test_optimizer_mistakes(make, message):
    with pytest.raises(RuntimeError, match=re.escape(message)):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda o: OURS.StepLR(o, 0), "StepLR: step_size must be a positive number of epochs, got 0"),
        (lambda o: OURS.StepLR(o, "3"), "StepLR: step_size must be a number, got text"),
        (lambda o: OURS.StepLR(o, 3, "a"), "StepLR: gamma must be a number, got text"),
        (lambda o: OURS.ExponentialLR(o, None), "ExponentialLR: gamma must be a number, got nil"),
        (lambda o: OURS.CosineAnnealingLR(o, 0), "CosineAnnealingLR: T_max must be a positive number of epochs, got 0"),
        (lambda o: OURS.CyclicLR(o, 0.1, "a"), "max_lr: the value must be a number, got text"),
        (lambda o: OURS.CyclicLR(o, 0.1, 0.2, 0), "CyclicLR: step_size_up must be a positive number of epochs, got 0"),
        (lambda o: OURS.PolynomialLR(o, "a"), "PolynomialLR: total_iters must be a number, got text"),
        (lambda o: OURS.LinearLR(o, "a"), "LinearLR: start_factor must be a number, got text"),
        (
            lambda o: OURS.MultiStepLR(o, 30),
            "MultiStepLR: milestones must be an array of epochs such as [30, 80], got i64",
        ),
        (lambda o: OURS.MultiStepLR(o, [1.5]), "MultiStepLR: milestones must be integers, got f64"),
        (
            lambda o: OURS.LambdaLR(o, 3),
            "such as \\epoch: 0.95 ** epoch, or an array with a function for each parameter group, got i64",
        ),
        (lambda o: OURS.LambdaLR(o, [lambda e: 1.0]), "Expected 2 lr_lambdas, but got 1"),
        (
            lambda o: OURS.LambdaLR(o, lambda e: None),
            "LambdaLR: lr_lambda[0] must return a number, got nil for epoch 0",
        ),
        (lambda o: OURS.ReduceLROnPlateau(o).step(), "ReduceLROnPlateau.step(): metrics must be a number, got nil"),
        (
            lambda o: OURS.SequentialLR(o, OURS.StepLR(o, 1), [5]),
            "SequentialLR: schedulers must be an array, got StepLR",
        ),
        (
            lambda o: OURS.SequentialLR(o, [OURS.StepLR(o, 1) for _ in range(3)], [5, 2]),
            "SequentialLR: milestones must be in increasing order, got [5, 2]",
        ),
        (lambda o: OURS.StepLR(torch.nn.Linear(2, 1), 3), "is not an Optimizer"),
    ],
)
def test_scheduler_mistakes(make, message):
    with pytest.raises(RuntimeError, match=re.escape(message)):
        make(optimizer_of(Mine()))


def test_accepts_the_same_as_python():
    param = weight()
    optimizer = ours("SGD", [param], lr=0.5)
    optimizer.step()  # without gradients
    assert param.tolist() == [1.0, 1.0]
    assert PROGRAMS.with_nothing()
    OURS.StepLR(optimizer, -2)
    OURS.MultiStepLR(optimizer, [80, 30])
