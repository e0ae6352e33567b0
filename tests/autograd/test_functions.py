"""Custom functions, hooks, checkpoints and grad() in Simple and in Python, in one process: equal bit for bit."""

from __future__ import annotations

import pytest
from embedded_simple import equal, run, torch
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

SOURCE = """
use torch
use torch.utils.checkpoint.{checkpoint, checkpoint_sequential}
use torch.nn
use torch.nn.{Linear, Sequential, Tanh}
class Swish(torch.autograd.Function):
    static fn forward(ctx, x, beta):
        ctx.save_for_backward(x)
        ctx.beta = beta
        x * (x * beta).sigmoid()
    static fn backward(ctx, grad):
        val x = ctx.saved_tensors[0]
        val s = (x * ctx.beta).sigmoid()
        (grad * (s + x * ctx.beta * s * (1.0 - s)), nil)
# Python's tuples come as objects.
fn own(v): if torch.is_tensor(v): v else: [for t in v: t.to_tensor()]
fn swish(x): Swish.apply(x, 1.5)
fn gradients(outputs, inputs, weights): torch.autograd.grad(own(outputs), own(inputs), own(weights), allow_unused: true)
fn block(x, w): torch.dropout((x.matmul(w)).tanh() * x, 0.3, true).exp()
fn checkpointed(x, w): checkpoint(block, x, w)
fn without_rng(x, w): checkpoint(block, x, w, preserve_rng_state: false)
fn in_parts(x, w, segments):
    checkpoint_sequential([\\y: y.matmul(w).tanh(), \\y: y * y, \\y: y.sin() + y, \\y: y.exp()], segments, x)
fn layers_in_parts(x, segments):
    val layer = Linear(3, 3)
    nn.init.constant_(layer.weight, 0.5)
    nn.init.zeros_(layer.bias)
    checkpoint_sequential(Sequential(layer, Tanh(), layer), segments, x)
var times = 0
fn uneven(x):
    times = times + 1
    if times == 1: x.sin().exp() else: x * 2.0
fn reshaped(x):
    times = times + 1
    if times == 1: x.exp() else: x[..1].exp()
fn differs(which, x):
    times = 0
    checkpoint(if which == "fewer": uneven else: reshaped, x)
fn reentrant(x): checkpoint(block, x, x, use_reentrant: true)
fn hooked(x):
    x.register_hook(\\g: g * g)
    x.register_hook(\\g: g + 0.1)
fn after(x): x.register_post_accumulate_grad_hook(\\leaf: leaf.grad().mul_(0.5))
fn checks(func, inputs): torch.autograd.gradcheck(\\x: func(x).to_tensor(), inputs, raise_exception: false)
fn checks_twice(func, inputs): torch.autograd.gradgradcheck(\\x: func(x).to_tensor(), inputs, raise_exception: false)
fn fails(x):
    Fails.apply(x)
class Fails(torch.autograd.Function):
    static fn forward(ctx, x): x * 2.0
    static fn backward(ctx, grad): panic("nothing comes back")
"""


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, beta):
        ctx.save_for_backward(x)
        ctx.beta = beta
        return x * (x * beta).sigmoid()

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        s = (x * ctx.beta).sigmoid()
        return grad * (s + x * ctx.beta * s * (1.0 - s)), None


@pytest.fixture(scope="module")
def simple():
    return run(SOURCE, name="functions")


def start(*shape, dtype=torch.float32):
    torch.manual_seed(1)
    return torch.randn(*shape, dtype=dtype, requires_grad=True)


def change(leaf, method, number) -> None:
    method(leaf.grad, number)


def block(x, w):
    return torch.dropout((x.matmul(w)).tanh() * x, 0.3, True).exp()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_custom_functions_values_and_gradients_match_python(simple, dtype):
    ours, theirs = start(5, 3, dtype=dtype), start(5, 3, dtype=dtype)
    y, z = simple.swish(ours), Swish.apply(theirs, 1.5)
    assert equal(y, z)
    y.sum().backward()
    z.sum().backward()
    assert equal(ours.grad, theirs.grad)


def test_custom_function_is_differentiated_twice_from_python(simple):
    ours, theirs = start(4, dtype=torch.float64), start(4, dtype=torch.float64)
    for x, apply in ((ours, simple.swish), (theirs, lambda x: Swish.apply(x, 1.5))):
        (first,) = torch.autograd.grad(apply(x).sum(), x, create_graph=True)
        first.pow(2).sum().backward()
    assert equal(ours.grad, theirs.grad)
    assert torch.autograd.gradgradcheck(simple.swish, start(4, dtype=torch.float64))


def test_gradcheck_matches_python(simple):
    x = start(3, dtype=torch.float64)
    z = start(2, dtype=torch.complex128)
    for func, inputs in [
        (torch.sin, x),
        (lambda t: Swish.apply(t, 1.5), x),
        (torch.angle, z),
        (lambda t: t * t.conj(), z),
        (torch.abs, z),
    ]:
        assert simple.checks(func, inputs) == torch.autograd.gradcheck(func, inputs, raise_exception=False)
        assert simple.checks_twice(func, inputs) == torch.autograd.gradgradcheck(func, inputs, raise_exception=False)
    half = lambda t: t.detach() * t  # noqa: E731
    assert not simple.checks(half, x)
    assert not torch.autograd.gradcheck(half, x, raise_exception=False)


