"""Areas under ROC curves, average precision and log loss match scikit-learn, with ties and with missing classes."""

from __future__ import annotations

import pytest
from compare_metrics import function, is_close, ours, quietly, streamed, torch
from sklearn import metrics as sk
from sklearn.preprocessing import label_binarize

SEEDS = range(25)
SKLEARN = {"AUROC": sk.roc_auc_score, "AveragePrecision": sk.average_precision_score}


def rng(seed):
    return torch.Generator().manual_seed(seed)


def size(generator):
    return int(torch.randint(1, 40, (1,), generator=generator))


def tied(generator, *shape, values=6):
    """Scores with many ties."""
    return torch.randint(0, values, shape, generator=generator) / values


def distributions(generator, count, classes):
    """Probabilities of each class, with many ties, that sum to 1."""
    weights = torch.randint(1, 4, (count, classes), generator=generator).double()
    return weights / weights.sum(1, keepdim=True)


@pytest.mark.parametrize("name", SKLEARN)
@pytest.mark.parametrize("values", [2, 6, 1000000])
def test_binary_matches_scikit_learn(name, values):
    for seed in SEEDS:
        generator = rng(seed)
        preds = tied(generator, size(generator), values=values)
        target = torch.randint(0, 2, preds.shape, generator=generator)
        metric = streamed(ours(name, "binary"), preds, target, generator)
        assert is_close(metric.compute(), quietly(SKLEARN[name], target, preds))


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("name", SKLEARN)
def test_single_class_matches_scikit_learn(name, label):
    preds, target = torch.tensor([0.1, 0.5, 0.3]), torch.full((3,), label)
    found = ours(name, "binary")(preds, target)
    assert is_close(found, quietly(SKLEARN[name], target, preds))
    assert found.isnan() == (name == "AUROC")


@pytest.mark.parametrize("average", ["macro", "weighted", "micro", None])
@pytest.mark.parametrize("classes", [3, 5])
def test_one_versus_rest_matches_scikit_learn(classes, average):
    missing = 0
    for seed in SEEDS:
        generator = rng(seed)
        preds = distributions(generator, size(generator) + 1, classes)
        target = torch.randint(0, classes, (len(preds),), generator=generator)
        if len(target.unique()) == 1:
            continue
        missing += len(target.unique()) < classes
        metric = ours("AUROC", "multiclass", num_classes=classes, average=average)
        found = streamed(metric, preds, target, generator).compute()
        options = {"multi_class": "ovr", "labels": range(classes), "average": average}
        assert is_close(found, quietly(sk.roc_auc_score, target, preds, **options))
    assert missing > 0


@pytest.mark.parametrize("average", ["macro", "weighted", "micro", None])
def test_multiclass_average_precision_matches_scikit_learn(average):
    for seed in SEEDS:
        generator = rng(seed)
        preds = distributions(generator, size(generator), 4)
        target = torch.randint(0, 4, (len(preds),), generator=generator)
        metric = ours("AveragePrecision", "multiclass", num_classes=4, average=average)
        expected = quietly(sk.average_precision_score, label_binarize(target, classes=range(4)), preds, average=average)
        assert is_close(streamed(metric, preds, target, generator).compute(), expected)


@pytest.mark.parametrize("average", ["macro", "weighted", "micro", None])
@pytest.mark.parametrize("name", SKLEARN)
def test_multilabel_matches_scikit_learn(name, average):
    for seed in SEEDS:
        generator = rng(seed)
        preds = tied(generator, size(generator) + 1, 3)
        target = torch.randint(0, 2, preds.shape, generator=generator)
        metric = streamed(ours(name, "multilabel", num_labels=3, average=average), preds, target, generator)
        assert is_close(metric.compute(), quietly(SKLEARN[name], target, preds, average=average))


def test_softmax_is_applied_to_all_batches_if_one_has_logits():
    generator = rng(2)
    logits = torch.randn((40, 3), generator=generator)
    logits[:20] = logits[:20].sigmoid()
    target = torch.randint(0, 3, (40,), generator=generator)
    metric = ours("AUROC", "multiclass", num_classes=3)
    metric.update(logits[:20], target[:20])
    metric.update(logits[20:], target[20:])
    expected = sk.roc_auc_score(target, logits.double().softmax(1), multi_class="ovr")
    assert is_close(metric.compute(), expected)
    plain = ours("AUROC", "multiclass", num_classes=3, from_logits=False, average=None)
    rest = [sk.roc_auc_score(target == k, logits[:, k]) for k in range(3)]
    assert is_close(plain(logits, target), rest)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.int64])
