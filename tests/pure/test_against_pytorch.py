"""Plain-Simple tensors match PyTorch in float64: programs print results, and PyTorch computes the same."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from programs import run

torch = pytest.importorskip("torch", reason="PyTorch computes the expected values")
functional = torch.nn.functional
FOLDER = Path(__file__).parent
A = [[1.0, -2.0, 0.5], [3.0, 0.25, -1.5]]
B = [[2.0, 0.5, -1.0], [0.75, -3.0, 1.25]]

OPERATIONS: dict[str, Callable] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "scalars": lambda a, b: 2.0 * a + 1.0 - a / 4.0,
    "right": lambda a, b: 1.0 - 2.0 / b + a,
    "broadcast": lambda a, b: a * b[0] + b.sum(1, True),
    "twice": lambda a, b: a * a * b + a,
    "neg": lambda a, b: -a,
    "abs": lambda a, b: a.abs(),
    "exp": lambda a, b: a.exp(),
    "sqrt_log": lambda a, b: (a * a + 1.0).sqrt().log(),
    "pow": lambda a, b: (a * a + 1.0).pow(1.5),
    "clamp": lambda a, b: a.clamp(-1.25, 1.25),
    "relu": lambda a, b: a.relu(),
    "tanh": lambda a, b: a.tanh(),
    "sigmoid": lambda a, b: a.sigmoid(),
    "leaky_relu": lambda a, b: functional.leaky_relu(a, 0.2),
    "elu": lambda a, b: functional.elu(a, 0.5),
    "softmax": lambda a, b: a.softmax(1),
    "softmax0": lambda a, b: a.softmax(0),
    "log_softmax": lambda a, b: a.log_softmax(-1),
    "matmul": lambda a, b: a @ b.t(),
    "vector": lambda a, b: a @ b[1],
    "mm": lambda a, b: b.t().mm(a),
    "dot": lambda a, b: a[0].dot(b[1]),
    "sum0": lambda a, b: a.sum(0),
    "sum1": lambda a, b: a.sum(1, True) * b,
    "mean": lambda a, b: a.mean(),
    "mean1": lambda a, b: a.mean(1),
    "max": lambda a, b: a.max(),
    "max1": lambda a, b: a.max(1).values,
    "min0": lambda a, b: a.min(0).values,
    "permute": lambda a, b: a.reshape(3, 2).permute(1, 0) * b,
    "transpose": lambda a, b: a.transpose(0, -1),
    "unsqueeze": lambda a, b: (a.unsqueeze(1) * b.unsqueeze(0)).squeeze(),
    "pick": lambda a, b: a[1, 2] * b[-1],
    "flatten": lambda a, b: a.flatten().view(-1, 2),
}


@pytest.fixture(autouse=True)
def in_float64():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


@cache
def printed(program: str) -> dict[str, object]:
    """The values that a program of this folder prints, by name."""
    result = run(FOLDER / program)
    assert result.returncode == 0, result.stderr
    rows = (line.split(" = ", 1) for line in result.stdout.splitlines())
    return {name: ast.literal_eval(value) for name, value in rows}


def same(ours: object, theirs) -> None:
    value = torch.as_tensor(theirs).detach().double()
    torch.testing.assert_close(torch.tensor(ours), value, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation_and_gradients(name: str) -> None:
    found = printed("operations.spl")
    a, b = torch.tensor(A, requires_grad=True), torch.tensor(B, requires_grad=True)
    out = OPERATIONS[name](a, b)
    same(found[name], out)
    (out * torch.arange(1.0, out.numel() + 1).reshape(out.shape)).sum().backward()
    same(found[f"{name}.a"], a.grad)
    assert (f"{name}.b" in found) == (b.grad is not None)
    if b.grad is not None:
        same(found[f"{name}.b"], b.grad)


def test_program_prints_exactly_these_operations() -> None:
    assert {name for name in printed("operations.spl") if f"{name}.a" in printed("operations.spl")} == set(OPERATIONS)


def test_argmax_and_shape() -> None:
    found = printed("operations.spl")
    a = torch.tensor(A)
    same(found["argmax"], a.argmax())
    same(found["argmax1"], a.argmax(1))
    assert found["shape"] == [1, 2, 3]


def test_seeded_random_numbers() -> None:
    found = printed("operations.spl")
    torch.manual_seed(7)
    same(found["rand"], torch.rand(5))
    torch.manual_seed(7)
    same(found["randn"], torch.randn(5))
    torch.manual_seed(7)
    same(found["randn_block"], torch.randn(3, 7))


def test_layers_with_their_initial_values() -> None:
    found = printed("layers.spl")
    torch.manual_seed(3)
    x = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
    linear, plain = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2, bias=False)
    same(found["linear.weight"], linear.weight)
    same(found["linear.bias"], linear.bias)
    same(found["linear"], linear(x))
    same(found["plain"], plain(x))
    nn = torch.nn
    for layer in (nn.ReLU(), nn.Sigmoid(), nn.Tanh(), nn.Softmax(1), nn.LeakyReLU(0.1), nn.ELU(2.0)):
        same(found[type(layer).__name__], layer(x))


def test_convolution_and_its_gradients() -> None:
    found = printed("layers.spl")
    torch.manual_seed(3)
    torch.nn.Linear(3, 2), torch.nn.Linear(3, 2, bias=False)
    image = torch.tensor([(i * i % 7) * 0.5 - 1.0 for i in range(50)]).reshape(1, 2, 5, 5).requires_grad_()
    conv = torch.nn.Conv2d(2, 3, 3, 2, 1)
    same(found["conv.weight"], conv.weight)
    out = conv(image)
    same(found["conv"], out)
    (out * out).sum().backward()
    same(found["conv.x"], image.grad)
    same(found["conv.w"], conv.weight.grad)
    same(found["conv.b"], conv.bias.grad)


WANTED = [[0.0, 1.0, 1.0], [1.0, 0.0, 0.25]]
LOSSES: dict[str, Callable] = {
    "mse": lambda g, t: functional.mse_loss(g, t),
    "mse_sum": lambda g, t: functional.mse_loss(g, t, reduction="sum"),
    "mse_none": lambda g, t: functional.mse_loss(g, t, reduction="none"),
    "l1": lambda g, t: functional.l1_loss(g, t),
    "huber": lambda g, t: functional.huber_loss(g, t, delta=0.3),
    "smooth_l1": lambda g, t: functional.smooth_l1_loss(g, t),
    "bce": lambda g, t: functional.binary_cross_entropy(g, t),
    "bce_logits": lambda g, t: functional.binary_cross_entropy_with_logits(g, t),
    "nll": lambda g, t: functional.nll_loss(g.log_softmax(1), torch.tensor([2, 0])),
    "cross_entropy": lambda g, t: functional.cross_entropy(g, torch.tensor([2, 0])),
    "cross_entropy_tensor": lambda g, t: functional.cross_entropy(g, torch.tensor([1, 1])),
    "cross_entropy_shares": lambda g, t: functional.cross_entropy(g, torch.tensor([[0.1, 0.2, 0.7], [0.5, 0.5, 0.0]])),
}


@pytest.mark.parametrize("name", LOSSES)
def test_loss_and_gradient(name: str) -> None:
    found = printed("layers.spl")
    guess = torch.tensor([[0.2, 0.9, 0.4], [0.7, 0.1, 0.6]], requires_grad=True)
    loss = LOSSES[name](guess, torch.tensor(WANTED))
    loss.sum().backward()
    same(found[name], loss)
    same(found[f"{name}.grad"], guess.grad)


OPTIMIZERS: dict[str, Callable] = {
    "sgd": lambda p: torch.optim.SGD(p, 0.05),
    "sgd_momentum": lambda p: torch.optim.SGD(p, 0.05, 0.9),
    "sgd_nesterov": lambda p: torch.optim.SGD(p, 0.02, 0.8, weight_decay=0.1, nesterov=True),
    "sgd_dampening": lambda p: torch.optim.SGD(p, 0.02, 0.8, dampening=0.5),
    "adam": lambda p: torch.optim.Adam(p, 0.1),
    "adam_betas": lambda p: torch.optim.Adam(p, 0.05, (0.8, 0.95), 1e-6, 0.1),
    "adamw": lambda p: torch.optim.AdamW(p, 0.1, (0.9, 0.99), 1e-8, 0.2),
    "rmsprop": lambda p: torch.optim.RMSprop(p, 0.02),
    "rmsprop_momentum": lambda p: torch.optim.RMSprop(p, 0.02, 0.9, 1e-5, 0.1, 0.5),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizer(name: str) -> None:
    found = printed("optimizers.spl")
    w = torch.tensor([[0.5, -1.5], [2.0, 0.1]], requires_grad=True)
    unused = torch.tensor([1.0], requires_grad=True)
    optimizer = OPTIMIZERS[name]([w, unused])
    for _ in range(10):
        optimizer.zero_grad()
        ((w * w * w).sum() * 0.1 + (w - 1.0).abs().sum()).backward()
        optimizer.step()
    same(found[name], w)
    assert found[f"{name}.unused"] == [1.0]


SCHEDULERS: dict[str, Callable] = {
    "step_lr": lambda o: torch.optim.lr_scheduler.StepLR(o, 3, 0.5),
    "exponential_lr": lambda o: torch.optim.lr_scheduler.ExponentialLR(o, 0.8),
    "cosine_lr": lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 7, 0.05),
}


@pytest.mark.parametrize("name", SCHEDULERS)
def test_scheduler(name: str) -> None:
    optimizer = torch.optim.SGD([torch.tensor([1.0], requires_grad=True)], 0.4)
    scheduler = SCHEDULERS[name](optimizer)
    rates = []
    for _ in range(7):
        optimizer.step()
        scheduler.step()
        rates.append(scheduler.get_last_lr()[0])
    same(printed("optimizers.spl")[name], rates)


def test_training_losses_match_pytorch_and_learn_xor() -> None:
    found = printed("training.spl")
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    x = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = torch.tensor([[0.0], [1.0], [1.0], [0.0]])
    losses = []
    for _ in range(300):
        optimizer.zero_grad()
        loss = functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    ours = torch.tensor(found["losses"])
    torch.testing.assert_close(ours, torch.tensor([losses[0], losses[99], losses[299]]), rtol=1e-6, atol=1e-12)
    assert [round(answer) for answer in found["answers"]] == [0, 1, 1, 0]
    assert max(abs(a - b) for a, b in zip(found["answers"], [0, 1, 1, 0])) < 0.01
