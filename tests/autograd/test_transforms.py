"""torch.func: gradients, products, Jacobians and batches of functions match Python's torch.func bit for bit."""

from __future__ import annotations

import pytest
import torch.func as tf
from embedded_simple import equal, run, torch
from torch import nn

OURS = run(
    """
    use torch
    use torch.func as tf
    use torch.nn

    fn f(x): (x * x).sin().sum()
    fn g(x): (x.sin() * x).cumsum(0)
    fn two(a, b): (a * b.exp()).sum()
    fn both(a, b): (a * b, (a + b).sum())
    fn pair(d): (d["a"] * d["b"][0]).sum() + d["b"][1].pow(3).sum()
    fn with_aux(x): (f(x), (x + 1.0, x.sum()))
    fn vector_aux(x): (g(x), x * 2.0)

    fn grad(x): tf.grad(f)(x)
    fn grad_of_two(a, b): (tf.grad(two)(a, b), tf.grad(two, argnums: 1)(a, b), tf.grad(two, argnums: (0, -1))(a, b))
    fn grad_named(a, b): tf.grad(two)(a, b: b)
    fn grad_of_dict(a, b, c):
        val found = tf.grad(pair)({"a": a, "b": [b, c]})
        (found["a"], found["b"][0], found["b"][1])
    fn grad_aux(x): tf.grad(with_aux, has_aux: true)(x)
    fn value_aux(x): tf.grad_and_value(with_aux, has_aux: true)(x)
    fn value(x): tf.grad_and_value(f)(x)
    fn third(x): tf.grad(tf.grad(tf.grad(\\y: y.sin())))(x)
    fn unused(x): tf.grad(\\y: torch.ones([]) * 2.0)(x)
    fn constants(x): (tf.grad(\\y: (y * torch.tensor([2.0, 3.0, 4.0])).sum())(x),
        tf.vmap(\\y: y * torch.tensor([2, 3]))(torch.ones([3, 2])),
        tf.jvp(\\y: y[torch.tensor([0, 2])] * torch.tensor([2.0, 3.0]), (x,), (x,)), tf.grad(filled)(x))
    fn filled(y):
        var sums = torch.tensor([0.0, 1.0, 2.0])
        sums += y * y
        sums.sum()
    fn unrecorded(x): torch.no_grad(\\: tf.grad(f)(x))
    fn stays(x):
        val y = x.clone().requires_grad_()
        tf.grad(f)(y).sum().backward()
        y.grad
    fn vjp(x, v):
        val (out, pull) = tf.vjp(g, x)
        (out, pull(v))
    fn vjp_of_two(a, b, v, w):
        val (out, pull) = tf.vjp(both, a, b)
        (out, pull((v, w)))
    fn vjp_aux(x, v):
        val (out, pull, aux) = tf.vjp(vector_aux, x, has_aux: true)
        (out, pull(v), aux)
    fn jvp(x, v): tf.jvp(g, (x,), (v,))
    fn jvp_of_two(a, b, v, w): tf.jvp(both, (a, b), (v, w))
    fn jvp_aux(x, v): tf.jvp(vector_aux, (x,), (v,), has_aux: true)
    fn jvp_of_jvp(x, v): tf.jvp(\\y: tf.jvp(g, (y,), (v,))[1], (x,), (v,))
    fn jacrev(x): tf.jacrev(g)(x)
    fn jacrev_chunks(x): tf.jacrev(g, chunk_size: 2)(x)
    fn jacrev_of_two(a, b): tf.jacrev(both, argnums: (0, 1))(a, b)
    fn jacrev_aux(x): tf.jacrev(vector_aux, has_aux: true)(x)
    fn jacfwd(x): tf.jacfwd(g)(x)
    fn jacfwd_of_two(a, b): tf.jacfwd(both, argnums: (0, 1))(a, b)
    fn jacfwd_aux(x): tf.jacfwd(vector_aux, has_aux: true)(x)
    fn hessian(x): tf.hessian(f)(x)
    fn hessian_of_two(a, b): tf.hessian(two, argnums: (0, 1))(a, b)
    fn per_sample(x): tf.vmap(tf.grad(f))(x)
    fn of_batch(x): tf.grad(\\y: tf.vmap(f)(y).sum())(x)
    fn nested(x): tf.vmap(tf.vmap(\\s: s * s + 1.0))(x)
    fn batched_hessian(x): tf.vmap(tf.hessian(f))(x)
    fn dims(a, b): tf.vmap(\\x, y: x @ y, in_dims: (1, nil), out_dims: 1)(a, b)
    fn of_dict(d, s): d["a"].sum() * d["b"] + s
    fn dims_of_dict(a, b): tf.vmap(of_dict, in_dims: ({"a": 0, "b": nil}, nil))({"a": a, "b": b}, 2.0)
    fn outputs(a): tf.vmap(\\x: (x.sum(), x * 2.0), out_dims: (0, -1))(a)
    fn shared(a): tf.vmap(\\x: torch.ones([2]) * 3.0)(a)
    fn chunked(a): tf.vmap(\\x: x.sin().sum(), chunk_size: 2)(a)
    fn random(a, kind): tf.vmap(\\x: x + torch.rand([2]), randomness: kind)(a)
    fn layer(x): torch.vmap(nn.Linear(2, 3))(x)

    class Net(nn.Module):
        fn init():
            self.first = nn.Linear(2, 4)
            self.second = nn.Linear(4, 1)
        fn forward(x): self.second(self.first(x).tanh())
    fn net(): Net()
    fn load(m, state): m.load_state_dict(state)
    fn per_sample_gradients(m, xs, ys):
        var params = {}
        for (name, p) in m.named_parameters(): params[name] = p.detach()
        fn loss(p, x, y): (tf.functional_call(m, p, (x.unsqueeze(0),)) - y).pow(2).mean()
        tf.vmap(tf.grad(loss), in_dims: (nil, 0, 0))(params, xs, ys).items()
    fn ensemble(a, b, c, x):
        val models = [a, b, c]
        val (params, buffers) = tf.stack_module_state(models)
        tf.vmap(\\p, b, each: tf.functional_call(models[0], [p, b], (each,)), in_dims: (0, 0, nil))(params, buffers, x)
    fn fails(what, x):
        match what:
            case "vector": tf.grad(g)(x)
            case "number": tf.grad(\\y: 3.0)(x)
            case "argnum": tf.grad(f, argnums: 2)(x)
            case "aux": tf.grad(f, has_aux: true)(x)
            case "tangents": tf.jvp(f, (x,), (x, x))
            case "sizes": tf.vmap(\\a, b: a + b)(x, torch.ones([9, 2]))
            case "in_dim": tf.vmap(f, in_dims: 5)(x)
            case "in_dims": tf.vmap(f, in_dims: (0, 0))(x)
            case "no tensor": tf.vmap(\\a, b: a * b)(x, 2.0)
            case "out": tf.vmap(\\a: 3.0)(x)
            case "item": tf.vmap(\\a: a.sum().item())(x)
            case "random": tf.vmap(\\a: a + torch.rand([2]))(x)
            case "randomness": tf.vmap(f, randomness: "no")(x)
    """,
    name="transforms",
)


