"""torch.distributions returns the bits of PyTorch in Python under the same seed: samples, densities, KL, errors."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
from embedded_simple import equal, run, torch

sys.path.insert(0, str(Path(__file__).parents[1] / "docstrings"))
from translation import Expressions

D = torch.distributions
# Constructor calls, as Python; the second of a pair is the q of a divergence.
CALLS = {
    "Bernoulli": "D.Bernoulli(torch.tensor([0.3, 0.5, 0.9]))",
    "Bernoulli by logits": "D.Bernoulli(logits=torch.tensor([0.3, -0.5]))",
    "Bernoulli of a number": "D.Bernoulli(0.25)",
    "Beta": "D.Beta(torch.tensor([0.5, 2.0]), torch.tensor([0.5, 3.0]))",
    "Beta of numbers": "D.Beta(0.5, 2.0)",
    "Binomial": "D.Binomial(5, torch.tensor([0.2, 0.7]))",
    "Binomial by logits": "D.Binomial(torch.tensor([4.0, 6.0]), logits=torch.tensor([0.2, -0.7]))",
    "Categorical": "D.Categorical(torch.tensor([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]))",
    "Categorical by logits": "D.Categorical(logits=torch.tensor([0.1, 0.2, 0.7]))",
    "Cauchy": "D.Cauchy(torch.tensor([0.0, 1.0]), 2.0)",
    "Chi2": "D.Chi2(torch.tensor([1.0, 4.0]))",
    "ContinuousBernoulli": "D.ContinuousBernoulli(torch.tensor([0.2, 0.5, 0.8]))",
    "ContinuousBernoulli by logits": "D.ContinuousBernoulli(logits=torch.tensor([0.2, -1.5]))",
    "Dirichlet": "D.Dirichlet(torch.tensor([[0.5, 1.5, 2.0], [3.0, 0.25, 1.0]]))",
    "Exponential": "D.Exponential(torch.tensor([0.5, 3.0]))",
    "FisherSnedecor": "D.FisherSnedecor(torch.tensor([1.0, 5.0]), torch.tensor([2.0, 6.0]))",
    "Gamma": "D.Gamma(torch.tensor([0.5, 2.0]), torch.tensor([1.0, 3.0]))",
    "Geometric": "D.Geometric(torch.tensor([0.3, 0.9]))",
    "Geometric by logits": "D.Geometric(logits=torch.tensor([0.3, -0.9]))",
    "Gumbel": "D.Gumbel(torch.tensor([0.0, 1.0]), torch.tensor([1.0, 2.0]))",
    "Gumbel of numbers": "D.Gumbel(1.0, 2.0)",
    "HalfCauchy": "D.HalfCauchy(torch.tensor([1.0, 2.0]))",
    "HalfNormal": "D.HalfNormal(torch.tensor([1.0, 2.0]))",
    "Independent": "D.Independent(D.Normal(torch.zeros(2, 3), torch.ones(2, 3)), 1)",
    "InverseGamma": "D.InverseGamma(torch.tensor([1.5, 3.0]), torch.tensor([1.0, 2.0]))",
    "Kumaraswamy": "D.Kumaraswamy(torch.tensor([0.5, 2.0]), torch.tensor([1.5, 3.0]))",
    "Laplace": "D.Laplace(torch.tensor([0.0, 1.0]), torch.tensor([1.0, 0.5]))",
    "LKJCholesky": "D.LKJCholesky(3, torch.tensor([0.5, 2.0]))",
    "LogNormal": "D.LogNormal(torch.tensor([0.0, 1.0]), torch.tensor([1.0, 0.5]))",
    "LogisticNormal": "D.LogisticNormal(torch.tensor([0.0, 1.0]), torch.tensor([1.0, 0.5]))",
    "LowRankMultivariateNormal": "D.LowRankMultivariateNormal(torch.tensor([0.0, 1.0, 2.0]),"
    " torch.tensor([[1.0], [0.5], [0.1]]), torch.tensor([1.0, 2.0, 0.5]))",
    "MixtureSameFamily": "D.MixtureSameFamily(D.Categorical(torch.tensor([0.2, 0.8])),"
    " D.Normal(torch.tensor([0.0, 4.0]), torch.tensor([1.0, 0.5])))",
    "Multinomial": "D.Multinomial(6, torch.tensor([0.2, 0.3, 0.5]))",
    "MultivariateNormal": "D.MultivariateNormal(torch.tensor([0.0, 1.0]), torch.tensor([[2.0, 0.5], [0.5, 1.0]]))",
    "MultivariateNormal by precision": "D.MultivariateNormal(torch.zeros(3, 2),"
    " precision_matrix=torch.tensor([[2.0, 0.5], [0.5, 1.0]]))",
    "MultivariateNormal by factor": "D.MultivariateNormal(torch.zeros(2),"
    " scale_tril=torch.tensor([[[2.0, 0.0], [0.5, 1.0]], [[1.0, 0.0], [0.1, 3.0]]]))",
    "NegativeBinomial": "D.NegativeBinomial(5, torch.tensor([0.2, 0.7]))",
    "Normal": "D.Normal(torch.tensor([0.0, 1.0]), torch.tensor([1.0, 0.5]))",
    "Normal of numbers": "D.Normal(1.0, 2.0)",
    "Normal in float64": "D.Normal(torch.zeros(3, dtype=torch.float64), 2)",
    "OneHotCategorical": "D.OneHotCategorical(torch.tensor([0.2, 0.3, 0.5]))",
    "OneHotCategoricalStraightThrough": "D.OneHotCategoricalStraightThrough(logits=torch.tensor([0.2, 0.3, 0.5]))",
    "Pareto": "D.Pareto(torch.tensor([1.0, 2.0]), torch.tensor([1.5, 3.0]))",
    "Poisson": "D.Poisson(torch.tensor([0.5, 4.0]))",
    "RelaxedBernoulli": "D.RelaxedBernoulli(torch.tensor([2.2]), torch.tensor([0.1, 0.4, 0.9]))",
    "RelaxedOneHotCategorical": "D.RelaxedOneHotCategorical(torch.tensor([2.2]), torch.tensor([0.1, 0.4, 0.5]))",
    "StudentT": "D.StudentT(torch.tensor([0.5, 1.5, 5.0]), torch.tensor([0.0, 1.0, 2.0]))",
    "TransformedDistribution": "D.TransformedDistribution(D.Uniform(torch.zeros(2), torch.ones(2)),"
    " [D.SigmoidTransform().inv, D.AffineTransform(loc=1.0, scale=2.0)])",
    "Uniform": "D.Uniform(torch.tensor([0.0, 1.0]), torch.tensor([1.5, 3.0]))",
    "VonMises": "D.VonMises(torch.tensor([0.0, 1.0]), torch.tensor([1.5, 4.0]))",
    "Weibull": "D.Weibull(torch.tensor([1.0, 2.0]), torch.tensor([1.5, 3.0]))",
    "Wishart": "D.Wishart(torch.tensor([3.0]), covariance_matrix=torch.tensor([[2.0, 0.5], [0.5, 1.0]]))",
}  # fmt: skip
if hasattr(D, "GeneralizedPareto"):
    CALLS["GeneralizedPareto"] = "D.GeneralizedPareto(torch.zeros(2), torch.ones(2), torch.tensor([0.3, 0.0]))"
MEMBERS = [
    *("mean", "mode", "variance", "stddev", "batch_shape", "event_shape", "has_rsample", "has_enumerate_support"),
    *("probs", "logits", "loc", "scale", "covariance_matrix", "precision_matrix", "scale_tril"),
]
METHODS = ["log_prob", "cdf", "icdf"]


def build(text: str):
    """The distribution in Python, and a module of Simple with `d`."""
    torch.manual_seed(1)
    source = Expressions()(ast.parse(text, mode="eval").body)
    ours = run(
        "use torch\nuse torch.distributions as D\n"
        f"val d = {source}\n"
        "fn seed(): torch.manual_seed(3)\n"
        "fn call(name, args...): \n    match name:\n"
        '        case "sample": d.sample(*args)\n        case "rsample": d.rsample(*args)\n'
        '        case "log_prob": d.log_prob(*args)\n        case "cdf": d.cdf(*args)\n'
        '        case "icdf": d.icdf(*args)\n        case "entropy": d.entropy()\n'
        '        case "perplexity": d.perplexity()\n        case "enumerate_support": d.enumerate_support(*args)\n'
        '        case "expanded": d.expand([3] + d.batch_shape).log_prob(*args)\n'
        + "".join(f'        case "{name}": d.{name}\n' for name in MEMBERS)
        + 'fn text(): "{d}"\n'
    )
    return eval(text, {"D": D, "torch": torch}), ours


def outcome(work):
    try:
        return work()
    except Exception:
        return None


def same(ours, theirs) -> bool:
    if isinstance(theirs, torch.Size):
        return list(ours) == list(theirs)
    if isinstance(theirs, torch.Tensor):
        return (
            isinstance(ours, torch.Tensor)
            and ours.dtype == theirs.dtype
            and ours.shape == theirs.shape
            and torch.equal(ours.isnan(), theirs.isnan())
            and torch.equal(ours.nan_to_num(), theirs.nan_to_num())
        )
    return equal(ours, theirs)


@pytest.mark.parametrize("name", CALLS)
def test_a_distribution_returns_the_bits_of_python(name):
    theirs, ours = build(CALLS[name])
    assert ours.text() == repr(theirs)
    wrong = []

    def compare(what, python, simple):
        expected = outcome(python)
        found = outcome(simple)
        if not (found is None if expected is None else found is not None and same(found, expected)):
            wrong.append((what, found, expected))

    for member in MEMBERS:
        compare(member, lambda: getattr(theirs, member), lambda: ours.call(member))
    for method, args in [("sample", [[3]]), ("sample", []), ("rsample", [[2]]), ("entropy", []), ("perplexity", [])]:
        torch.manual_seed(3)
        expected = outcome(lambda: getattr(theirs, method)(*args))
        ours.seed()
        compare(method, lambda: expected, lambda: ours.call(method, *args))
    for expand in (True, False):
        compare("support", lambda: theirs.enumerate_support(expand), lambda: ours.call("enumerate_support", expand))
    torch.manual_seed(4)
    value = theirs.sample((2,))
    for method in METHODS:
        argument = value if method != "icdf" else torch.rand(value.shape)
        compare(method, lambda: getattr(theirs, method)(argument), lambda: ours.call(method, argument))
    more = theirs.expand(torch.Size([3]) + theirs.batch_shape)
    value = more.sample()
    compare("expanded", lambda: more.log_prob(value), lambda: ours.call("expanded", value))
    assert wrong == []


def test_every_class_is_compared():
    classes = {name for name in D.__all__ if isinstance(getattr(D, name), type) and not name.endswith("Transform")}
    classes -= {"Distribution", "ExponentialFamily", "Transform"}
    assert classes - {name.split(" ")[0] for name in CALLS} == set()


@pytest.mark.parametrize("p_name", [name for name in CALLS if " " not in name])
def test_divergences_return_the_bits_of_python(p_name):
    names = [name for name in CALLS if " " not in name]
    p = eval(CALLS[p_name], {"D": D, "torch": torch})
    translate = Expressions()
    calls = [translate(ast.parse(CALLS[name], mode="eval").body) for name in names]
    ours = run(
        "use torch\nuse torch.distributions as D\n"
        f"val p = {calls[names.index(p_name)]}\nval all = [{', '.join(calls)}]\n"
        "fn divergence(i): D.kl_divergence(p, all[i])\n"
    )
    wrong = []
    for i, name in enumerate(names):
        q = eval(CALLS[name], {"D": D, "torch": torch})
        expected = outcome(lambda: D.kl_divergence(p, q))
        found = outcome(lambda: ours.divergence(i))
        if not (found is None if expected is None else found is not None and same(found, expected)):
            wrong.append((name, found, expected))
    assert wrong == []


TRANSFORMS = {
    "D.ExpTransform()": (3,),
    "D.PowerTransform(2.5)": (3,),
    "D.SigmoidTransform()": (3,),
    "D.SoftplusTransform()": (3,),
    "D.TanhTransform()": (3,),
    "D.AbsTransform()": (3,),
    "D.AffineTransform(1.0, -2.0)": (3,),
    "D.AffineTransform(torch.tensor([1.0, 2.0]), torch.tensor([0.5, -1.0]), event_dim=1)": (4, 2),
    "D.CorrCholeskyTransform()": (2, 3),
    "D.SoftmaxTransform()": (2, 3),
    "D.StickBreakingTransform()": (2, 3),
    "D.LowerCholeskyTransform()": (2, 3, 3),
    "D.PositiveDefiniteTransform()": (3, 3),
    "D.ReshapeTransform((6,), (2, 3))": (4, 6),
    "D.IndependentTransform(D.ExpTransform(), 1)": (2, 3),
    "D.ComposeTransform([D.ExpTransform(), D.AffineTransform(1.0, 2.0)])": (3,),
    "D.CatTransform([D.ExpTransform(), D.SigmoidTransform()], dim=0, lengths=[1, 2])": (3,),
    "D.StackTransform([D.ExpTransform(), D.SigmoidTransform()], dim=1)": (3, 2),
    "D.CumulativeDistributionTransform(D.Normal(0.0, 1.0))": (3,),
    "D.TanhTransform().inv": (3,),
    "D.biject_to(D.constraints.simplex)": (2, 3),
    "D.transform_to(D.constraints.simplex)": (2, 3),
    "D.biject_to(D.constraints.interval(1.0, 3.0))": (3,),
    "D.transform_to(D.constraints.lower_cholesky)": (3, 3),
    "D.biject_to(D.constraints.positive)": (3,),
}


@pytest.mark.parametrize("text", TRANSFORMS)
def test_a_transform_returns_the_bits_of_python(text):
    theirs = eval(text, {"D": D, "torch": torch})
    ours = run(
        "use torch\nuse torch.distributions as D\n"
        f"val t = {Expressions()(ast.parse(text, mode='eval').body)}\n"
        "fn forward(x): t(x)\nfn inverse(y): t.inv()(y)\nfn jacobian(x, y): t.log_abs_det_jacobian(x, y)\n"
        f'val shape = {list(TRANSFORMS[text])}\nfn text(): "{{t}}"\n'
        "fn shapes(): [t.forward_shape(shape), t.inverse_shape(t.forward_shape(shape))]\n"
        "fn dims(): [t.domain().event_dim, t.codomain().event_dim]\n"
    )
    torch.manual_seed(0)
    x = torch.rand(TRANSFORMS[text]) * 0.9 + 0.05
    y = theirs(x)
    assert ours.text() == repr(theirs)
    assert same(ours.forward(x), y)
    assert same(ours.inverse(y), theirs.inv(y))
    expected = outcome(lambda: theirs.log_abs_det_jacobian(x, y))
    found = outcome(lambda: ours.jacobian(x, y))
    assert found is None if expected is None else same(found, expected)
    assert ours.dims() == [theirs.domain.event_dim, theirs.codomain.event_dim]
    sizes = list(x.shape)
    assert [list(shape) for shape in ours.shapes()] == [list(theirs.forward_shape(x.shape)), sizes]


def test_a_cache_returns_the_same_tensor():
    module = run(
        "use torch\nuse torch.distributions as D\nuse std.host.{rt_is_same}\n"
        "val t = D.ExpTransform(cache_size: 1)\nval x = torch.randn(3)\nval y = t(x)\n"
        "val result = [rt_is_same([t.inv()(y), x]), rt_is_same([t(x), y])]\n"
    )
    assert module.result == [True, True]


INVALID = [
    "D.Normal(torch.tensor([0.0, 1.0]), torch.tensor([1.0, -1.0]))",
    "D.Normal(0.0, 1.0).log_prob(torch.tensor(torch.nan))",
    "D.Bernoulli(torch.tensor(2.0))",
    "D.Bernoulli()",
    "D.Bernoulli(0.5).log_prob(torch.tensor(0.5))",
    "D.Uniform(2.0, 1.0)",
    "D.Dirichlet(torch.tensor(1.0))",
    "D.Categorical(torch.tensor([0.5, -0.5]))",
    "D.MultivariateNormal(torch.zeros(2), torch.tensor([[1.0, 2.0], [3.0, 4.0]]))",
    "D.MultivariateNormal(torch.zeros(2))",
    "D.Exponential(1.0).log_prob(1.0)",
    "D.Dirichlet(torch.ones(3)).log_prob(torch.ones(2))",
    "D.Independent(D.Normal(0.0, 1.0), 1)",
    "D.LKJCholesky(1)",
]


@pytest.mark.parametrize("text", INVALID)
def test_invalid_arguments_are_rejected_in_the_words_of_python(text):
    with pytest.raises(ValueError) as python:
        eval(text, {"D": D, "torch": torch})
    source = Expressions()(ast.parse(text, mode="eval").body)
    with pytest.raises(RuntimeError) as simple:
        run(f"use torch\nuse torch.distributions as D\nval d = {source}\n")
    words = str(python.value).replace("torch.Size([2])", "(2,)").replace("torch.Size([3])", "(3,)")
    assert words.split(" of distribution")[0].split(":")[0] in str(simple.value)
