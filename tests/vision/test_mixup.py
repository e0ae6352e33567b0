"""MixUp and CutMix mix batches as torchvision does, with the same random numbers."""

from __future__ import annotations

import re

import pytest
from embedded_simple import run, torch

v2 = pytest.importorskip("torchvision.transforms.v2", reason="this Python has no torchvision")
OURS = run(
    """
    use torch
    use torch.utils.data.{DataLoader, TensorDataset, default_collate}
    use vision.transforms as t
    fn made(name, alpha, classes): if name == "MixUp": t.MixUp(alpha, classes) else: t.CutMix(alpha, classes)
    fn mixed(name, alpha, classes, images, labels, times):
        val mix = made(name, alpha, classes)
        [for _ in 0..times: mix(images, labels)]
    fn loaded(name, images, labels):
        val mix = made(name, 1.0, 5)
        val rows = TensorDataset(images, labels)
        val loader = DataLoader(rows, batch_size: 4, collate_fn: \\rows: mix(default_collate(rows)))
        [for batch in loader: batch]
    fn error_message(name, alpha, classes, images, labels):
        torch.attempt(\\: made(name, alpha, classes)(images, labels)).unwrap_err().message()
    """
)
LABELS = torch.tensor([0, 3, 1, 4, 2, 2])


def batch(dtype=torch.float32):
    return torch.rand(6, 3, 9, 14, generator=torch.Generator().manual_seed(5)).to(dtype)


@pytest.mark.parametrize("name", ["MixUp", "CutMix"])
@pytest.mark.parametrize("alpha", [1.0, 0.2, 5.0])
@pytest.mark.parametrize("shares", [False, True])
def test_mixup_matches_torchvision(name, alpha, shares):
    labels = torch.nn.functional.one_hot(LABELS, 5) if shares else LABELS
    theirs = getattr(v2, name)(alpha=alpha, num_classes=5)
    torch.manual_seed(8)
    expected = [theirs(batch(), labels) for _ in range(10)]
    state = torch.get_rng_state()
    torch.manual_seed(8)
    found = OURS.mixed(name, alpha, 5, batch(), labels, 10)
    assert torch.equal(torch.get_rng_state(), state)
    for ours, his in zip(found, expected, strict=True):
        for mine, other in zip(ours, his, strict=True):
            assert mine.dtype == other.dtype
            assert torch.allclose(mine, other, rtol=0, atol=1e-6)


def test_cutmix_of_bytes():
    images = (batch() * 255).to(torch.uint8)
    theirs = v2.CutMix(num_classes=5)
    torch.manual_seed(9)
    expected = theirs(images, LABELS)
    torch.manual_seed(9)
    ((ours, labels),) = OURS.mixed("CutMix", 1.0, 5, images, LABELS, 1)
    assert torch.equal(ours, expected[0])
    assert torch.allclose(labels, expected[1])


@pytest.mark.parametrize("name", ["MixUp", "CutMix"])
def test_in_a_loader(name):
    theirs = getattr(v2, name)(num_classes=5)
    rows = torch.utils.data.TensorDataset(batch(), LABELS)

    def collate(samples):
        return theirs(*torch.utils.data.default_collate(samples))

    torch.manual_seed(10)
    expected = list(torch.utils.data.DataLoader(rows, 4, collate_fn=collate))
    torch.manual_seed(10)
    for ours, his in zip(OURS.loaded(name, batch(), LABELS), expected, strict=True):
        assert all(torch.allclose(mine, other, rtol=0, atol=1e-6) for mine, other in zip(ours, his, strict=True))


@pytest.mark.parametrize("name", ["MixUp", "CutMix"])
@pytest.mark.parametrize(
    ("classes", "images", "labels"),
    [
        (None, batch(), LABELS),
        (5, batch()[0], LABELS),
        (5, batch()[:4], LABELS),
        (4, batch(), torch.ones(6, 5)),
        (5, batch(), torch.ones(6, 5, 1)),
    ],
    ids=["no number of classes", "one image", "fewer images", "other classes", "labels of rank 3"],
)
def test_rejects_the_same_as_torchvision(name, classes, images, labels):
    with pytest.raises(ValueError) as error:
        getattr(v2, name)(num_classes=classes)((images, labels))
    ours = OURS.error_message(name, 1.0, classes, images, labels)
    words = set(re.findall(r"[a-z]{4,}", str(error.value)))
    assert len(words & set(re.findall(r"[a-z]{4,}", ours))) >= len(words) // 2, (ours, str(error.value))


def test_alpha_must_be_positive():
    assert OURS.error_message("MixUp", 0, 5, batch(), LABELS) == "alpha should be positive, got 0"


def test_labels_must_be_a_tensor():
    assert OURS.error_message("CutMix", 1.0, 5, batch(), 3) == "The labels must be a tensor, but got i64 instead."
