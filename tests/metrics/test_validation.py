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
        "Accuracy: preds has shape [2] and target [3]; shapes must be equal",
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
        "R2Score: preds has shape [3] and target [3, 1]; shapes must be equal",
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
        "F1Score: preds must have scores of 5 classes (num_classes), got 3 in shape [3, 3]",
        "F1Score",
        {**CLASSES, "num_classes": 5},
        SCORES,
        LABELS,
    ),
    case(
        "InvalidArgument",
        "AUROC: preds must have scores of 2 labels (num_labels), got 3 in shape [3, 3]",
        "AUROC",
        {"task": "multilabel", "num_labels": 2},
        SCORES,
        SCORES.long(),
    ),
    case(
        "IndexOutOfRange",
        "Recall: target has the label 3 at [2], but labels must be in [0, 2]; num_classes is 3; increase it, or pass "
        "ignore_index for labels to skip",
        "Recall",
        CLASSES,
        SCORES,
        torch.tensor([0, 1, 3]),
    ),
    case(
        "IndexOutOfRange",
        "Precision: preds has the label -1 at [1, 0], but labels must be in [0, 2]",
        "Precision",
        CLASSES,
        torch.tensor([[0, 1], [-1, 2]]),
        torch.tensor([[0, 1], [1, 2]]),
    ),
    case(
        "IndexOutOfRange",
        'Accuracy: target has the label 2 at [2], but labels must be in [0, 1]; task is "binary"; use "multiclass"',
        "Accuracy",
        {"task": "binary"},
        torch.rand(3),
        LABELS,
    ),
    case(
        "IndexOutOfRange",
        "ConfusionMatrix: target has the label 7 at [1], but labels must be in [0, 2]",
        "ConfusionMatrix",
        {**CLASSES, "ignore_index": -1},
        SCORES,
        torch.tensor([-1, 7, 0]),
    ),
    case(
        "IndexOutOfRange",
        "Perplexity: target has the label 9 at [0, 1], but labels must be in [0, 3]; the last dimension of preds is 4; "
        "pass ignore_index",
        "Perplexity",
        {},
        torch.rand(1, 2, 4),
        torch.tensor([[0, 9]]),
    ),
    case(
        "InvalidArgument",
        "AUROC: preds has 2 NaN of 9 numbers, the first at [1, 2]; possible causes: ",
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
        "Accuracy: target must hold integer or bool labels, got torch.float32; convert them by target.long()",
        "Accuracy",
        {"task": "binary"},
        torch.rand(3),
        torch.ones(3),
    ),
    case(
        "InvalidArgument",
        "Accuracy: preds must be scores [N, C, ...] or integer labels for multiclass, got torch.float32",
        "Accuracy",
        CLASSES,
        torch.rand(3),
        LABELS,
    ),
    case(
        "InvalidArgument",
        "AUROC: preds must be scores [N, C, ...], got labels of shape [3]",
        "AUROC",
        CLASSES,
        LABELS,
        LABELS,
    ),
    case(
        "InvalidArgument",
        "Accuracy: top_k 2 requires scores [N, C, ...], got labels of shape [3]",
        "Accuracy",
        {**CLASSES, "top_k": 2},
        LABELS,
        LABELS,
    ),
    case(
        "InvalidArgument",
        "F1Score: preds must have shape [N, L, ...] for multilabel, got [3]",
        "F1Score",
        {"task": "multilabel", "num_labels": 3},
        torch.rand(3),
        LABELS,
    ),
    case(
        "InvalidArgument",
        "Accuracy: the batch must not be empty, got a target of shape [0]",
        "Accuracy",
        {"task": "binary"},
        torch.rand(0),
        LABELS[:0],
    ),
    case(
        "InvalidArgument",
        "MeanAbsoluteError: preds must be a tensor, got Object; torch.tensor(…) converts numbers",
        "MeanAbsoluteError",
        {},
        [1.0],
        torch.ones(1),
    ),
    case(
        "InvalidArgument",
        "MeanAbsoluteError: target must not be complex, got torch.complex64",
        "MeanAbsoluteError",
        {},
        torch.ones(1),
        torch.ones(1, dtype=torch.complex64),
    ),
    case(
        "InvalidArgument",
        "MeanSquaredError: preds and target must have shape [N, 2] with num_outputs 2, got [3]",
        "MeanSquaredError",
        {"num_outputs": 2},
        torch.ones(3),
        torch.ones(3),
    ),
    case(
        "InvalidArgument",
        "R2Score: preds and target must have shape [N] or [N, K], got [1, 1, 1]",
        "R2Score",
        {},
        torch.ones(1, 1, 1),
        torch.ones(1, 1, 1),
    ),
    case(
        "InvalidArgument",
        "Perplexity: preds must be floating point logits, got torch.int64",
        "Perplexity",
        {},
        LABELS.unsqueeze(0),
        LABELS[:1],
    ),
    case(
        "InvalidArgument",
        "LogLoss: preds must be floating point probabilities or logits, got torch.int64",
        "LogLoss",
        CLASSES,
        LABELS,
        LABELS,
    ),
    case(
        "InvalidArgument",
        "MeanMetric: weights must be non-negative, got -1.0",
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
            'Accuracy: task must be one of "binary", "multiclass", "multilabel", got "classes"',
            "Accuracy",
            {"task": "classes"},
        ),
        (
            "AUROC: num_classes (of a multiclass task) must be an integer of at least 2, got nil",
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
        ("Accuracy: top_k must be an integer of at least 1, got 0", "Accuracy", {**CLASSES, "top_k": 0}),
        (
            "Accuracy: top_k must be 1, or at most num_classes of a multiclass task, got 4",
            "Accuracy",
            {**CLASSES, "top_k": 4},
        ),
        (
            "Accuracy: top_k must be 1, or at most num_classes of a multiclass task, got 2",
            "Accuracy",
            {"task": "binary", "top_k": 2},
        ),
        ("Precision: zero_division must be 0, 1 or NaN, got 0.5", "Precision", {**CLASSES, "zero_division": 0.5}),
        ("Accuracy: threshold must be a number in [0, 1], got 2", "Accuracy", {"task": "binary", "threshold": 2}),
        ("Accuracy: ignore_index must be an integer, got 0.5", "Accuracy", {"task": "binary", "ignore_index": 0.5}),
        (
            'ConfusionMatrix: normalize must be one of "true", "pred", "all"',
            "ConfusionMatrix",
            {**CLASSES, "normalize": "row"},
        ),
        ('LogLoss: task must be "binary" or "multiclass"', "LogLoss", {"task": "multilabel"}),
        ("R2Score: multioutput must be one of", "R2Score", {"multioutput": "mean"}),
        (
            "MeanSquaredError: num_outputs must be an integer of at least 1, got 0",
            "MeanSquaredError",
            {"num_outputs": 0},
        ),
        ('MeanMetric: nan_strategy must be "error" or "ignore", got "warn"', "MeanMetric", {"nan_strategy": "warn"}),
    ],
)
def test_invalid_settings_are_rejected(message, name, settings):
    with pytest.raises(Exception, match=re.escape(message)):
        ours(name, **settings)


def test_logits_after_probabilities_are_rejected():
    metric = ours("Accuracy", "binary")
    metric.update(torch.tensor([0.25, 0.5]), torch.tensor([0, 1]))
    message = "preds has logits from -2.0 to 3.0, but the scores of earlier batches were in [0, 1] and"
    with pytest.raises(Exception, match=re.escape(message)):
        metric.update(torch.tensor([3.0, -2.0]), torch.tensor([0, 1]))
    metric.reset()
    metric.update(torch.tensor([3.0, -2.0]), torch.tensor([0, 1]))


def test_changing_number_of_outputs_is_rejected():
    metric = ours("R2Score")
    metric.update(torch.ones(4, 2), torch.ones(4, 2))
    with pytest.raises(Exception, match="expected 2 outputs as in earlier batches, got 3"):
        metric.update(torch.ones(4, 3), torch.ones(4, 3))


def test_validation_can_be_disabled():
    metric = ours("MeanSquaredError", validate_args=False)
    assert metric(torch.tensor([NAN]), torch.ones(1)).isnan()
