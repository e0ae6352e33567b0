"""Simple's torch.metrics as Python objects, for comparisons with scikit-learn."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)
pytest.importorskip("sklearn", reason="this Python has no scikit-learn", exc_type=ModuleNotFoundError)
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from simple_torch import run  # noqa: E402

NAMES = [
    *("Accuracy", "Precision", "Recall", "F1Score", "ConfusionMatrix", "AUROC", "AveragePrecision", "Perplexity"),
    *("LogLoss", "MeanAbsoluteError", "MeanSquaredError", "R2Score", "MeanMetric", "MetricCollection"),
]
FUNCTIONS = [
    *("accuracy", "precision", "recall", "f1_score", "confusion_matrix", "auroc", "average_precision", "perplexity"),
    *("log_loss", "mean_absolute_error", "mean_squared_error", "r2_score"),
]
OURS = run(
    "use torch.metrics\n"
    + "\n".join(f"fn {name}(args..., **named): metrics.{name}(args..., **named)" for name in NAMES)
    + "\n"
    + "\n".join(f"fn {name}(args..., **named): metrics.functional.{name}(args..., **named)" for name in FUNCTIONS),
    name="metrics",
)


def ours(name: str, *args, **settings):
    """The metric with that name of Simple's torch.metrics."""
    return getattr(OURS, name)(*args, **settings)


def function(name: str):
    """The function with that name of Simple's torch.metrics.functional."""
    return getattr(OURS, name)


def quietly(call, *args, **named):
    """The result of a scikit-learn function, without its warnings of classes that do not occur."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*args, **named)


def streamed(metric, preds, target, generator):
    """The metric after batches of random sizes; its value is computed in between."""
    count = len(target)
    cuts = sorted(torch.randint(1, count, (3,), generator=generator).tolist()) if count > 1 else []
    for start, end in zip([0, *cuts], [*cuts, count]):
        if end > start:
            metric(preds[start:end], target[start:end])
    return metric


def is_close(found, expected, tolerance=1e-12) -> bool:
    """Equal numbers or arrays; NaN equals NaN."""
    expected = torch.as_tensor(expected, dtype=torch.float64)
    same_shape = tuple(found.shape) == tuple(expected.shape)
    return same_shape and torch.allclose(found.double(), expected, rtol=tolerance, atol=tolerance, equal_nan=True)
