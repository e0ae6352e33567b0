"""vision.utils.make_grid and save_image match torchvision."""

from __future__ import annotations

import pytest
from embedded_simple import run, torch

utils = pytest.importorskip("torchvision.utils", reason="this Python has no torchvision")
OURS = run(
    """
    use torch
    use vision.utils
    fn plain(value): if type_of(value) == "Object": value.to_value() else: value
    fn grid(images, options): utils.make_grid(plain(images), **plain(options))
    fn ranged(images, low, high): utils.make_grid(images, normalize: true, value_range: (low, high))
    fn save(images, path, options): utils.save_image(images, path, **plain(options))
    fn error(images): torch.attempt(\\: utils.make_grid(plain(images))).unwrap_err().message()
    """
)
OPTIONS = [
    {},
    {"nrow": 3},
    {"nrow": 2, "padding": 0},
    {"padding": 3, "pad_value": 0.5},
    {"normalize": True},
    {"normalize": True, "scale_each": True},
]


def images(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(len(shape)))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("shape", [(5, 3, 4, 6), (4, 1, 5, 5), (1, 3, 4, 4), (3, 4, 4), (1, 4, 4), (4, 6)], ids=str)
def test_grids_have_the_pixels_of_torchvision(shape, options):
    batch = images(*shape)
    assert OURS.grid(batch, options).equal(utils.make_grid(batch, **options))


def test_lists_and_ranges():
    batch = images(3, 3, 4, 4)
    assert OURS.grid(list(batch), {}).equal(utils.make_grid(list(batch)))
    assert OURS.ranged(batch, -1.0, 2.0).equal(utils.make_grid(batch, normalize=True, value_range=(-1.0, 2.0)))


@pytest.mark.parametrize("name", ["grid.png", "grid.bmp"])
def test_saved_images_have_the_pixels_of_torchvision(name, tmp_path):
    from PIL import Image
    from torchvision.transforms.functional import pil_to_tensor

    batch = images(5, 3, 4, 4).sigmoid()
    utils.save_image(batch, tmp_path / f"theirs_{name}", nrow=2)
    OURS.save(batch, str(tmp_path / name), {"nrow": 2})
    theirs, ours = (pil_to_tensor(Image.open(tmp_path / each)) for each in (f"theirs_{name}", name))
    assert ours.equal(theirs)


def test_other_values_are_rejected():
    assert OURS.error([1, 2]).startswith("tensor or list of tensors expected, got ")
    assert "expected images of 2 to 4 dimensions" in OURS.error(torch.ones(1, 2, 3, 4, 5))
