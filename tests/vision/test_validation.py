"""Transforms reject invalid sizes and collections when they are created."""

from __future__ import annotations

import pytest
from embedded_simple import run, torch

v2 = pytest.importorskip("torchvision.transforms.v2", reason="this Python has no torchvision")
OURS = run(
    """
    use torch
    use vision.transforms as t
    fn message_of(work):
        match torch.attempt(work).unwrap_err():
            case torch.TorchError.InvalidArgument(message): message
            case other: "another: " + other.message()
    fn resize(size): message_of(\\: t.Resize(plain(size)))
    fn resized(image, size): message_of(\\: t.functional.resize(image, plain(size)))
    fn center_crop(size): message_of(\\: t.CenterCrop(plain(size)))
    fn center_cropped(image, size): message_of(\\: t.functional.center_crop(image, plain(size)))
    fn random_crop(image, size): message_of(\\: t.RandomCrop(plain(size))(image))
    fn blur(size): message_of(\\: t.GaussianBlur(plain(size)))
    fn blurred(image, size): message_of(\\: t.functional.gaussian_blur(image, plain(size)))
    fn of_one(name):
        match name:
            case "Compose": message_of(\\: t.Compose(t.Resize(3)))
            case "RandomApply": message_of(\\: t.RandomApply(t.Resize(3)))
            case "RandomChoice": message_of(\\: t.RandomChoice(t.Resize(3)))
            case "RandomOrder": message_of(\\: t.RandomOrder(t.Resize(3)))
    fn of_no_image(value): message_of(\\: t.Compose([t.ToImage(), t.RandomHorizontalFlip()])(value))
    fn of_its_own(): message_of(\\: Unfinished()(torch.ones([3, 2, 2])))
    fn sometimes(value): t.RandomApply([t.Lambda(\\x: x + 1)], p: 1.0)(value)
    class Unfinished(t.Transform):
        pass
    fn plain(value): if type_of(value) == "Object": value.to_value() else: value
    """
)
IMAGE = torch.rand(3, 6, 5)


@pytest.mark.parametrize("size", ["5", 2.5, [1, 2, 3], [], [2.5, 3], ["a"], 0, -1, [4, -1]], ids=str)
def test_resize_size_must_be_one_or_two_integers(size):
    assert "size can be an integer, a sequence of one or two integers, or None, but got" in OURS.resize(size)
    assert OURS.resized(IMAGE, size) == OURS.resize(size)


@pytest.mark.parametrize("size", ["5", 2.5, [1, 2, 3], -1, [4, -1], None], ids=str)
def test_crop_size_must_be_one_or_two_integers(size):
    for message in (OURS.center_crop(size), OURS.center_cropped(IMAGE, size), OURS.random_crop(IMAGE, size)):
        assert "size must be " in message


@pytest.mark.parametrize("size", [3.5, 3.0, [3, 2.5], 4, 0, -3], ids=str)
def test_kernel_size_must_be_odd(size):
    if isinstance(size, int):  # torchvision accepts fractions of pixels
        with pytest.raises((ValueError, TypeError)):
            v2.GaussianBlur(size)(IMAGE)
    assert OURS.blur(size) == "Kernel size value should be an odd and positive number."
    assert "kernel_size should have odd and positive integers" in OURS.blurred(IMAGE, size)


@pytest.mark.parametrize("name", ["Compose", "RandomApply", "RandomChoice", "RandomOrder"])
def test_transforms_must_be_a_sequence(name):
    with pytest.raises(TypeError, match="Argument transforms should be a sequence of callables"):
        getattr(v2, name)(v2.Resize(3))
    assert OURS.of_one(name).startswith("Argument transforms should be a sequence of callables")


def test_image_must_be_a_tensor():
    """torchvision accepts Pillow's images, and returns paths and numbers unchanged."""
    message = "ToImage: expected an image, a tensor [..., channels, height, width], got "
    assert OURS.of_no_image("a.png") == message + "text; read a file with vision.io.read_image(path)"
    assert OURS.of_no_image(object()).startswith(message + "Object; convert a Pillow image with torchvision.")
    assert OURS.of_no_image(5) == message + "i64"
    assert OURS.sometimes(5) == 6


def test_custom_transform_needs_a_transform_method():
    assert OURS.of_its_own() == "another: Unfinished: transform(image) is not implemented"
