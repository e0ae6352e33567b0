"""Regression errors, R², means and perplexity match scikit-learn, NumPy and PyTorch."""

from __future__ import annotations

import numpy as np
import pytest
from compare_metrics import function, is_close, ours, quietly, streamed, torch
from sklearn import metrics as sk

SEEDS = range(25)


def rng(seed):
    return torch.Generator().manual_seed(seed)


def pair(generator, *, outputs=0, dtype=torch.float64):
    count = int(torch.randint(1, 40, (1,), generator=generator))
    shape = (count, outputs) if outputs else (count,)
    target = (torch.randn(shape, generator=generator) * 5).to(dtype)
    return (target + torch.randn(shape, generator=generator)).to(dtype), target


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.int32])
def test_mean_errors_match_scikit_learn(dtype):
    for seed in SEEDS:
        generator = rng(seed)
        preds, target = pair(generator, dtype=dtype)
        wide = (target.double(), preds.double())
        for name, settings, expected in [
            ("MeanAbsoluteError", {}, sk.mean_absolute_error(*wide)),
            ("MeanSquaredError", {}, sk.mean_squared_error(*wide)),
            ("MeanSquaredError", {"squared": False}, sk.root_mean_squared_error(*wide)),
        ]:
            assert is_close(streamed(ours(name, **settings), preds, target, generator).compute(), expected)


def test_mean_errors_per_output_match_scikit_learn():
    generator = rng(3)
    preds, target = pair(generator, outputs=3)
    raw = {"multioutput": "raw_values"}
    found = streamed(ours("MeanAbsoluteError", num_outputs=3), preds, target, generator).compute()
    assert is_close(found, sk.mean_absolute_error(target, preds, **raw))
    found = streamed(ours("MeanSquaredError", num_outputs=3, squared=False), preds, target, generator).compute()
    assert is_close(found, sk.root_mean_squared_error(target, preds, **raw))
    assert is_close(function("mean_squared_error")(preds, target), sk.mean_squared_error(target, preds))


@pytest.mark.parametrize("multioutput", ["uniform_average", "raw_values", "variance_weighted"])
@pytest.mark.parametrize("outputs", [1, 3])
def test_r2_matches_scikit_learn(outputs, multioutput):
    for seed in SEEDS:
        generator = rng(seed)
        preds, target = pair(generator, outputs=outputs)
        if seed % 3 == 0:  # a constant output, which each prediction may or may not match
            target[:, 0] = 0.5
            if seed % 2:
                preds[:, 0] = 0.5
        metric = streamed(ours("R2Score", multioutput=multioutput), preds, target, generator)
        expected = quietly(sk.r2_score, target, preds, multioutput=multioutput)
        if len(target) < 2:
            assert metric.compute().isnan().all()
        else:
            assert is_close(metric.compute(), expected)


def test_r2_of_vectors_and_large_numbers_matches_scikit_learn():
    generator = rng(4)
    preds, target = pair(generator)
    assert is_close(function("r2_score")(preds, target), sk.r2_score(target, preds))
    far, true = preds + 1e9, target + 1e9
    assert is_close(streamed(ours("R2Score"), far, true, generator).compute(), sk.r2_score(true, far), 1e-7)


def test_r2_of_a_constant_target_is_1_or_0():
    # scikit-learn's mean of these is not exactly 0.1, and its R² is -1e34.
    target = torch.full((30,), 0.1, dtype=torch.float64)
    for preds, expected in [(target, 1.0), (target + 1, 0.0)]:
        assert streamed(ours("R2Score"), preds, target, rng(1)).compute().item() == expected


def test_means_match_numpy():
    generator = rng(5)
    values, weights = torch.randn((30, 2), generator=generator), torch.rand((30, 2), generator=generator)
    metric = ours("MeanMetric")
    for start in range(0, 30, 7):
        metric.update(values[start : start + 7], weight=weights[start : start + 7])
    assert is_close(metric.compute(), np.average(values.double(), weights=weights.double()))
    metric.reset()
    for value, weight in [(2.0, 3), (torch.tensor(6.0), 1), (4, 0.5)]:
        metric.update(value, weight=weight)
    assert is_close(metric.compute(), np.average([2, 6, 4], weights=[3, 1, 0.5]))
    assert ours("MeanMetric")(torch.tensor([1.0, 5.0])).item() == 3.0


def test_mean_ignores_nan_on_request():
    values = torch.tensor([1.0, float("nan"), 3.0])
    assert ours("MeanMetric", nan_strategy="ignore")(values, torch.tensor([1.0, 5.0, 3.0])).item() == 2.5
    with pytest.raises(RuntimeError, match=r"MeanMetric: value has 1 NaN of 3 numbers, the first at \[1\]"):
        ours("MeanMetric").update(values)


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-6), (torch.bfloat16, 1e-6)]
)
def test_perplexity_is_exp_of_cross_entropy(dtype, tolerance):
    for seed in SEEDS:
        generator = rng(seed)
        logits = (torch.randn((6, 5, 11), generator=generator) * 3).to(dtype)
        target = torch.randint(0, 11, (6, 5), generator=generator)
        target[0, :4] = -100
        metric = streamed(ours("Perplexity", ignore_index=-100), logits, target, generator)
        wide = logits.double() if dtype == torch.float64 else logits.float()
        loss = torch.nn.functional.cross_entropy(wide.reshape(-1, 11), target.reshape(-1))
        assert is_close(metric.compute(), loss.exp(), tolerance)


def test_perplexity_of_a_uniform_guess_is_the_number_of_tokens():
    assert is_close(function("perplexity")(torch.zeros(2, 3, 7), torch.ones(2, 3, dtype=torch.int64)), 7.0, 1e-6)


def test_values_are_detached():
    preds = torch.tensor([1.0, 2.0], requires_grad=True)
    metric = ours("MeanSquaredError")
    assert not metric(preds, torch.zeros(2)).requires_grad
    assert not metric.compute().requires_grad
