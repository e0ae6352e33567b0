"""Errors of metrics name the metric, the value and its index, and what to do; and they have the right kind."""

from __future__ import annotations

import re

import pytest
from compare_metrics import ours, run, torch

NAN = float("nan")
CLASSES = {"task": "multiclass", "num_classes": 3}
LABELS = torch.tensor([0, 1, 2])
SCORES = torch.eye(3)

KINDS = run(
    """
    use torch
    fn kind_of(metric, preds, target):
        match torch.attempt(\\: metric.update(preds, target)):
            case Err(ShapeMismatch(expected, got, _)): "ShapeMismatch {expected} {got}"
            case Err(DtypeMismatch(expected, got, _)): "DtypeMismatch {expected} {got}"
            case Err(IndexOutOfRange(_)): "IndexOutOfRange"
            case Err(InvalidArgument(_)): "InvalidArgument"
            case other: "{other}"
    """,
    name="kinds",
)


def case(kind, message, name, settings, preds, target):
    return pytest.param(kind, message, name, settings, preds, target, id=f"{name}-{message[:40]}")


BATCHES = [
    case(
        "ShapeMismatch [3] [2]",
        "Accuracy: preds has shape [2] and target [3]; both must have the same",
        "Accuracy",
        {"task": "binary"},
        torch.rand(2),
        LABELS.clamp(max=1),
    ),
    case(
        "ShapeMismatch [2] [3, 3]",
        "Accuracy: preds has shape [3, 3] and target [2]; scores are [N, C, ...] for labels [N, ...]",
        "Accuracy",
        CLASSES,
        SCORES,
        LABELS[:2],
    ),
    case(
        "ShapeMismatch [3, 1] [3]",
        "R2Score: preds has shape [3] and target [3, 1]; both must have the same",
        "R2Score",
        {},
        torch.rand(3),
        torch.rand(3, 1),
    ),
    case(
        "ShapeMismatch [2, 2] [2, 3, 4]",
        "Perplexity: preds has shape [2, 3, 4] and target [2, 2]; logits are [..., V] for tokens [...]",
        "Perplexity",
        {},
        torch.rand(2, 3, 4),
        torch.zeros(2, 2, dtype=torch.int64),
    ),
    case(
        "InvalidArgument",
        "F1Score: preds has scores of 3 classes, shape [3, 3], and num_classes is 5",
        "F1Score",
        {**CLASSES, "num_classes": 5},
        SCORES,
        LABELS,
    ),
    case(
        "InvalidArgument",
        "AUROC: preds has scores of 3 labels, shape [3, 3], and num_labels is 2",
        "AUROC",
        {"task": "multilabel", "num_labels": 2},
        SCORES,
        SCORES.long(),
    ),
    case(
        "IndexOutOfRange",
        "Recall: target has the label 3 at [2], and labels go from 0 to 2; num_classes is 3; make it greater, or give "
        "ignore_index for labels that do not count",
        "Recall",
        CLASSES,
        SCORES,
        torch.tensor([0, 1, 3]),
    ),
    case(
        "IndexOutOfRange",
        "Precision: preds has the label -1 at [1, 0], and labels go from 0 to 2",
        "Precision",
        CLASSES,
        torch.tensor([[0, 1], [-1, 2]]),
        torch.tensor([[0, 1], [1, 2]]),
    ),
    case(
        "IndexOutOfRange",
        'Accuracy: target has the label 2 at [2], and labels go from 0 to 1; task is "binary"; take "multiclass"',
        "Accuracy",
        {"task": "binary"},
        torch.rand(3),
        LABELS,
    ),
    case(
        "IndexOutOfRange",
        "ConfusionMatrix: target has the label 7 at [1], and labels go from 0 to 2",
        "ConfusionMatrix",
        {**CLASSES, "ignore_index": -1},
        SCORES,
        torch.tensor([-1, 7, 0]),
    ),
    case(
        "IndexOutOfRange",
        "Perplexity: target has the label 9 at [0, 1], and labels go from 0 to 3; the last dimension of preds is 4; "
        "give ignore_index",
        "Perplexity",
        {},
        torch.rand(1, 2, 4),
        torch.tensor([[0, 9]]),
    ),
    case(
        "InvalidArgument",
        "AUROC: preds has 2 NaN of 9 numbers, the first at [1, 2]; look for what made it",
        "AUROC",
        CLASSES,
        torch.tensor([[0.1, 0.2, 0.7], [0.5, 0.5, NAN], [NAN, 0.5, 0.5]]),
        LABELS,
    ),
    case(
        "InvalidArgument",
        "MeanSquaredError: target has 1 NaN of 2 numbers, the first at [1]",
        "MeanSquaredError",
        {},
        torch.zeros(2),
        torch.tensor([0.0, NAN]),
    ),
    case(
        "DtypeMismatch torch.int64 torch.float32",
        "Accuracy: target must hold labels, integers or bools, and is torch.float32; target.long() makes them",
        "Accuracy",
        {"task": "binary"},
        torch.rand(3),
        torch.ones(3),
    ),
    case(
        "InvalidArgument",
        "Accuracy: preds are torch.float32 of the target's shape [3]; multiclass takes scores [N, C, ...] or integer",
        "Accuracy",
        CLASSES,
        torch.rand(3),
        LABELS,
    ),
    case(
        "InvalidArgument",
        "AUROC: preds are labels of shape [3]; a ranking needs scores [N, C, ...]",
        "AUROC",
        CLASSES,
        LABELS,
        LABELS,
    ),
    case(
        "InvalidArgument",
        "Accuracy: top_k 2 needs scores [N, C, ...], and preds are labels of shape [3]",
        "Accuracy",
        {**CLASSES, "top_k": 2},
        LABELS,
        LABELS,
    ),
    case(
        "InvalidArgument",
        "F1Score: multilabel takes [N, L, ...], and preds has shape [3]",
        "F1Score",
        {"task": "multilabel", "num_labels": 3},
        torch.rand(3),
        LABELS,
    ),
    case(
        "InvalidArgument",
        "Accuracy: the batch is empty, target has shape [0]; leave it out",
        "Accuracy",
        {"task": "binary"},
        torch.rand(0),
        LABELS[:0],
    ),
    case(
        "InvalidArgument",
        "MeanAbsoluteError: preds must be a tensor, not Object; torch.tensor(…) makes one",
        "MeanAbsoluteError",
        {},
        [1.0],
        torch.ones(1),
    ),
    case(
        "InvalidArgument",
        "MeanAbsoluteError: target is torch.complex64, and complex numbers are neither scores nor labels",
        "MeanAbsoluteError",
        {},
        torch.ones(1),
        torch.ones(1, dtype=torch.complex64),
    ),
    case(
        "InvalidArgument",
        "MeanSquaredError: with num_outputs 2 preds and target are [N, 2], and these are [3]",
        "MeanSquaredError",
        {"num_outputs": 2},
        torch.ones(3),
        torch.ones(3),
    ),
    case(
        "InvalidArgument",
        "R2Score: preds and target are [N] or [N, K], and these are [1, 1, 1]",
        "R2Score",
        {},
        torch.ones(1, 1, 1),
        torch.ones(1, 1, 1),
    ),
    case(
        "InvalidArgument",
        "Perplexity: preds must be logits, floats, and are torch.int64",
        "Perplexity",
        {},
        LABELS.unsqueeze(0),
        LABELS[:1],
    ),
    case(
        "InvalidArgument",
        "LogLoss: preds are torch.int64; probabilities or logits, floats, are needed",
        "LogLoss",
        CLASSES,
        LABELS,
        LABELS,
    ),
    case(
        "InvalidArgument",
        "MeanMetric: a weight is negative, -1.0",
        "MeanMetric",
        {},
        torch.ones(2),
        torch.tensor([1.0, -1.0]),
    ),
]


