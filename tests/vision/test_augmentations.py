"""Rotations, color operations, noise and automatic augmentation match torchvision under the same seed."""

from __future__ import annotations

import compare_transforms
import pytest
from compare_transforms import IMAGES, assert_matches, assert_rejected, case, close, image, v2
from embedded_simple import run, torch

OURS = run(
    """
    use torch
    use vision.transforms as t
    use vision.transforms.functional as f
    fn plain(value): if type_of(value) == "Object": value.to_value() else: value
    fn rotated(image, angle, interpolation, expand, center, fill):
        f.rotate(image, angle, interpolation, expand, plain(center), fill)
    fn moved(image, angle, by, scale, shear, fill):
        f.affine(image, angle, plain(by), scale, plain(shear), "bilinear", fill)
    fn curved(image, gamma, gain): f.adjust_gamma(image, gamma, gain)
    fn swapped(image): f.permute_channels(image, [2, 0, 1])
    fn choices(image, times):
        val one = t.RandomChoice([t.RandomInvert(1.0), t.Pad(2), t.Resize(9)], p: [1.0, 2.0, 1.0])
        val all = t.RandomOrder([t.Pad(2), t.RandomRotation(30), t.RandomVerticalFlip()])
        [for _ in 0..times: all(one(image))]
    fn policy(name): t.AutoAugment(name).pairs
    fn policy_by_enum(): t.AutoAugment(t.AutoAugmentPolicy.CIFAR10).pairs
    fn choice_error(): torch.attempt(\\: t.RandomChoice([t.Pad(1)], p: [1.0, 2.0])).unwrap_err().message()
    """
)
CASES = [
    case("RandomRotation", 30),
    case("RandomRotation", [-200, 200], interpolation="bilinear", fill=0.5),
    case("RandomRotation", 90, expand=True, fill=1),
    case("RandomRotation", [90, 90]),
    case("RandomRotation", 45, center=[3, 7]),
    case("RandomAffine", 20),
    case("RandomAffine", 20, translate=[0.2, 0.3], scale=[0.5, 1.5], shear=10),
    case("RandomAffine", 0, shear=[-5, 5, -20, 20], interpolation="bilinear", fill=0.3, center=[1, 2]),
    case("RandomInvert"),
    case("RandomPosterize", 3),
    case("RandomPosterize", 0, p=1.0),
    case("RandomSolarize", 0.4, p=0.7),
    case("RandomAutocontrast"),
    case("RandomEqualize", 0.8),
    case("RandomAdjustSharpness", 2.5),
    case("RandomAdjustSharpness", 0, p=1.0),
    case("RandomChannelPermutation"),
    case("RandomPhotometricDistort"),
    case("GaussianNoise"),
    case("GaussianNoise", 0.1, 0.3, False),
    case("RandAugment"),
    case("RandAugment", 4, 30, interpolation="bilinear", fill=0.5),
    case("RandAugment", num_ops=3, magnitude=4, num_magnitude_bins=10),
    case("TrivialAugmentWide"),
    case("TrivialAugmentWide", 9, fill=[0.2]),
    case("AutoAugment"),
    *(case("AutoAugment", policy, interpolation="bilinear", fill=0.5) for policy in v2.AutoAugmentPolicy),
    case("AugMix"),
    case("AugMix", 10, 2, 2, alpha=0.3, all_ops=False, interpolation="nearest", fill=0.5),
]
AUTOMATIC = ["RandAugment", "TrivialAugmentWide", "AutoAugment", "AugMix"]
TURNED = ["RandomRotation", "RandomAffine", *AUTOMATIC]


@pytest.mark.parametrize("input_image", IMAGES.values(), ids=IMAGES)
@pytest.mark.parametrize(("name", "args", "named"), CASES)
def test_image_matches_torchvision(name, args, named, input_image):
    assert_matches(name, args, named, input_image)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", AUTOMATIC)
def test_every_operation_is_drawn(name, seed):
    assert_matches(name, [], {}, image(height=20 + seed))


@pytest.mark.parametrize("named", [{"alpha": -1.0}, {"alpha": 0.0}, {"mixture_width": 0}], ids=str)
def test_rejects_empty_mixtures(named):
    """torchvision returns NaN, or a darker image, for these."""
    assert compare_transforms.OURS.error_message("AugMix", [], named, image()).startswith(
        f"{next(iter(named))} should be"
    )


@pytest.mark.parametrize("policy", v2.AutoAugmentPolicy)
def test_policies_match_torchvision(policy):
    expected = [[tuple(step) for step in pair] for pair in v2.AutoAugment(policy)._policies]
    assert [[tuple(step) for step in pair] for pair in OURS.policy(policy.value)] == expected
    assert OURS.policy_by_enum() == OURS.policy("cifar10") != OURS.policy("svhn")


