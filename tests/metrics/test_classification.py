"""Accuracy, precision, recall, F1 and confusion matrices match scikit-learn over random batches and splits."""

from __future__ import annotations

import pytest
from compare_metrics import function, is_close, ours, quietly, streamed, torch
from sklearn import metrics as sk

SCORES = {"Precision": sk.precision_score, "Recall": sk.recall_score, "F1Score": sk.f1_score}
AVERAGES = ["micro", "macro", "weighted", None]
SEEDS = range(25)


def rng(seed):
    return torch.Generator().manual_seed(seed)


def labels(generator, count, classes):
    """Labels, some of which often do not occur."""
    highest = int(torch.randint(1, classes + 1, (1,), generator=generator))
    return torch.randint(0, highest, (count,), generator=generator)


def size(generator):
    return int(torch.randint(1, 40, (1,), generator=generator))


def equal(found, expected):
    assert is_close(found, expected), (found, expected)
    assert found.dtype == torch.float64


@pytest.mark.parametrize("zero_division", [0, 1, float("nan")])
@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("name", SCORES)
def test_multiclass_scores_match_scikit_learn(name, average, zero_division):
    for seed in SEEDS:
        generator = rng(seed)
        preds = labels(generator, size(generator), 5)
        target = labels(generator, len(preds), 5)
        metric = ours(name, "multiclass", num_classes=5, average=average, zero_division=zero_division)
        streamed(metric, preds, target, generator)
        every = {"labels": range(5)} if average is None else {}
        expected = quietly(SCORES[name], target, preds, average=average, zero_division=zero_division, **every)
        equal(metric.compute(), expected)


@pytest.mark.parametrize("zero_division", [0, 1, float("nan")])
@pytest.mark.parametrize("name", SCORES)
def test_binary_scores_match_scikit_learn(name, zero_division):
    for seed in SEEDS:
        generator = rng(seed)
        preds = torch.rand(size(generator), generator=generator)
        target = labels(generator, len(preds), 2)
        metric = streamed(ours(name, "binary", zero_division=zero_division), preds, target, generator)
        equal(metric.compute(), quietly(SCORES[name], target, preds > 0.5, zero_division=zero_division))


@pytest.mark.parametrize("zero_division", [0, 1, float("nan")])
@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("name", SCORES)
def test_multilabel_scores_match_scikit_learn(name, average, zero_division):
    for seed in SEEDS:
        generator = rng(seed)
        shape = (size(generator), 4)
        # A label may have no positives.
        often = torch.rand(4, generator=generator) * (torch.rand(4, generator=generator) > 0.3)
        preds = torch.rand(shape, generator=generator)
        target = (torch.rand(shape, generator=generator) < often).long()
        metric = ours(name, "multilabel", num_labels=4, average=average, zero_division=zero_division, threshold=0.7)
        streamed(metric, preds, target, generator)
        expected = quietly(SCORES[name], target, preds > 0.7, average=average, zero_division=zero_division)
        equal(metric.compute(), expected)


def test_accuracy_matches_scikit_learn():
    for seed in SEEDS:
        generator = rng(seed)
        preds = labels(generator, size(generator), 4)
        target = labels(generator, len(preds), 4)
        metric = streamed(ours("Accuracy", "multiclass", num_classes=4), preds, target, generator)
        equal(metric.compute(), sk.accuracy_score(target, preds))
        metric = streamed(ours("Accuracy", "binary"), preds > 1, target > 1, generator)
        equal(metric.compute(), sk.accuracy_score(target > 1, preds > 1))
        metric = streamed(ours("Accuracy", "multiclass", num_classes=4, average="macro"), preds, target, generator)
        equal(metric.compute(), quietly(sk.recall_score, target, preds, average="macro"))


@pytest.mark.parametrize("average", AVERAGES)
def test_multilabel_accuracy_averages_over_labels(average):
    generator = rng(1)
    preds, target = torch.rand((30, 3), generator=generator), torch.randint(0, 2, (30, 3), generator=generator)
    each = [sk.accuracy_score(target[:, k], preds[:, k] > 0.5) for k in range(3)]
    expected = {"micro": sum(each) / 3, "macro": sum(each) / 3, None: each}
    support = target.sum(0)
    expected["weighted"] = (torch.tensor(each) * support).sum() / support.sum()
    metric = ours("Accuracy", "multilabel", num_labels=3, average=average)
    assert is_close(streamed(metric, preds, target, generator).compute(), expected[average], 1e-7)


@pytest.mark.parametrize("top_k", [2, 3])
def test_top_k_accuracy_matches_scikit_learn_with_ties(top_k):
    for seed in SEEDS:
        generator = rng(seed)
        count = size(generator)
        preds = torch.randint(0, 4, (count, 5), generator=generator) / 4
        target = torch.randint(0, 5, (count,), generator=generator)
        metric = ours("Accuracy", "multiclass", num_classes=5, top_k=top_k)
        expected = sk.top_k_accuracy_score(target, preds, k=top_k, labels=range(5))
        equal(streamed(metric, preds, target, generator).compute(), expected)