def f(x):
    return (x * x).sin().sum()


def g(x):
    return (x.sin() * x).cumsum(0)


def two(a, b):
    return (a * b.exp()).sum()


def both(a, b):
    return a * b, (a + b).sum()


def pair(d):
    return (d["a"] * d["b"][0]).sum() + d["b"][1].pow(3).sum()


def with_aux(x):
    return f(x), (x + 1.0, x.sum())


def vector_aux(x):
    return g(x), x * 2.0


def listed(found):
    return found["a"], found["b"][0], found["b"][1]


def stays(x):
    y = x.clone().requires_grad_()
    tf.grad(f)(y).sum().backward()
    return y.grad


def filled(y):
    sums = torch.tensor([0.0, 1.0, 2.0])
    sums += y * y
    return sums.sum()


def constants(x):
    return (
        tf.grad(lambda y: (y * torch.tensor([2.0, 3.0, 4.0])).sum())(x),
        tf.vmap(lambda y: y * torch.tensor([2, 3]))(torch.ones(3, 2)),
        tf.jvp(lambda y: y[torch.tensor([0, 2])] * torch.tensor([2.0, 3.0]), (x,), (x,)),
        tf.grad(filled)(x),
    )


def unrecorded(x):
    with torch.no_grad():
        return tf.grad(f)(x)