@pytest.mark.parametrize(("kind", "message", "name", "settings", "preds", "target"), BATCHES)
def test_invalid_batch_is_rejected(kind, message, name, settings, preds, target):
    metric = ours(name, **settings)
    with pytest.raises(Exception, match=re.escape(message)):
        metric.update(preds, target)
    assert KINDS.kind_of(metric, preds, target) == kind


@pytest.mark.parametrize(
    ("message", "name", "settings"),
    [
        (
            'Accuracy: task must be one of "binary", "multiclass", "multilabel", not "classes"',
            "Accuracy",
            {"task": "classes"},
        ),
        (
            "AUROC: num_classes (of a multiclass task) must be an integer of at least 2, not nil",
            "AUROC",
            {"task": "multiclass"},
        ),
        (
            "Recall: num_labels (of a multilabel task) must be an integer of at least 1",
            "Recall",
            {"task": "multilabel"},
        ),
        (
            'F1Score: average must be one of "micro", "macro", "weighted", "none", nil',
            "F1Score",
            {**CLASSES, "average": "all"},
        ),
        ("Accuracy: top_k must be an integer of at least 1, not 0", "Accuracy", {**CLASSES, "top_k": 0}),
        (
            "Accuracy: top_k is 4; above 1 it is for a multiclass task of at least so many",
            "Accuracy",
            {**CLASSES, "top_k": 4},
        ),
        ("Accuracy: top_k is 2; above 1 it is for a multiclass", "Accuracy", {"task": "binary", "top_k": 2}),
        ("Precision: zero_division must be 0, 1 or NaN, not 0.5", "Precision", {**CLASSES, "zero_division": 0.5}),
        ("Accuracy: threshold must be a number in 0 to 1, not 2", "Accuracy", {"task": "binary", "threshold": 2}),
        ("Accuracy: ignore_index must be an integer, not 0.5", "Accuracy", {"task": "binary", "ignore_index": 0.5}),
        (
            'ConfusionMatrix: normalize must be one of "true", "pred", "all"',
            "ConfusionMatrix",
            {**CLASSES, "normalize": "row"},
        ),
        ('LogLoss: task must be "binary" or "multiclass"', "LogLoss", {"task": "multilabel"}),
        ("R2Score: multioutput must be one of", "R2Score", {"multioutput": "mean"}),
        (
            "MeanSquaredError: num_outputs must be an integer of at least 1, not 0",
            "MeanSquaredError",
            {"num_outputs": 0},
        ),
        ('MeanMetric: nan_strategy must be "error" or "ignore", not "warn"', "MeanMetric", {"nan_strategy": "warn"}),
    ],
)
def test_invalid_settings_are_rejected(message, name, settings):
    with pytest.raises(Exception, match=re.escape(message)):
        ours(name, **settings)


def test_logits_after_probabilities_are_rejected():
    metric = ours("Accuracy", "binary")
    metric.update(torch.tensor([0.25, 0.5]), torch.tensor([0, 1]))
    message = "preds has scores from -2.0 to 3.0, logits, and those of earlier batches were in 0 to 1 and"
    with pytest.raises(Exception, match=re.escape(message)):
        metric.update(torch.tensor([3.0, -2.0]), torch.tensor([0, 1]))
    metric.reset()
    metric.update(torch.tensor([3.0, -2.0]), torch.tensor([0, 1]))


def test_changing_number_of_outputs_is_rejected():
    metric = ours("R2Score")
    metric.update(torch.ones(4, 2), torch.ones(4, 2))
    with pytest.raises(Exception, match="this batch has 3 outputs, and earlier ones had 2"):
        metric.update(torch.ones(4, 3), torch.ones(4, 3))


def test_validation_can_be_disabled():
    metric = ours("MeanSquaredError", validate_args=False)
    assert metric(torch.tensor([NAN]), torch.ones(1)).isnan()
