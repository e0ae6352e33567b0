"""Behavior of all metrics: batches of any size, reset, states in files, collections."""

from __future__ import annotations

import pytest
from compare_metrics import is_close, ours, run, torch

COUNT = 60


def batch(seed=0):
    generator = torch.Generator().manual_seed(seed)
    scores = torch.rand((COUNT, 4), generator=generator, dtype=torch.float64)
    scores = (scores * 8).round() / 8 + 0.01
    return scores / scores.sum(1, keepdim=True), torch.randint(0, 4, (COUNT,), generator=generator)


PREDS, TARGET = batch()
CLASSES = {"task": "multiclass", "num_classes": 4}
# Metric, settings, preds, target, and whether sums are of integers, so that each split has exactly the same result.
METRICS = [
    ("Accuracy", {**CLASSES, "average": "macro"}, PREDS, TARGET, True),
    ("Accuracy", {**CLASSES, "top_k": 2}, PREDS, TARGET, True),
    ("Precision", {**CLASSES, "average": "weighted"}, PREDS, TARGET, True),
    ("Recall", {"task": "binary"}, PREDS[:, 0], TARGET > 1, True),
    ("F1Score", {"task": "multilabel", "num_labels": 4, "average": None}, PREDS, (PREDS.flip(0) > 0.3).long(), True),
    ("ConfusionMatrix", CLASSES, PREDS, TARGET, True),
    ("AUROC", {"task": "binary"}, PREDS[:, 0], TARGET > 1, True),
    ("AUROC", {**CLASSES, "average": "weighted"}, PREDS, TARGET, True),
    ("AveragePrecision", CLASSES, PREDS, TARGET, True),
    ("LogLoss", CLASSES, PREDS, TARGET, False),
    ("Perplexity", {}, PREDS, TARGET, False),
    ("MeanAbsoluteError", {}, PREDS[:, 0], PREDS[:, 1], False),
    ("MeanSquaredError", {"num_outputs": 4}, PREDS, PREDS.flip(0), False),
    ("R2Score", {"multioutput": "variance_weighted"}, PREDS, PREDS.flip(1), False),
    ("MeanMetric", {}, PREDS[:, 0], PREDS[:, 1], False),
]
each_metric = pytest.mark.parametrize(
    ("name", "settings", "preds", "target", "exact"), METRICS, ids=[f"{each[0]}{i}" for i, each in enumerate(METRICS)]
)


@each_metric
def test_any_split_into_batches_has_the_same_result(name, settings, preds, target, exact):
    whole = ours(name, **settings)(preds, target)
    for size in (1, 7, 59):
        metric = ours(name, **settings)
        for start in range(0, COUNT, size):
            metric.update(preds[start : start + size], target[start : start + size])
        assert is_close(metric.compute(), whole, 0 if exact else 1e-12)


@each_metric
def test_call_returns_the_value_of_its_batch(name, settings, preds, target, exact):
    metric = ours(name, **settings)
    first, second = metric(preds[:30], target[:30]), metric(preds[30:], target[30:])
    assert is_close(first, ours(name, **settings)(preds[:30], target[:30]), 0)
    assert is_close(second, ours(name, **settings)(preds[30:], target[30:]), 0)
    assert is_close(metric.compute(), ours(name, **settings)(preds, target))


@each_metric
def test_reset_clears_all_batches(name, settings, preds, target, exact):
    metric = ours(name, **settings)
    metric.update(preds[:30], target[:30])
    metric.reset()
    metric.update(preds[30:], target[30:])
    assert is_close(metric.compute(), ours(name, **settings)(preds[30:], target[30:]), 0)


FILES = run("use torch\nfn save(value, path): torch.save(value, path)\nfn load(path): torch.load(path)", name="files")


@each_metric
def test_state_is_saved_and_resumed(name, settings, preds, target, exact, tmp_path):
    metric = ours(name, **settings)
    metric.update(preds[:20], target[:20])
    metric.update(preds[20:30], target[20:30])
    FILES.save(metric.state_dict(), str(tmp_path / "metric.pt"))
    assert torch.load(tmp_path / "metric.pt", weights_only=True)["updates"] == 2
    other = ours(name, **settings)
    other.load_state_dict(FILES.load(str(tmp_path / "metric.pt")))
    for each in (metric, other):
        each.update(preds[30:], target[30:])
    assert is_close(other.compute(), metric.compute(), 0)


@each_metric
def test_rejected_batch_leaves_the_metric_unchanged(name, settings, preds, target, exact):
    metric = ours(name, **settings)
    metric.update(preds, target)
    before = metric.compute()
    wrong = preds.clone()
    wrong[3] = float("nan")
    with pytest.raises(RuntimeError, match=f"{name}: .* has [1-9] NaN of"):
        metric.update(wrong, target)
    assert is_close(metric.compute(), before, 0)
    assert metric.updates == 1