def pulled(found, *cotangents):
    return found[0], found[1](*cotangents), *found[2:]


def random(*sizes, seed=0):
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(seed))


A, B, M, N = random(3), random(3, seed=1), random(4, 2, seed=2), random(2, 4, 3, seed=3)
ONE = torch.tensor(0.7)
CASES = {
    "grad": (lambda x: tf.grad(f)(x), (A,)),
    "grad_of_two": (
        lambda a, b: (tf.grad(two)(a, b), tf.grad(two, argnums=1)(a, b), tf.grad(two, argnums=(0, -1))(a, b)),
        (A, B),
    ),
    "grad_named": (lambda a, b: tf.grad(two)(a, b=b), (A, B)),
    "grad_of_dict": (lambda a, b, c: listed(tf.grad(pair)({"a": a, "b": [b, c]})), (A, B, M)),
    "grad_aux": (tf.grad(with_aux, has_aux=True), (A,)),
    "value_aux": (tf.grad_and_value(with_aux, has_aux=True), (A,)),
    "value": (tf.grad_and_value(f), (A,)),
    "third": (tf.grad(tf.grad(tf.grad(lambda y: y.sin()))), (ONE,)),
    "unused": (tf.grad(lambda y: torch.ones([]) * 2.0), (A,)),
    "constants": (constants, (A,)),
    "unrecorded": (unrecorded, (A,)),
    "stays": (stays, (A,)),
    "vjp": (lambda x, v: pulled(tf.vjp(g, x), v), (A, B)),
    "vjp_of_two": (lambda a, b, v, w: pulled(tf.vjp(both, a, b), (v, w)), (A, B, B, ONE)),
    "vjp_aux": (lambda x, v: pulled(tf.vjp(vector_aux, x, has_aux=True), v), (A, B)),
    "jvp": (lambda x, v: tf.jvp(g, (x,), (v,)), (A, B)),
    "jvp_of_two": (lambda a, b, v, w: tf.jvp(both, (a, b), (v, w)), (A, B, B, A)),
    "jvp_aux": (lambda x, v: tf.jvp(vector_aux, (x,), (v,), has_aux=True), (A, B)),
    "jvp_of_jvp": (lambda x, v: tf.jvp(lambda y: tf.jvp(g, (y,), (v,))[1], (x,), (v,)), (A, B)),
    "jacrev": (tf.jacrev(g), (A,)),
    "jacrev_chunks": (tf.jacrev(g, chunk_size=2), (A,)),
    "jacrev_of_two": (tf.jacrev(both, argnums=(0, 1)), (A, B)),
    "jacrev_aux": (tf.jacrev(vector_aux, has_aux=True), (A,)),
    "jacfwd": (tf.jacfwd(g), (A,)),
    "jacfwd_of_two": (tf.jacfwd(both, argnums=(0, 1)), (A, B)),
    "jacfwd_aux": (tf.jacfwd(vector_aux, has_aux=True), (A,)),
    "hessian": (tf.hessian(f), (M,)),
    "hessian_of_two": (tf.hessian(two, argnums=(0, 1)), (A, B)),
    "per_sample": (tf.vmap(tf.grad(f)), (M,)),
    "of_batch": (tf.grad(lambda y: tf.vmap(f)(y).sum()), (M,)),
    "nested": (tf.vmap(tf.vmap(lambda s: s * s + 1.0)), (N,)),
    "batched_hessian": (tf.vmap(tf.hessian(f)), (M,)),
    "dims": (lambda a, b: tf.vmap(lambda x, y: x @ y, in_dims=(1, None), out_dims=1)(a, b), (N, random(3, 5))),
    "dims_of_dict": (
        lambda a, b: tf.vmap(lambda d, s: d["a"].sum() * d["b"] + s, in_dims=({"a": 0, "b": None}, None))(
            {"a": a, "b": b}, 2.0
        ),
        (M, B),
    ),
    "outputs": (tf.vmap(lambda x: (x.sum(), x * 2.0), out_dims=(0, -1)), (M,)),
    "shared": (tf.vmap(lambda x: torch.ones(2) * 3.0), (M,)),
    "chunked": (tf.vmap(lambda x: x.sin().sum(), chunk_size=2), (random(5, 2),)),
}


