"""The legacy weight_norm and spectral_norm of torch.nn.utils: values, states and removal."""

from __future__ import annotations

import pytest
from embedded_simple import equal, run, torch
from torch import nn
from torch.nn import utils

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")

OURS = run(
    """
    use torch
    use torch.nn
    use torch.nn.utils.{weight_norm, remove_weight_norm, spectral_norm, remove_spectral_norm}
    fn layer(kind):
        match kind:
            case "linear": nn.Linear(4, 3)
            case "conv": nn.Conv2d(2, 3, 2)
            case "transposed": nn.ConvTranspose2d(2, 3, 2)
            case "lstm": nn.LSTM(4, 3)
            case "lazy": nn.LazyLinear(3)
    fn load(m, state): m.load_state_dict(state)
    fn state(m): m.state_dict()
    fn weight_normed(m, name, dim): weight_norm(m, name, dim)
    fn weight_unnormed(m, name): remove_weight_norm(m, name)
    fn spectral_normed(m, name, steps, dim): spectral_norm(m, name, steps, dim: dim)
    fn spectral_unnormed(m, name): remove_spectral_norm(m, name)
    fn called(m, x): m(x)
    fn optimizer(m): torch.optim.SGD(m.parameters(), lr: 0.1)
    fn copied(m): m.deepcopy()
    """,
    name="older norms",
)
LAYERS = {
    "linear": (lambda: nn.Linear(4, 3), (2, 4), "weight"),
    "conv": (lambda: nn.Conv2d(2, 3, 2), (1, 2, 3, 3), "weight"),
    "transposed": (lambda: nn.ConvTranspose2d(2, 3, 2), (1, 2, 3, 3), "weight"),
    "lstm": (lambda: nn.LSTM(4, 3), (5, 2, 4), "weight_hh_l0"),
}


def both(kind):
    make, shape, name = LAYERS[kind]
    ours, theirs = OURS.layer(kind), make()
    OURS.load(ours, theirs.state_dict())
    return ours, theirs, torch.randn(shape, generator=torch.Generator().manual_seed(1)), name


def first(output):
    return output[0] if isinstance(output, tuple) else output


def train_alike(ours, theirs, x, steps=3):
    """Three training steps, then an evaluation; names, values and outputs are equal after each."""
    mine, other = OURS.optimizer(ours), torch.optim.SGD(theirs.parameters(), lr=0.1)
    for _ in range(steps):
        assert list(OURS.state(ours)) == list(theirs.state_dict())
        assert all(equal(a, b) for a, b in zip(OURS.state(ours).values(), theirs.state_dict().values()))
        output, expected = first(OURS.called(ours, x)), first(theirs(x))
        assert equal(output, expected)
        for optimizer, value in [(mine, output), (other, expected)]:
            optimizer.zero_grad()
            value.pow(2).sum().backward()
            optimizer.step()
    ours.eval()
    theirs.eval()
    assert equal(first(OURS.called(ours, x)), first(theirs(x)))
    assert str(ours) == str(theirs)


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("dim", [0, 1, None])
def test_weight_norm(kind, dim):
    ours, theirs, x, name = both(kind)
    OURS.weight_normed(ours, name, dim)
    train_alike(ours, utils.weight_norm(theirs, name, dim), x)
    OURS.weight_unnormed(ours, name)
    utils.remove_weight_norm(theirs, name)
    assert set(OURS.state(ours)) == set(theirs.state_dict())
    assert all(equal(OURS.state(ours)[key], value) for key, value in theirs.state_dict().items())
    assert equal(first(OURS.called(ours, x)), first(theirs(x)))


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize(("steps", "dim"), [(1, None), (3, None), (1, 1)])
def test_spectral_norm(kind, steps, dim):
    ours, theirs, x, name = both(kind)
    torch.manual_seed(5)
    OURS.spectral_normed(ours, name, steps, dim)
    torch.manual_seed(5)
    train_alike(ours, utils.spectral_norm(theirs, name, steps, dim=dim), x)
    OURS.spectral_unnormed(ours, name)
    utils.remove_spectral_norm(theirs, name)
    assert set(OURS.state(ours)) == set(theirs.state_dict())
    assert all(equal(OURS.state(ours)[key], value) for key, value in theirs.state_dict().items())


@pytest.mark.parametrize("kind", ["linear", "lstm"])
def test_states_load_in_both_directions(kind):
    ours, theirs, x, name = both(kind)
    torch.manual_seed(5)
    OURS.spectral_normed(ours, name, 1, None)
    utils.spectral_norm(theirs, name)
    theirs.load_state_dict(OURS.state(ours))
    again, _, _, _ = both(kind)
    OURS.spectral_normed(again, name, 1, None)
    OURS.load(again, theirs.state_dict())
    for module in (ours, theirs, again):
        module.eval()
    assert equal(first(OURS.called(ours, x)), first(theirs(x)))
    assert equal(first(OURS.called(again, x)), first(theirs(x)))


def test_copy_trains_independently():
    ours, theirs, x, name = both("linear")
    OURS.weight_normed(ours, name, 0)
    before = OURS.called(ours, x).detach()
    train_alike(OURS.copied(ours), utils.weight_norm(theirs, name), x)
    assert equal(OURS.called(ours, x).detach(), before)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (lambda m: OURS.weight_unnormed(m, "weight"), lambda m: utils.remove_weight_norm(m)),
        (lambda m: OURS.spectral_unnormed(m, "weight"), lambda m: utils.remove_spectral_norm(m)),
        (lambda m: OURS.spectral_normed(m, "weight", 0, None), lambda m: utils.spectral_norm(m, n_power_iterations=0)),
        (
            lambda m: OURS.weight_normed(OURS.weight_normed(m, "weight", 0), "weight", 0),
            lambda m: utils.weight_norm(utils.weight_norm(m)),
        ),
        (
            lambda m: OURS.spectral_normed(OURS.spectral_normed(m, "weight", 1, None), "weight", 1, None),
            lambda m: utils.spectral_norm(utils.spectral_norm(m)),
        ),
        (lambda m: OURS.weight_normed(OURS.layer("lazy"), "weight", 0), lambda m: utils.weight_norm(nn.LazyLinear(3))),
    ],
)
def test_rejects_the_same_as_pytorch_with_its_message(ours, theirs):
    mine, other, _, _ = both("linear")
    with pytest.raises(Exception) as expected:
        theirs(other)
    with pytest.raises(Exception) as raised:
        ours(mine)
    assert str(expected.value).split("\n")[0] in str(raised.value)