def test_scores_probabilities_logits_and_labels_agree():
    generator = rng(3)
    logits = torch.randn((50, 6), generator=generator) * 3
    target = torch.randint(0, 6, (50,), generator=generator)
    forms = [logits, logits.softmax(1), logits.argmax(1), logits.double(), logits.argmax(1).int()]
    settings = {"num_classes": 6, "average": "macro"}
    found = [function("f1_score")(form, target, "multiclass", **settings) for form in forms]
    assert len({value.item() for value in found}) == 1
    equal(found[0], sk.f1_score(target, logits.argmax(1), average="macro"))


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8, torch.bool])
def test_binary_input_forms_agree(dtype):
    generator = rng(4)
    logits = torch.randn(60, generator=generator) * 3
    target = torch.randint(0, 2, (60,), generator=generator)
    yes = logits > 0
    forms = [logits, logits.sigmoid(), yes.to(dtype), logits.half(), logits.bfloat16(), logits.double()]
    found = {function("precision")(form, target.to(dtype), "binary").item() for form in forms}
    assert found == {sk.precision_score(target, yes)}


def test_logits_are_kept_between_batches():
    metric = ours("Accuracy", "binary")
    metric.update(torch.tensor([3.0, -1.0]), torch.tensor([1, 0]))
    assert metric(torch.tensor([0.2, 0.4]), torch.tensor([1, 1])).item() == 1.0
    metric = ours("Accuracy", "binary", from_logits=True)
    assert metric(torch.tensor([0.2, 0.4]), torch.tensor([1, 1])).item() == 1.0
    metric = ours("Accuracy", "binary", from_logits=False)
    assert metric(torch.tensor([0.2, 1.4]), torch.tensor([1, 1])).item() == 0.5


@pytest.mark.parametrize("task", ["binary", "multiclass", "multilabel"])
def test_extra_dimensions_are_samples(task):
    generator = rng(5)
    target = torch.randint(0, 2, (4, 3, 5), generator=generator)
    preds = torch.randint(0, 2, (4, 3, 5), generator=generator)
    settings = {"multiclass": {"num_classes": 3}, "multilabel": {"num_labels": 3}}.get(task, {})
    found = function("recall")(preds, target, task, average=None, **settings)
    if task == "multilabel":
        rows = [each.movedim(1, -1).reshape(-1, 3) for each in (target, preds)]
    else:
        rows = [each.reshape(-1) for each in (target, preds)]
    every = {"labels": range(3)} if task == "multiclass" else {}
    equal(found, quietly(sk.recall_score, *rows, average="binary" if task == "binary" else None, **every))


def test_class_dimension_is_the_second():
    generator = rng(6)
    preds = torch.randn((5, 4, 7, 3), generator=generator)
    target = torch.randint(0, 4, (5, 7, 3), generator=generator)
    found = function("recall")(preds, target, "multiclass", num_classes=4, average=None)
    equal(found, sk.recall_score(target.reshape(-1), preds.argmax(1).reshape(-1), average=None))


@pytest.mark.parametrize("ignored", [-100, 2])
def test_ignore_index(ignored):
    generator = rng(7)
    preds = torch.randn((60, 4), generator=generator)
    target = torch.randint(0, 4, (60,), generator=generator)
    target[::5] = ignored
    kept = target != ignored
    settings = {"num_classes": 4, "ignore_index": ignored}
    for top_k in (1, 2):
        found = function("accuracy")(preds, target, "multiclass", top_k=top_k, **settings)
        expected = sk.top_k_accuracy_score(target[kept], preds[kept], k=top_k, labels=range(4))
        equal(found, expected)
    found = function("f1_score")(preds, target, "multiclass", average="weighted", **settings)
    equal(found, sk.f1_score(target[kept], preds[kept].argmax(1), average="weighted"))


def test_ignore_index_with_several_labels():
    generator = rng(8)
    preds, target = torch.rand((40, 2), generator=generator), torch.randint(0, 2, (40, 2), generator=generator)
    target[::3, 0] = -1
    found = function("precision")(preds, target, "multilabel", num_labels=2, ignore_index=-1, average=None)
    kept = [target[:, k] >= 0 for k in range(2)]
    equal(found, [sk.precision_score(target[kept[k], k], preds[kept[k], k] > 0.5) for k in range(2)])
    binary = function("precision")(preds[:, 0], target[:, 0], "binary", ignore_index=-1)
    equal(binary, sk.precision_score(target[kept[0], 0], preds[kept[0], 0] > 0.5))


@pytest.mark.parametrize("normalize", ["true", "pred", "all", None])
def test_confusion_matrices_match_scikit_learn(normalize):
    for seed in SEEDS:
        generator = rng(seed)
        preds = labels(generator, size(generator), 4)
        target = labels(generator, len(preds), 4)
        metric = ours("ConfusionMatrix", "multiclass", num_classes=4, normalize=normalize)
        found = streamed(metric, preds, target, generator).compute()
        assert is_close(found, quietly(sk.confusion_matrix, target, preds, labels=range(4), normalize=normalize))
        assert found.dtype == (torch.int64 if normalize is None else torch.float64)
        metric = streamed(ours("ConfusionMatrix", "binary", normalize=normalize), preds > 0, target > 0, generator)
        expected = quietly(sk.confusion_matrix, target > 0, preds > 0, labels=[False, True], normalize=normalize)
        assert is_close(metric.compute(), expected)


def test_multilabel_confusion_matrices_match_scikit_learn():
    generator = rng(9)
    preds, target = torch.rand((50, 3), generator=generator), torch.randint(0, 2, (50, 3), generator=generator)
    metric = streamed(ours("ConfusionMatrix", "multilabel", num_labels=3), preds, target, generator)
    assert is_close(metric.compute(), sk.multilabel_confusion_matrix(target, preds > 0.5))


def test_a_difference_is_detected():
    with pytest.raises(AssertionError):
        equal(ours("Accuracy", "binary")(torch.tensor([1, 0]), torch.tensor([1, 1])), 1.0)