def test_scores_of_each_dtype_are_compared_as_they_are(dtype):
    generator = rng(4)
    preds = (torch.randn(50, generator=generator) * 40).to(dtype)
    target = torch.randint(0, 2, (50,), generator=generator)
    found = ours("AUROC", "binary", validate_args=dtype.is_floating_point)(preds, target)
    assert is_close(found, sk.roc_auc_score(target, preds.double()))


@pytest.mark.parametrize("name", SKLEARN)
def test_ignore_index(name):
    generator = rng(5)
    preds = distributions(generator, 60, 3)
    target = torch.randint(0, 3, (60,), generator=generator)
    target[::4] = -1
    kept = target >= 0
    found = ours(name, "multiclass", num_classes=3, ignore_index=-1)(preds, target)
    one_hot = label_binarize(target[kept], classes=range(3))
    assert is_close(found, SKLEARN[name](one_hot, preds[kept], average="macro"))
    binary = ours(name, "binary", ignore_index=-1)(preds[:, 0], target.clamp(max=1))
    assert is_close(binary, SKLEARN[name](target[kept].clamp(max=1), preds[kept, 0]))
    several = torch.stack([target, target.flip(0)], 1).clamp(max=1)
    for average in ("micro", "weighted", None):
        metric = ours(name, "multilabel", num_labels=2, ignore_index=-1, average=average)
        found = metric(preds[:, :2], several)
        counted = several >= 0
        each = [SKLEARN[name](several[counted[:, k], k], preds[counted[:, k], k]) for k in range(2)]
        support = (several == 1).sum(0).double()
        expected = {
            None: each,
            "micro": SKLEARN[name](several[counted], preds[:, :2][counted]),
            "weighted": (torch.tensor(each, dtype=torch.float64) * support).sum() / support.sum(),
        }
        assert is_close(found, expected[average])


def test_metric_keeps_a_copy_of_each_batch():
    preds, target = torch.tensor([0.1, 0.9]), torch.tensor([0, 1])
    metric = ours("AUROC", "binary")
    metric.update(preds, target)
    preds.fill_(0.5)
    target.fill_(0)
    assert metric.compute().item() == 1.0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_log_loss_matches_scikit_learn(dtype):
    tolerance = 1e-12 if dtype == torch.float64 else 1e-6
    for seed in SEEDS:
        generator = rng(seed)
        preds = distributions(generator, size(generator), 4)
        preds[0] = torch.tensor([0.0, 0.0, 1.0, 0.0])
        preds = preds.to(dtype)
        target = torch.randint(0, 4, (len(preds),), generator=generator)
        metric = streamed(ours("LogLoss", "multiclass", num_classes=4), preds, target, generator)
        assert is_close(metric.compute(), quietly(sk.log_loss, target, preds.numpy(), labels=range(4)), tolerance)
        scores, yes = preds[:, 0], target > 1
        metric = streamed(ours("LogLoss", "binary"), scores, yes, generator)
        assert is_close(metric.compute(), quietly(sk.log_loss, yes, scores.numpy(), labels=[0, 1]), tolerance)


def test_log_loss_of_logits_is_that_of_their_probabilities():
    generator = rng(6)
    logits = torch.randn((50, 3), generator=generator, dtype=torch.float64) * 3
    target = torch.randint(0, 3, (50,), generator=generator)
    found = function("log_loss")(logits, target, "multiclass", num_classes=3)
    assert is_close(found, sk.log_loss(target, logits.softmax(1)))
    binary = function("log_loss")(logits[:, 0], target > 0, "binary")
    assert is_close(binary, sk.log_loss(target > 0, logits[:, 0].sigmoid()))
    far = function("log_loss")(torch.tensor([800.0, -800.0]), torch.tensor([0, 0]), "binary")
    assert far.item() == 400.0
