"""torch.nn.utils.prune: masks, originals, and the pruned model, compared with Python."""

from __future__ import annotations

import re

import pytest
from embedded_simple import equal, run, torch
from torch import nn
from torch.nn.utils import prune

OURS = run(
    """
    use torch
    use torch.nn
    use torch.nn.utils.prune
    fn layer(kind):
        match kind:
            case "linear": nn.Linear(6, 5)
            case "conv": nn.Conv2d(3, 4, 3)
            case "norm": nn.BatchNorm1d(6)
    fn load(m, state): m.load_state_dict(state)
    fn state(m): m.state_dict()
    fn names(m): m.named_parameters().map(\\p: p.0)
    fn called(m, x): m(x)
    fn value(m, name): if name == "bias": m.bias else: m.weight
    fn optimizer(m): torch.optim.SGD(m.parameters(), lr: 0.1)
    fn pruned(m): prune.is_pruned(m)
    fn removed(m, name): prune.remove(m, name)
    fn pruned_by(m, how, seed):
        torch.manual_seed(seed)
        match how:
            case "random": prune.random_unstructured(m, "weight", amount: 0.3)
            case "random 7": prune.random_unstructured(m, "weight", 7)
            case "l1": prune.l1_unstructured(m, "weight", amount: 0.25)
            case "l1 half": prune.l1_unstructured(m, "bias", amount: 0.5)
            case "none": prune.l1_unstructured(m, "weight", amount: 0)
            case "scored": prune.l1_unstructured(m, "weight", 4, importance_scores: m.weight.detach().sin())
            case "random rows": prune.random_structured(m, "weight", amount: 2, dim: 0)
            case "random columns": prune.random_structured(m, "weight", 0.4, dim: 1)
            case "l2 rows": prune.ln_structured(m, "weight", amount: 2, n: 2, dim: 0)
            case "l1 columns": prune.ln_structured(m, "weight", 0.5, 1, dim: -1)
            case "identity": prune.identity(m, "weight")
            case "mask": prune.custom_from_mask(m, "weight", m.weight.detach() > 0)
        m
    fn net():
        nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))
    fn globally(m, how):
        val parts = [(m[0], "weight"), (m[2], "weight"), (m[2], "bias")]
        match how:
            case "l1": prune.global_unstructured(parts, prune.L1Unstructured, amount: 0.4)
            case "random": prune.global_unstructured(parts, prune.RandomUnstructured, amount: 11)
            case "structured": prune.global_unstructured(parts, prune.LnStructured, amount: 1, n: 2)
            case "scored":
                val scores = [nil, torch.zeros([3, 6]), nil]
                prune.global_unstructured(parts, prune.L1Unstructured, importance_scores: scores, amount: 9)
    class EveryOther(prune.BasePruningMethod):
        fn compute_mask(t, default_mask):
            val mask = default_mask.clone()
            mask.reshape([-1])[::2] = 0
            mask
    fn every_other(m): EveryOther.apply(m, "weight")
    fn cut(t): prune.L1Unstructured(amount: 3).prune(t)
    fn bad(m, how):
        match how:
            case "negative": prune.l1_unstructured(m, "weight", amount: -1)
            case "above one": prune.random_unstructured(m, "weight", amount: 1.5)
            case "kind": prune.random_unstructured(m, "weight", amount: "half")
            case "too many": prune.l1_unstructured(m, "weight", amount: 1000)
            case "one dim": prune.ln_structured(m, "bias", amount: 1, n: 2, dim: 0)
            case "dim": prune.ln_structured(m, "weight", amount: 1, n: 2, dim: 7)
            case "scores": prune.l1_unstructured(m, "weight", amount: 1, importance_scores: torch.ones([2]))
            case "not pruned": prune.remove(m, "weight")
            case "no parameter": prune.l1_unstructured(m, "wheel", amount: 1)
    """,
    name="prune",
)
LAYERS = {
    "linear": (lambda: nn.Linear(6, 5), (2, 6)),
    "conv": (lambda: nn.Conv2d(3, 4, 3), (2, 3, 5, 5)),
}
WAYS = {
    "random": lambda m: prune.random_unstructured(m, "weight", amount=0.3),
    "random 7": lambda m: prune.random_unstructured(m, "weight", 7),
    "l1": lambda m: prune.l1_unstructured(m, "weight", amount=0.25),
    "l1 half": lambda m: prune.l1_unstructured(m, "bias", amount=0.5),
    "none": lambda m: prune.l1_unstructured(m, "weight", amount=0),
    "scored": lambda m: prune.l1_unstructured(m, "weight", 4, importance_scores=m.weight.detach().sin()),
    "random rows": lambda m: prune.random_structured(m, "weight", amount=2, dim=0),
    "random columns": lambda m: prune.random_structured(m, "weight", 0.4, dim=1),
    "l2 rows": lambda m: prune.ln_structured(m, "weight", amount=2, n=2, dim=0),
    "l1 columns": lambda m: prune.ln_structured(m, "weight", 0.5, 1, dim=-1),
    "identity": lambda m: prune.identity(m, "weight"),
    "mask": lambda m: prune.custom_from_mask(m, "weight", m.weight.detach() > 0),
}


def both(kind):
    make, shape = LAYERS[kind]
    ours, theirs = OURS.layer(kind), make()
    OURS.load(ours, theirs.state_dict())
    return ours, theirs, torch.randn(shape, generator=torch.Generator().manual_seed(1))


def prune_alike(ours, theirs, way, seed=3):
    OURS.pruned_by(ours, way, seed)
    torch.manual_seed(seed)
    WAYS[way](theirs)