@pytest.mark.parametrize("name", CASES)
def test_matches_python(name):
    theirs, args = CASES[name]
    expected = theirs(*args)
    assert equal(getattr(OURS, name)(*args), expected)


@pytest.mark.parametrize("kind", ["same", "different"])
def test_random_numbers_under_vmap(kind):
    torch.manual_seed(1)
    expected = tf.vmap(lambda x: x + torch.rand(2), randomness=kind)(M)
    torch.manual_seed(1)
    assert equal(OURS.random(M, kind), expected)


def test_module_parameters_under_vmap():
    torch.manual_seed(1)
    expected = tf.vmap(nn.Linear(2, 3))(M)
    torch.manual_seed(1)
    assert equal(OURS.layer(M), expected)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 4)
        self.second = nn.Linear(4, 1)

    def forward(self, x):
        return self.second(self.first(x).tanh())


def test_per_sample_gradients():
    ours, theirs, ys = OURS.net(), Net(), random(4, 1)
    OURS.load(ours, theirs.state_dict())
    params = {name: p.detach() for name, p in theirs.named_parameters()}

    def loss(p, x, y):
        return (tf.functional_call(theirs, p, (x.unsqueeze(0),)) - y).pow(2).mean()

    expected = tf.vmap(tf.grad(loss), in_dims=(None, 0, 0))(params, M, ys)
    assert equal([list(item) for item in OURS.per_sample_gradients(ours, M, ys)], list(map(list, expected.items())))


def test_model_ensemble():
    ours, theirs = [OURS.net() for _ in range(3)], [Net() for _ in range(3)]
    for mine, other in zip(ours, theirs):
        OURS.load(mine, other.state_dict())
    params, buffers = tf.stack_module_state(theirs)
    call = tf.vmap(lambda p, b, x: tf.functional_call(theirs[0], [p, b], (x,)), in_dims=(0, 0, None))
    assert equal(OURS.ensemble(*ours, M), call(params, buffers, M))


FAILURES = {
    "vector": "return a scalar Tensor, got tensor with",
    "number": "to return a Tensor, got",
    "argnum": "Got argnum=2, but only 1 positional inputs",
    "aux": "output of function f should be a tuple: (output, aux)",
    "tangents": "Expected primals and tangents to have the same",
    "sizes": "Expected all tensors to have the same size in the mapped dimension",
    "in_dim": "Got in_dim=5 for some input, but that input is a Tensor of dimensionality 2",
    "in_dims": "in_dims is not compatible with the structure of `inputs`",
    "no tensor": "We cannot vmap over non-Tensor arguments",
    "out": "must only return Tensors, got type",
    "item": "vmap: It looks like you're calling .item() on a Tensor",
    "random": "vmap: called random operation while in randomness error mode",
    "randomness": "Only allowed values for randomness are",
}
THEIRS = {
    "vector": lambda x: tf.grad(g)(x),
    "number": lambda x: tf.grad(lambda y: 3.0)(x),
    "argnum": lambda x: tf.grad(f, argnums=2)(x),
    "aux": lambda x: tf.grad(f, has_aux=True)(x),
    "tangents": lambda x: tf.jvp(f, (x,), (x, x)),
    "sizes": lambda x: tf.vmap(lambda a, b: a + b)(x, torch.ones(9, 2)),
    "in_dim": lambda x: tf.vmap(f, in_dims=5)(x),
    "in_dims": lambda x: tf.vmap(f, in_dims=(0, 0))(x),
    "no tensor": lambda x: tf.vmap(lambda a, b: a * b)(x, 2.0),
    "out": lambda x: tf.vmap(lambda a: 3.0)(x),
    "item": lambda x: tf.vmap(lambda a: a.sum().item())(x),
    "random": lambda x: tf.vmap(lambda a: a + torch.rand(2))(x),
    "randomness": lambda x: tf.vmap(f, randomness="no")(x),
}


@pytest.mark.parametrize("what", FAILURES)
def test_rejects_the_same_as_python_and_restores_the_state(what):
    with pytest.raises(Exception) as expected:
        THEIRS[what](M)
    assert FAILURES[what] in str(expected.value)
    with pytest.raises(RuntimeError) as raised:
        OURS.fails(what, M)
    assert FAILURES[what] in str(raised.value)
    assert equal(OURS.hessian(A), tf.hessian(f)(A)), "no level is left"