@pytest.mark.parametrize("name", TURNED)
def test_fill_colors(name):
    args = [] if name in TURNED[2:] else [60]
    assert_matches(name, args, {"fill": [9.0, 100.0, 250.0]}, image())


@pytest.mark.parametrize("name", ["RandomInvert", "RandomPosterize", "RandomAutocontrast"])
@pytest.mark.parametrize("dtype", [torch.int16, torch.int32])
def test_wide_integers(name, dtype):
    assert_matches(name, [3] if name == "RandomPosterize" else [], {"p": 1.0}, image(dtype))


@pytest.mark.parametrize("plain", [0, 7, 255])
@pytest.mark.parametrize("name", ["RandomEqualize", "RandomAutocontrast", "RandomAdjustSharpness"])
def test_images_of_one_color(name, plain):
    args = [2.0] if name == "RandomAdjustSharpness" else []
    assert_matches(name, args, {"p": 1.0}, torch.full((3, 5, 2 + plain % 9), plain, dtype=torch.uint8))


@pytest.mark.parametrize("angle", [0, 90, 180, 270, -90, 450, 33.3, -400.25])
@pytest.mark.parametrize("expand", [False, True])
@pytest.mark.parametrize("interpolation", ["nearest", "bilinear"])
def test_rotations(angle, expand, interpolation):
    for input_image in (image(), image(height=24, width=24), image(torch.float64)):
        named = {"interpolation": v2.InterpolationMode(interpolation), "expand": expand}
        expected = v2.functional.rotate(input_image, angle, **named)
        close(OURS.rotated(input_image, angle, interpolation, expand, None, None), expected)
        close(
            OURS.rotated(input_image, angle, interpolation, expand, [3, 4], 1),
            v2.functional.rotate(input_image, angle, center=[3, 4], fill=1, **named),
        )


def test_functions():
    input_image, f = image(), v2.functional
    expected = f.affine(input_image, 10, [2, -3], 1.3, [5.0], f.InterpolationMode.BILINEAR, 7)
    close(OURS.moved(input_image, 10, [2, -3], 1.3, [5.0], 7), expected)
    for gamma, gain in ((0.5, 1), (2.2, 1.5), (0, 1)):
        close(OURS.curved(input_image, gamma, gain), f.adjust_gamma(input_image, gamma, gain))
        close(OURS.curved(image(torch.float32), gamma, gain), f.adjust_gamma(image(torch.float32), gamma, gain))
    close(OURS.swapped(input_image), f.permute_channels(input_image, [2, 0, 1]))


def test_choices_and_orders():
    one = v2.RandomChoice([v2.RandomInvert(1.0), v2.Pad(2), v2.Resize(9)], p=[1.0, 2.0, 1.0])
    every = v2.RandomOrder([v2.Pad(2), v2.RandomRotation(30), v2.RandomVerticalFlip()])
    torch.manual_seed(4)
    expected = [every(one(image())) for _ in range(12)]
    torch.manual_seed(4)
    for ours, his in zip(OURS.choices(image(), 12), expected, strict=True):
        close(ours, his)
    assert OURS.choice_error() == "Length of p doesn't match the number of transforms: 2 != 1"


@pytest.mark.parametrize(
    ("name", "args", "named"),
    [
        ("RandomRotation", [-1], {}),
        ("RandomRotation", [[1, 2, 3]], {}),
        ("RandomRotation", [10], {"center": [1]}),
        ("RandomRotation", [10], {"interpolation": "bicubic"}),
        ("RandomRotation", [10], {"fill": [1.0, 2.0]}),
        ("RandomAffine", [10], {"translate": [0.1, 1.5]}),
        ("RandomAffine", [10], {"scale": [0.0, 1.0]}),
        ("RandomAffine", [10], {"shear": [1, 2, 3]}),
        ("RandomPosterize", [9], {"p": 1.0}),
        ("RandomSolarize", [256], {"p": 1.0}),
        ("RandomAdjustSharpness", [-1.0], {"p": 1.0}),
        ("GaussianNoise", [], {"sigma": -1.0}),
        ("RandAugment", [-1], {}),
        ("AutoAugment", ["imagenet21k"], {}),
        ("AugMix", [], {"severity": 11}),
        ("AugMix", [], {"severity": 0}),
    ],
    ids=str,
)
def test_rejects_the_same_as_torchvision(name, args, named):
    assert_rejected(name, args, named)