def test_failure_in_backward_is_an_exception_in_python(simple):
    with pytest.raises(RuntimeError, match=r"nothing comes back \(in Fails.backward, .*functions"):
        simple.fails(start(2)).sum().backward()


def test_grad_matches_python(simple):
    x, y, unused = start(3), start(3), start(3)
    outputs = (x * y.exp(), x.sin())
    weights = (torch.ones(3) * 2, torch.ones(3))
    theirs = torch.autograd.grad(outputs, (x, y, unused), weights, retain_graph=True, allow_unused=True)
    assert equal(simple.gradients(outputs, (x, y, unused), weights), theirs)


def test_checkpoint_keeps_gradients_and_the_random_state(simple):
    results = []
    for run_checkpoint in (simple.checkpointed, lambda x, w: checkpoint(block, x, w, use_reentrant=False), block):
        x, w = start(6, 6), start(6, 6)
        torch.manual_seed(5)
        y = run_checkpoint(x, w)
        torch.rand(3)
        (y * y).sum().backward()
        results.append((y, x.grad, w.grad, torch.rand(2)))
    assert equal(results[0], results[1])
    assert equal(results[0], results[2])


def test_checkpoint_propagates_gradients_to_captured_tensors(simple):
    x, w = start(6, 6), start(6, 6)
    torch.manual_seed(5)
    ours = torch.autograd.grad(simple.checkpointed(x.detach(), w).sum(), w)
    torch.manual_seed(5)
    assert equal(ours, torch.autograd.grad(block(x.detach(), w).sum(), w))


def test_checkpoint_without_rng_state_draws_new_numbers(simple):
    x, w = start(6, 6), start(6, 6)
    torch.manual_seed(5)
    simple.without_rng(x, w).sum().backward()
    first = x.grad
    x, w = start(6, 6), start(6, 6)
    torch.manual_seed(5)
    checkpoint(block, x, w, use_reentrant=False, preserve_rng_state=False).sum().backward()
    assert equal(first, x.grad)


def test_checkpoint_supports_double_backward(simple):
    results = []
    for run_checkpoint in (simple.checkpointed, lambda x, w: checkpoint(block, x, w, use_reentrant=False)):
        x, w = start(4, 4), start(4, 4)
        torch.manual_seed(5)
        y = run_checkpoint(x, w).sum()
        (first,) = torch.autograd.grad(y, x, create_graph=True)
        first.sum().backward(retain_graph=True)
        y.backward()
        results.append((x.grad, w.grad))
    assert equal(*results)


@pytest.mark.parametrize("segments", [1, 2, 3, 4])
def test_checkpoint_sequential(simple, segments):
    x, w = start(3, 3), start(3, 3)
    twin, weight = start(3, 3), start(3, 3)
    functions = [lambda y: y.matmul(weight).tanh(), lambda y: y * y, lambda y: y.sin() + y, lambda y: y.exp()]
    simple.in_parts(x, w, segments).sum().backward()
    checkpoint_sequential(functions, segments, twin, use_reentrant=False).sum().backward()
    assert equal((x.grad, w.grad), (twin.grad, weight.grad))


def test_checkpoint_sequential_accepts_a_sequential(simple):
    x, twin = start(3, 3), start(3, 3)
    weight = torch.full((3, 3), 0.5)
    simple.layers_in_parts(x, 2).sum().backward()
    (twin @ weight).tanh().matmul(weight).sum().backward()
    assert torch.allclose(x.grad, twin.grad)


@pytest.mark.parametrize(
    ("which", "words"), [("fewer", "A different number of tensors"), ("shape", "different metadata")]
)
def test_checkpoint_reports_a_different_recomputation(simple, which, words):
    y = simple.differs(which, start(3)).sum()
    with pytest.raises(RuntimeError, match=words):
        y.backward()


def test_reentrant_checkpoints_are_rejected(simple):
    with pytest.raises(RuntimeError, match="use_reentrant"):
        simple.reentrant(start(2, 2))


def test_hooks_of_simple_on_pythons_tensors(simple):
    ours, theirs = start(4), start(4)
    simple.hooked(ours)
    theirs.register_hook(lambda g: g * g)
    theirs.register_hook(lambda g: g + 0.1)
    for x in (ours, theirs):
        (x * 3).sum().backward()
    assert equal(ours.grad, theirs.grad)
    simple.after(ours)
    theirs.register_post_accumulate_grad_hook(lambda leaf: change(leaf, torch.Tensor.mul_, 0.5))
    for x in (ours, theirs):
        (x * 3).sum().backward()
    assert equal(ours.grad, theirs.grad)


def test_post_accumulate_hooks_run_with_pythons_hooks(simple):
    x = start(2)
    x.register_post_accumulate_grad_hook(lambda leaf: change(leaf, torch.Tensor.add_, 1.0))
    simple.after(x)
    (x * 3).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
