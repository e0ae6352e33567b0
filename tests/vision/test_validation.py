"""Transforms reject invalid sizes and collections when they are created."""

from __future__ import annotations

import pytest
from embedded_simple import run, torch

v2 = pytest.importorskip("torchvision.transforms.v2", reason="this Python has no torchvision")
OURS = run(
    """
    use torch
    use vision.transforms as t
    fn told(work):
        match torch.attempt(work).unwrap_err():
            case torch.TorchError.InvalidArgument(message): message
            case other: "another: " + other.message()
    fn resize(size): told(\\: t.Resize(plain(size)))
    fn resized(picture, size): told(\\: t.functional.resize(picture, plain(size)))
    fn center_crop(size): told(\\: t.CenterCrop(plain(size)))
    fn center_cropped(picture, size): told(\\: t.functional.center_crop(picture, plain(size)))
    fn random_crop(picture, size): told(\\: t.RandomCrop(plain(size))(picture))
    fn blur(size): told(\\: t.GaussianBlur(plain(size)))
    fn blurred(picture, size): told(\\: t.functional.gaussian_blur(picture, plain(size)))
    fn of_one(name):
        match name:
            case "Compose": told(\\: t.Compose(t.Resize(3)))
            case "RandomApply": told(\\: t.RandomApply(t.Resize(3)))
            case "RandomChoice": told(\\: t.RandomChoice(t.Resize(3)))
            case "RandomOrder": told(\\: t.RandomOrder(t.Resize(3)))
    fn of_no_picture(value): told(\\: t.Compose([t.ToImage(), t.RandomHorizontalFlip()])(value))
    fn of_its_own(): told(\\: Unfinished()(torch.ones([3, 2, 2])))
    fn sometimes(value): t.RandomApply([t.Lambda(\\x: x + 1)], p: 1.0)(value)
    class Unfinished(t.Transform):
        pass
    fn plain(value): if type_of(value) == "Object": value.to_value() else: value
    """
)
PICTURE = torch.rand(3, 6, 5)


@pytest.mark.parametrize("size", ["5", 2.5, [1, 2, 3], [], [2.5, 3], ["a"], 0, -1, [4, -1]], ids=str)
def test_resize_size_must_be_one_or_two_integers(size):
    assert "size can be an integer, a sequence of one or two integers, or None, but got" in OURS.resize(size)
    assert OURS.resized(PICTURE, size) == OURS.resize(size)


@pytest.mark.parametrize("size", ["5", 2.5, [1, 2, 3], -1, [4, -1], None], ids=str)
def test_crop_size_must_be_one_or_two_integers(size):
    for told in (OURS.center_crop(size), OURS.center_cropped(PICTURE, size), OURS.random_crop(PICTURE, size)):
        assert "size is one " in told


@pytest.mark.parametrize("size", [3.5, 3.0, [3, 2.5], 4, 0, -3], ids=str)
def test_kernel_size_must_be_odd(size):
    if isinstance(size, int):  # torchvision accepts fractions of pixels
        with pytest.raises((ValueError, TypeError)):
            v2.GaussianBlur(size)(PICTURE)
    assert OURS.blur(size) == "Kernel size value should be an odd and positive number."
    assert "kernel_size should have odd and positive integers" in OURS.blurred(PICTURE, size)


@pytest.mark.parametrize("name", ["Compose", "RandomApply", "RandomChoice", "RandomOrder"])
def test_transforms_must_be_a_sequence(name):
    with pytest.raises(TypeError, match="Argument transforms should be a sequence of callables"):
        getattr(v2, name)(v2.Resize(3))
    assert OURS.of_one(name).startswith("Argument transforms should be a sequence of callables")


def test_image_must_be_a_tensor():
    """torchvision accepts Pillow's images, and returns paths and numbers unchanged."""
    told = "ToImage takes a picture, a tensor [..., channels, height, width], not "
    assert OURS.of_no_picture("a.png") == told + "text; vision.io.read_image(path) reads one"
    assert OURS.of_no_picture(object()).startswith(told + "Object; a picture of Pillow's becomes one by torchvision.")
    assert OURS.of_no_picture(5) == told + "i64"
    assert OURS.sometimes(5) == 6


def test_custom_transform_needs_a_transform_method():
    assert OURS.of_its_own() == "another: Unfinished has no transform(image)"
