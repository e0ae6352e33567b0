"""torch.autograd.functional in Simple and in Python: equal bit for bit."""

from __future__ import annotations

import pytest
from embedded_simple import equal, run, torch

functional = torch.autograd.functional
SOURCE = """
use torch
use torch.autograd.functional.{jacobian, hessian, vjp, jvp, vhp, hvp}
# Python's tuples come as objects.
fn own(v): if torch.is_tensor(v): v else: [for t in v: t.to_tensor()]
fn one(x): (x.sin() * x).exp()
fn two(x, y): (x * y.cos(), (x - y).tanh())
fn scalar(x): (x ** 3.0 + x.exp()).sum()
fn scalar_of_two(x, y): (x * y * y.sin()).sum()
fn unused(x, y): x * 2.0
fn constant(x): torch.ones([2])
fn linear(x): (x * 3.0).sum()
fn jacobian_of(name, inputs, create_graph, strict):
    jacobian(FUNCTIONS[name], own(inputs), create_graph: create_graph, strict: strict)
fn hessian_of(name, inputs, create_graph, strict):
    hessian(FUNCTIONS[name], own(inputs), create_graph: create_graph, strict: strict)
fn product_of(kind, name, inputs, v, create_graph, strict):
    PRODUCTS[kind](FUNCTIONS[name], own(inputs), own(v), create_graph: create_graph, strict: strict)
fn vectorized(which, name, inputs, strategy, create_graph):
    if which == "jacobian":
        return jacobian(FUNCTIONS[name], own(inputs), create_graph: create_graph, vectorize: true, strategy: strategy)
    hessian(FUNCTIONS[name], own(inputs), vectorize: true, outer_jacobian_strategy: strategy)
fn with_settings(which, vectorize, strategy, strict):
    if which == "jacobian":
        return jacobian(one, torch.ones([2]), vectorize: vectorize, strategy: strategy, strict: strict)
    hessian(scalar, torch.ones([2]), vectorize: vectorize, outer_jacobian_strategy: strategy, strict: strict)
fn batched_without(x): torch.autograd.grad(one(x), x, is_grads_batched: true)
fn batched(name, inputs, vectors):
    val leaves = own(inputs)
    val outputs = if torch.is_tensor(leaves): FUNCTIONS[name](leaves) else: FUNCTIONS[name](leaves...)
    torch.autograd.grad(outputs, leaves, own(vectors), is_grads_batched: true, allow_unused: true)
val FUNCTIONS = {"one": one, "two": two, "scalar": scalar, "scalar_of_two": scalar_of_two, "unused": unused,
    "constant": constant, "linear": linear}
val PRODUCTS = {"vjp": vjp, "jvp": jvp, "vhp": vhp, "hvp": hvp}
"""

FUNCTIONS = {
    "one": lambda x: (x.sin() * x).exp(),
    "two": lambda x, y: (x * y.cos(), (x - y).tanh()),
    "scalar": lambda x: (x**3.0 + x.exp()).sum(),
    "scalar_of_two": lambda x, y: (x * y * y.sin()).sum(),
    "unused": lambda x, y: x * 2.0,
    "constant": lambda x: torch.ones(2),
    "linear": lambda x: (x * 3.0).sum(),
}
DTYPES = [torch.float32, torch.float64, torch.bfloat16]


@pytest.fixture(scope="module")
def simple():
    return run(SOURCE, name="functional")


def inputs_for(name: str, dtype=torch.float64, requires_grad: bool = False):
    torch.manual_seed(3)
    drawn = [torch.randn(2, 3, dtype=dtype, requires_grad=requires_grad) for _ in range(2)]
    return tuple(drawn) if name in ("two", "scalar_of_two", "unused") else drawn[0]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", ["one", "two", "unused"])
def test_jacobian(simple, name, dtype):
    inputs = inputs_for(name, dtype)
    assert equal(simple.jacobian_of(name, inputs, False, False), functional.jacobian(FUNCTIONS[name], inputs))


@pytest.mark.parametrize("name", ["scalar", "scalar_of_two", "linear"])
def test_hessian(simple, name):
    inputs = inputs_for(name)
    assert equal(simple.hessian_of(name, inputs, False, False), functional.hessian(FUNCTIONS[name], inputs))


@pytest.mark.parametrize(
    ("kind", "name"),
    [("vjp", "one"), ("vjp", "two"), ("jvp", "one"), ("jvp", "two"), ("vhp", "scalar"), ("vhp", "scalar_of_two"),
     ("hvp", "scalar"), ("hvp", "scalar_of_two"), ("vjp", "unused"), ("jvp", "unused"), ("vhp", "linear")],
)  # fmt: skip
def test_products(simple, kind, name):
    inputs = inputs_for(name)
    like = FUNCTIONS[name](*inputs) if isinstance(inputs, tuple) else FUNCTIONS[name](inputs)
    shaped = like if kind == "vjp" else inputs
    v = tuple(t + 1.0 for t in shaped) if isinstance(shaped, tuple) else shaped + 1.0
    ours = simple.product_of(kind, name, inputs, v, False, False)
    assert equal(ours, getattr(functional, kind)(FUNCTIONS[name], inputs, v))


