"""Parametrizations match PyTorch: values, states and removal."""

from __future__ import annotations

import pytest
from embedded_simple import equal, run, torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize

OURS = run(
    """
    use torch
    use torch.nn
    use torch.nn.utils.{parametrizations, parametrize}

    class Symmetric(nn.Module):
        fn forward(x): x.triu() + x.triu(1).mT()
        fn right_inverse(x): x.triu()
    class Doubled(nn.Module):
        fn forward(x): x * 2.0
    class Cut(nn.Module):
        fn forward(x): x[0]

    fn layer(kind):
        match kind:
            case "linear": nn.Linear(3, 3)
            case "wide": nn.Linear(4, 2)
            case "tall": nn.Linear(2, 4)
            case "conv": nn.Conv2d(2, 3, 2)
            case "transposed": nn.ConvTranspose2d(2, 3, 2)
            case "norm": nn.BatchNorm1d(3)
    fn load(m, state): m.load_state_dict(state)
    fn keys(m): m.state_dict().keys()
    fn value(m, name): m.state_dict()[name]
    fn names(m): m.named_parameters().map(\\pair: pair.0)
    fn with_weight_norm(m, dim = 0): parametrizations.weight_norm(m, "weight", dim)
    fn with_spectral_norm(m, steps = 1): parametrizations.spectral_norm(m, "weight", steps)
    fn with_orthogonal(m, map = nil, trivial = true): parametrizations.orthogonal(m, "weight", map, trivial)
    fn add(m, kind, name = "weight", is_unsafe = false):
        val one = match kind:
            case "symmetric": Symmetric()
            case "doubled": Doubled()
            case "cut": Cut()
        parametrize.register_parametrization(m, name, one, is_unsafe)
    fn is_parametrized(m, name = nil): parametrize.is_parametrized(m, name)
    fn remove(m, leave = true): parametrize.remove_parametrizations(m, "weight", leave)
    fn call(m, x): m(x)
    fn assign(m, value):
        m.weight = value
    fn step(m, rate): torch.optim.SGD(m.parameters(), lr: rate).step()
    """,
    name="parametrizations",
)


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).mT

    def right_inverse(self, x):
        return x.triu()


class Doubled(nn.Module):
    def forward(self, x):
        return x * 2.0


class Cut(nn.Module):
    def forward(self, x):
        return x[0]


THEIRS = {"symmetric": Symmetric, "doubled": Doubled, "cut": Cut}
LAYERS = {
    "linear": (lambda: nn.Linear(3, 3), (2, 3)),
    "wide": (lambda: nn.Linear(4, 2), (2, 4)),
    "tall": (lambda: nn.Linear(2, 4), (2, 2)),
    "conv": (lambda: nn.Conv2d(2, 3, 2), (1, 2, 3, 3)),
    "transposed": (lambda: nn.ConvTranspose2d(2, 3, 2), (1, 2, 3, 3)),
}


def both(kind):
    make, shape = LAYERS[kind]
    ours, theirs = OURS.layer(kind), make()
    OURS.load(ours, theirs.state_dict())
    return ours, theirs, torch.randn(shape, generator=torch.Generator().manual_seed(1))


def seeded(body):
    torch.manual_seed(3)
    return body()


def assert_alike(ours, theirs, x, steps=3):
    assert str(ours) == str(theirs)
    assert sorted(OURS.keys(ours)) == sorted(theirs.state_dict())
    for name, tensor in theirs.state_dict().items():
        assert equal(OURS.value(ours, name), tensor), name
    for _ in range(steps):
        output, expected = OURS.call(ours, x), theirs(x)
        assert equal(output, expected)
        output.pow(2).sum().backward()
        expected.pow(2).sum().backward()
        OURS.step(ours, 0.1)
        torch.optim.SGD(theirs.parameters(), lr=0.1).step()
    for name, tensor in theirs.state_dict().items():
        assert equal(OURS.value(ours, name), tensor), f"{name} after {steps} steps"
    ours.eval()
    theirs.eval()
    with torch.no_grad():
        assert equal(OURS.call(ours, x), theirs(x))


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("dim", [0, 1, None])
def test_weight_norm(kind, dim):
    ours, theirs, x = both(kind)
    OURS.with_weight_norm(ours, dim)
    assert_alike(ours, parametrizations.weight_norm(theirs, dim=dim), x)


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("steps", [1, 3])
def test_spectral_norm(kind, steps):
    ours, theirs, x = both(kind)
    seeded(lambda: OURS.with_spectral_norm(ours, steps))
    assert_alike(ours, seeded(lambda: parametrizations.spectral_norm(theirs, n_power_iterations=steps)), x)