@each_metric
def test_compute_before_any_batch_is_an_error(name, settings, preds, target, exact):
    message = rf"{name}\.compute\(\) was called before update\(\); call update"
    metric = ours(name, **settings)
    with pytest.raises(RuntimeError, match=message):
        metric.compute()
    metric.update(preds, target)
    metric.reset()
    with pytest.raises(RuntimeError, match=message):
        metric.compute()


def test_state_is_a_copy():
    metric = ours("Accuracy", **CLASSES)
    metric.update(PREDS, TARGET)
    taken, value = metric.state_dict(), metric.compute()
    metric.update(PREDS, PREDS.argmax(1))
    other = ours("Accuracy", **CLASSES)
    other.load_state_dict(taken)
    assert is_close(other.compute(), value, 0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {**CLASSES, "num_classes": 5},
            r"the state belongs to Accuracy\(task=multiclass, num_classes=4.*this metric is",
        ),
        ({"task": "binary"}, r"create the metric with the arguments of the saved one"),
    ],
)
def test_state_with_other_settings_is_rejected(settings, message):
    with pytest.raises(RuntimeError, match=message):
        ours("Accuracy", **settings).load_state_dict(ours("Accuracy", **CLASSES).state_dict())


@pytest.mark.parametrize("invalid", [{"updates": 1}, [1], {"metric": "Accuracy", "state": {}}])
def test_invalid_state_is_rejected(invalid):
    with pytest.raises(RuntimeError, match=r"Accuracy\.load_state_dict\(\) expected a dict with"):
        ours("Accuracy", **CLASSES).load_state_dict(invalid)


def collection(prefix="", classes=4):
    parts = {
        "acc": ours("Accuracy", **CLASSES),
        "f1": ours("F1Score", "multiclass", num_classes=classes, average="macro"),
        "auc": ours("AUROC", **CLASSES),
    }
    return ours("MetricCollection", parts, prefix=prefix)


def test_collection_updates_all_metrics():
    metrics = collection("val_")
    first = metrics(PREDS[:30], TARGET[:30])
    metrics.update(PREDS[30:], TARGET[30:])
    found = metrics.compute()
    assert set(found) == set(first) == {"val_acc", "val_f1", "val_auc"}
    assert is_close(found["val_acc"], ours("Accuracy", **CLASSES)(PREDS, TARGET), 0)
    assert is_close(first["val_auc"], ours("AUROC", **CLASSES)(PREDS[:30], TARGET[:30]), 0)
    assert is_close(metrics["f1"].compute(), found["val_f1"], 0)
    assert "acc" in metrics
    assert len(metrics) == 3
    metrics.reset()
    with pytest.raises(RuntimeError, match="called before update"):
        metrics.compute()


def test_collection_of_an_array_uses_class_names():
    metrics = ours("MetricCollection", [ours("MeanSquaredError"), ours("MeanAbsoluteError")])
    assert set(metrics(PREDS, TARGET.unsqueeze(1).expand(-1, 4))) == {"MeanSquaredError", "MeanAbsoluteError"}
    with pytest.raises(RuntimeError, match="two metrics of class R2Score; name them"):
        ours("MetricCollection", [ours("R2Score"), ours("R2Score")])
    with pytest.raises(RuntimeError, match="acc must be a metric, got i64"):
        ours("MetricCollection", {"acc": 3})
    with pytest.raises(RuntimeError, match='no metric "f2"'):
        collection()["f2"]


def test_batch_rejected_by_one_metric_is_used_by_none():
    metrics = ours("MetricCollection", {"acc": ours("Accuracy", **CLASSES), "auc": ours("AUROC", **CLASSES)})
    metrics.update(PREDS, TARGET)
    with pytest.raises(RuntimeError, match="AUROC: preds must be scores"):
        metrics.update(TARGET, TARGET)
    assert metrics["acc"].updates == metrics["auc"].updates == 1


def test_collection_state_loads_into_another_collection():
    metrics, other = collection(), collection()
    metrics.update(PREDS, TARGET)
    other.load_state_dict(metrics.state_dict())
    assert {name: value.item() for name, value in other.compute().items()} == {
        name: value.item() for name, value in metrics.compute().items()
    }
    with pytest.raises(RuntimeError, match=r"expected states of \[acc, f1, auc\], got \[acc\]"):
        other.load_state_dict({"acc": 1})
    third = collection(classes=5)
    with pytest.raises(RuntimeError, match="the state belongs to F1Score"):
        third.load_state_dict(metrics.state_dict())
    assert third["acc"].updates == 0


def test_custom_metric_supports_everything():
    made = run(
        """
        use torch.metrics.{Metric}
        class LargestError(Metric):
            fn _measure(preds, target): {"errors": [(preds - target).abs()]}
            fn _value(state): state["errors"].map(\\e: e.max().item()).reduce(0.0, \\a, b: if a > b: a else: b)
        fn make(): LargestError()
        """,
        name="own_metric",
    )
    metric = made.make()
    assert metric(torch.tensor([1.0, 5.0]), torch.tensor([1.0, 2.0])) == 3.0
    metric.update(torch.tensor([1.0]), torch.tensor([2.0]))
    assert metric.compute() == 3.0