def test_results_are_differentiable_with_create_graph(simple):
    ours, theirs = inputs_for("one", requires_grad=True), inputs_for("one", requires_grad=True)
    simple.jacobian_of("one", ours, True, False).sum().backward()
    functional.jacobian(FUNCTIONS["one"], theirs, create_graph=True).sum().backward()
    assert equal(ours.grad, theirs.grad)
    again, theirs_again = inputs_for("scalar", requires_grad=True), inputs_for("scalar", requires_grad=True)
    simple.product_of("hvp", "scalar", again, torch.ones(2, 3, dtype=torch.float64), True, False)[1].sum().backward()
    functional.hvp(FUNCTIONS["scalar"], theirs_again, torch.ones(2, 3, dtype=torch.float64), create_graph=True)[
        1
    ].sum().backward()
    assert equal(again.grad, theirs_again.grad)


STRICT = [
    ("jacobian", "unused"), ("jacobian", "constant"), ("hessian", "linear"), ("vjp", "unused"), ("jvp", "unused"),
    ("vhp", "linear"), ("hvp", "linear"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "name"), STRICT)
def test_strict_mode_rejects_as_python_does(simple, kind, name):
    inputs = inputs_for(name)
    v = FUNCTIONS[name](*inputs) if kind == "vjp" else inputs
    with pytest.raises(RuntimeError) as theirs:
        if kind in ("jacobian", "hessian"):
            getattr(functional, kind)(FUNCTIONS[name], inputs, strict=True)
        else:
            getattr(functional, kind)(FUNCTIONS[name], inputs, v, strict=True)
    with pytest.raises(RuntimeError) as ours:
        if kind in ("jacobian", "hessian"):
            getattr(simple, f"{kind}_of")(name, inputs, False, True)
        else:
            simple.product_of(kind, name, inputs, v, False, True)
    assert first_sentence(ours) == first_sentence(theirs)


def first_sentence(raised) -> str:
    return str(raised.value).split(". ")[0].split("\n")[0].removesuffix(".")


@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
@pytest.mark.parametrize("name", ["one", "two", "unused", "constant"])
def test_vectorized_jacobian(simple, name, strategy):
    inputs = inputs_for(name)
    theirs = functional.jacobian(FUNCTIONS[name], inputs, vectorize=True, strategy=strategy)
    assert equal(simple.vectorized("jacobian", name, inputs, strategy, False), theirs)


@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
@pytest.mark.parametrize("name", ["scalar", "scalar_of_two"])
def test_vectorized_hessian(simple, name, strategy):
    inputs = inputs_for(name)
    theirs = functional.hessian(FUNCTIONS[name], inputs, vectorize=True, outer_jacobian_strategy=strategy)
    assert equal(simple.vectorized("hessian", name, inputs, strategy, False), theirs)


def test_vectorized_jacobians_are_differentiable(simple):
    ours, theirs = inputs_for("one", requires_grad=True), inputs_for("one", requires_grad=True)
    simple.vectorized("jacobian", "one", ours, "reverse-mode", True).sum().backward()
    functional.jacobian(FUNCTIONS["one"], theirs, create_graph=True, vectorize=True).sum().backward()
    assert equal(ours.grad, theirs.grad)


@pytest.mark.parametrize(
    ("vectorize", "strategy", "strict", "message"),
    [
        (False, "forward-mode", False, 'strategy="forward-mode" requires vectorize=True'),
        (True, "forward-mode", True, 'strict=True and strategy="forward-mode" are not supported together'),
        (True, "reverse-mode", True, "strict=True and vectorize=True are not supported together"),
        (True, "sideways", False, 'Expected strategy to be either "forward-mode" or "reverse-mode"'),
    ],
)
def test_settings_that_exclude_each_other(simple, vectorize, strategy, strict, message):
    for kind in ("jacobian", "hessian"):
        with pytest.raises(RuntimeError, match=message):
            simple.with_settings(kind, vectorize, strategy, strict)


@pytest.mark.parametrize("name", ["one", "two"])
def test_batched_gradients(simple, name):
    ours, theirs = inputs_for(name, requires_grad=True), inputs_for(name, requires_grad=True)
    called = FUNCTIONS[name](*theirs) if isinstance(theirs, tuple) else FUNCTIONS[name](theirs)
    vectors = [torch.randn(4, *each.shape, dtype=each.dtype) for each in (called if name == "two" else [called])]
    expected = torch.autograd.grad(called, theirs, vectors, is_grads_batched=True)
    assert equal(list(simple.batched(name, ours, vectors)), list(expected))


def test_batched_gradients_of_an_unused_input(simple):
    x, y = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)
    found = simple.batched("unused", (x, y), [torch.eye(3)])
    assert found[0].tolist() == (2 * torch.eye(3)).tolist() and found[1] is None


def test_batched_gradients_are_tensors(simple):
    x = torch.randn(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="is_grads_batched requires a tensor in grad_outputs for each output"):
        simple.batched_without(x)


def test_batched_gradients_have_the_shape_of_the_outputs(simple):
    x = torch.randn(3, requires_grad=True)
    with pytest.raises(
        RuntimeError, match=r"grad_output\[0\] has a shape of \[2, 4\] and output\[0\] has a shape of \[3\]"
    ):
        simple.batched("one", x, [torch.ones(2, 4)])