@pytest.mark.parametrize("kind", ["linear", "wide", "tall"])
@pytest.mark.parametrize("orthogonal_map", [None, "matrix_exp", "cayley", "householder"])
def test_orthogonal(kind, orthogonal_map):
    ours, theirs, x = both(kind)
    seeded(lambda: OURS.with_orthogonal(ours, orthogonal_map))
    assert_alike(ours, seeded(lambda: parametrizations.orthogonal(theirs, orthogonal_map=orthogonal_map)), x)
    weight = ours.weight.detach()
    product = weight @ weight.mT if kind == "wide" else weight.mT @ weight
    assert torch.allclose(product, torch.eye(len(product)), atol=1e-5)


@pytest.mark.parametrize("kind", ["linear", "wide", "tall"])
def test_orthogonal_without_a_base(kind):
    ours, theirs, x = both(kind)
    OURS.with_orthogonal(ours, "householder", False)
    assert_alike(ours, parametrizations.orthogonal(theirs, orthogonal_map="householder", use_trivialization=False), x)


def test_several_parametrizations_compose_and_assignment_inverts_them():
    ours, theirs, x = both("linear")
    for kind in ("symmetric", "symmetric"):
        OURS.add(ours, kind)
        parametrize.register_parametrization(theirs, "weight", THEIRS[kind]())
    assert_alike(ours, theirs, x)
    value = torch.randn(3, 3)
    OURS.assign(ours, value)
    theirs.weight = value
    assert equal(ours.weight, theirs.weight)
    assert_alike(ours.train(), theirs.train(), x)


@pytest.mark.parametrize("leave", [True, False])
def test_removal_leaves_the_parametrized_or_the_original_tensor(leave):
    ours, theirs, x = both("linear")
    before = theirs.weight
    OURS.add(ours, "doubled")
    parametrize.register_parametrization(theirs, "weight", Doubled())
    assert OURS.is_parametrized(ours) and OURS.is_parametrized(ours, "weight")
    assert not OURS.is_parametrized(ours, "bias")
    OURS.remove(ours, leave)
    parametrize.remove_parametrizations(theirs, "weight", leave)
    assert not OURS.is_parametrized(ours)
    assert theirs.weight is before and sorted(OURS.names(ours)) == ["bias", "weight"]
    assert_alike(ours, theirs, x)


def test_removal_with_several_originals_makes_one_parameter():
    ours, theirs, x = both("linear")
    OURS.with_weight_norm(ours)
    parametrizations.weight_norm(theirs)
    with pytest.raises(Exception, match="Cannot leave unparametrized"):
        OURS.remove(ours, False)
    OURS.remove(ours)
    parametrize.remove_parametrizations(theirs, "weight")
    assert sorted(OURS.names(ours)) == ["bias", "weight"]
    assert equal(ours.weight, theirs.weight)
    assert equal(OURS.call(ours, x), theirs(x))


def test_copies_are_independent():
    ours, _, x = both("linear")
    OURS.with_weight_norm(ours)
    copy = ours.deepcopy()
    before = OURS.call(ours, x).detach()
    OURS.value(copy, "parametrizations.weight.original0").zero_()
    assert equal(OURS.call(ours, x), before)
    assert not equal(OURS.call(copy, x), before)