def assert_alike(ours, theirs, x):
    """Compares names in order, values, outputs, and three training steps."""
    mine, other = OURS.optimizer(ours), torch.optim.SGD(theirs.parameters(), lr=0.1)
    for _ in range(3):
        assert list(OURS.state(ours)) == list(theirs.state_dict())
        assert list(OURS.names(ours)) == [name for name, _ in theirs.named_parameters()]
        assert all(equal(a, b) for a, b in zip(OURS.state(ours).values(), theirs.state_dict().values()))
        outputs = OURS.called(ours, x), theirs(x)
        assert equal(*outputs)
        for output, optimizer in zip(outputs, (mine, other)):
            optimizer.zero_grad()
            output.square().sum().backward()
            optimizer.step()


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("way", WAYS)
def test_pruning_method_matches_python(kind, way):
    ours, theirs, x = both(kind)
    assert not OURS.pruned(ours)
    prune_alike(ours, theirs, way)
    assert OURS.pruned(ours) and prune.is_pruned(theirs)
    assert equal(OURS.value(ours, "weight"), theirs.weight) and equal(OURS.value(ours, "bias"), theirs.bias)
    assert_alike(ours, theirs, x)


AGAIN = [("l1", "random rows"), ("random rows", "l2 rows"), ("l2 rows", "l1"), ("random", "l1")]


@pytest.mark.parametrize("first, then", [*AGAIN, ("mask", "l1 columns"), ("random columns", "mask")])
def test_repeated_pruning_prunes_the_remainder(first, then):
    ours, theirs, x = both("linear")
    for seed, way in enumerate((first, then)):
        prune_alike(ours, theirs, way, seed)
    assert equal(OURS.value(ours, "weight"), theirs.weight)
    assert_alike(ours, theirs, x)


@pytest.mark.parametrize("way", ["l1", "random rows"])
def test_remove_makes_the_pruned_tensor_a_parameter(way):
    ours, theirs, x = both("linear")
    prune_alike(ours, theirs, way)
    original = OURS.state(ours)["weight_orig"].data_ptr()
    OURS.removed(ours, "weight")
    prune.remove(theirs, "weight")
    assert not OURS.pruned(ours)
    assert isinstance(OURS.value(ours, "weight"), torch.Tensor) and original
    assert_alike(ours, theirs, x)


@pytest.mark.parametrize("way", ["l1", "random", "scored"])
def test_global_unstructured_prunes_parameters_together(way):
    theirs = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))
    ours = OURS.net()
    OURS.load(ours, theirs.state_dict())
    parts = [(theirs[0], "weight"), (theirs[2], "weight"), (theirs[2], "bias")]
    torch.manual_seed(5)
    OURS.globally(ours, way)
    torch.manual_seed(5)
    if way == "l1":
        prune.global_unstructured(parts, prune.L1Unstructured, amount=0.4)
    elif way == "random":
        prune.global_unstructured(parts, prune.RandomUnstructured, amount=11)
    else:
        scores = {(theirs[2], "weight"): torch.zeros(3, 6)}
        prune.global_unstructured(parts, prune.L1Unstructured, importance_scores=scores, amount=9)
    assert_alike(ours, theirs, torch.randn(2, 4, generator=torch.Generator().manual_seed(2)))


def test_custom_pruning_method():
    class EveryOther(prune.BasePruningMethod):
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, t, default_mask):
            mask = default_mask.clone()
            mask.view(-1)[::2] = 0
            return mask

    ours, theirs, x = both("linear")
    for _ in range(2):  # the second time on the remaining elements
        OURS.every_other(ours)
        EveryOther.apply(theirs, "weight")
    assert_alike(ours, theirs, x)


def test_tensor_is_pruned_without_a_module():
    t = torch.tensor([[1.0, -0.1, 2.0], [0.2, -3.0, 0.3]])
    assert equal(OURS.cut(t), prune.L1Unstructured(amount=3).prune(t))


BAD = {
    "negative": lambda m: prune.l1_unstructured(m, "weight", amount=-1),
    "above one": lambda m: prune.random_unstructured(m, "weight", amount=1.5),
    "too many": lambda m: prune.l1_unstructured(m, "weight", amount=1000),
    "one dim": lambda m: prune.ln_structured(m, "bias", amount=1, n=2, dim=0),
    "scores": lambda m: prune.l1_unstructured(m, "weight", amount=1, importance_scores=torch.ones(2)),
    "not pruned": lambda m: prune.remove(m, "weight"),
}


@pytest.mark.parametrize("how", BAD)
def test_invalid_calls_raise_pythons_message(how):
    ours, theirs, _ = both("linear")
    with pytest.raises(Exception) as other:
        BAD[how](theirs)
    with pytest.raises(Exception) as raised:
        OURS.bad(ours, how)
    message = re.sub(r"torch.Size\((.*?)\)", r"\1", str(other.value))
    assert str(raised.value).split("\n")[0] == message.split("\n")[0]


@pytest.mark.parametrize(
    "how, words",
    [
        ("kind", "Invalid type for amount: text"),
        ("dim", r"Invalid index 7 for tensor of size \[5, 6\]"),
        ("no parameter", "Linear has no parameter 'wheel' to prune"),
    ],
)
def test_invalid_calls_name_the_argument(how, words):
    with pytest.raises(Exception, match=words):
        OURS.bad(OURS.layer("linear"), how)
    with pytest.raises(Exception, match='Only "unstructured" PRUNING_TYPE supported'):
        OURS.globally(OURS.net(), "structured")