def test_states_of_the_legacy_weight_norm_load():
    ours, theirs, x = both("linear")
    OURS.with_weight_norm(ours)
    parametrizations.weight_norm(theirs)
    state = theirs.state_dict()
    for old, new in (("weight_g", "original0"), ("weight_v", "original1")):
        state[old] = state.pop(f"parametrizations.weight.{new}") * 2
    OURS.load(ours, state)
    theirs.load_state_dict(state)
    assert equal(OURS.call(ours, x), theirs(x))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (
            lambda m: OURS.add(m, "doubled", "nowhere"),
            lambda m: parametrize.register_parametrization(m, "q", Doubled()),
        ),
        (lambda m: OURS.add(m, "cut"), lambda m: parametrize.register_parametrization(m, "weight", Cut())),
        (lambda m: OURS.remove(m), lambda m: parametrize.remove_parametrizations(m, "weight")),
        (lambda m: OURS.with_orthogonal(m, "polar"), lambda m: parametrizations.orthogonal(m, "weight", "polar")),
        (lambda m: OURS.with_spectral_norm(m, 0), lambda m: parametrizations.spectral_norm(m, n_power_iterations=0)),
    ],
)
def test_rejects_the_same_as_pytorch_with_its_message(ours, theirs):
    with pytest.raises(Exception) as expected:
        theirs(nn.Linear(3, 3))
    with pytest.raises(Exception) as raised:
        ours(OURS.layer("linear"))
    words = str(expected.value).split("\n")[0].replace("`unsafe` flag is enabled", "`is_unsafe` is given")
    words = words.replace("name 'q'", "name 'nowhere'")
    assert words in str(raised.value)


READS = run(
    """
    use torch
    use torch.nn
    use torch.nn.utils.{parametrizations, parametrize}

    class Scaled(nn.Module):
        fn __init__(): self.factor = 2.0
        fn forward(x): x * self.factor

    var computed = 0
    class Counted(nn.Module):
        fn forward(x):
            computed += 1
            x
    fn layer(): parametrize.register_parametrization(nn.Linear(2, 2), "weight", Scaled())
    fn read_after_change(m):
        val before = m.weight
        m.parametrizations.weight[0].factor = 5.0
        val after = m.weight
        m.parametrizations.weight.original.data.fill_(1.0)
        (before.detach(), after.detach(), m.weight.detach(), m(torch.ones(1, 2)).detach() - m.bias.detach())
    fn with_buffer():
        val m = nn.Module()
        m.register_buffer("scale", torch.ones(2))
        parametrize.register_parametrization(m, "scale", Scaled())
        m.parametrizations.scale[0].factor = 7.0
        m.scale
    fn reads():
        val m = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Counted())
        computed = 0
        m(torch.ones(1, 2))
        val of_a_call = computed
        m.weight
        m.weight.sum()
        val of_reads = computed - of_a_call
        with parametrize.cached():
            m.weight
            m.weight
            m(torch.ones(1, 2))
        (of_a_call, of_reads, computed - of_a_call - of_reads)
    fn names():
        val m = layer()
        val shown = (type_of(m), m is nn.Linear, "{m}".split("(")[0])
        parametrize.remove_parametrizations(m, "weight")
        (shown, type_of(m))
    """,
    name="parametrized_reads",
)


def test_each_read_computes_the_tensor():
    m = READS.layer()
    weight = m.parametrizations.weight.original.detach().clone()
    before, after, changed, output = READS.read_after_change(m)
    assert equal(before, weight * 2) and equal(after, weight * 5) and equal(changed, torch.full((2, 2), 5.0))
    assert equal(output, torch.full((1, 2), 10.0))
    assert equal(READS.with_buffer(), torch.full((2,), 7.0))


def test_a_tensor_is_computed_as_often_as_in_pytorch():
    class Counted(nn.Module):
        calls = 0

        def forward(self, x):
            Counted.calls += 1
            return x

    theirs = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Counted())
    counts, x = [], torch.ones(1, 2)
    for use in (lambda: theirs(x), lambda: (theirs.weight, theirs.weight.sum())):
        Counted.calls = 0
        use()
        counts.append(Counted.calls)
    Counted.calls = 0
    with parametrize.cached():
        theirs.weight, theirs.weight, theirs(x)
    assert READS.reads() == (*counts, Counted.calls)


def test_the_class_is_named_as_in_pytorch():
    name = type(parametrize.register_parametrization(nn.Linear(2, 2), "weight", Doubled())).__name__
    assert READS.names() == ((name, True, name), "Linear")
