"""A Simple transform and torchvision's on the same images, under the same seed."""

from __future__ import annotations

import re
from enum import Enum

import pytest
from embedded_simple import run, torch

v2 = pytest.importorskip("torchvision.transforms.v2", reason="this Python has no torchvision")

NAMES = [
    *("Resize", "CenterCrop", "Pad", "RandomCrop", "RandomResizedCrop", "RandomHorizontalFlip", "RandomVerticalFlip"),
    *("ToDtype", "Normalize", "Grayscale", "RandomGrayscale", "ColorJitter", "GaussianBlur", "RandomErasing"),
    *("RandomRotation", "RandomAffine", "RandomInvert", "RandomPosterize", "RandomSolarize", "RandomAutocontrast"),
    *("RandomEqualize", "RandomAdjustSharpness", "RandomChannelPermutation", "RandomPhotometricDistort"),
    *("GaussianNoise", "RandAugment", "TrivialAugmentWide", "AutoAugment", "AugMix", "ToImage"),
]
OURS = run(
    """
    use torch
    use vision.transforms as t
    use torch.dtype.{dtype_of_name}
    fn plain(value): if type_of(value) == "Object": value.to_value() else: value
    fn made(name, args, named):
        val options = plain(named)
        val input_image = plain(args)
        if "dtype" in options: options["dtype"] = dtype_of_name(options["dtype"])
        match name:
"""
    + "\n".join(f'            case "{name}": t.{name}(input_image..., **options)' for name in NAMES)
    + """
    fn called(name, args, named, image, times):
        val transform = made(name, args, named)
        [for _ in 0..times: transform(image)]
    fn error_message(name, args, named, image):
        val outcome = torch.attempt(\\: made(name, args, named)(image))
        if outcome.is_ok(): "" else: outcome.unwrap_err().message()
    """
)
TIMES = 8


def image(dtype=torch.uint8, channels=3, height=37, width=29, interleaved=False):
    generator = torch.Generator().manual_seed(height)
    bytes_of = torch.randint(0, 256, (channels, height, width), generator=generator, dtype=torch.uint8)
    bytes_of = bytes_of.permute(1, 2, 0).contiguous().permute(2, 0, 1) if interleaved else bytes_of
    return v2.functional.to_dtype(bytes_of, dtype, scale=True)


IMAGES = {
    "bytes": image(),
    "interleaved bytes": image(interleaved=True),
    "floats": image(torch.float32),
    "doubles": image(torch.float64),
    "gray": image(channels=1),
    "wide": image(height=20, width=90),
    "batch": torch.stack([image(), image(height=37)]),
}


def close(ours, his):
    assert (ours.dtype, ours.shape) == (his.dtype, his.shape)
    if ours.dtype.is_floating_point:
        assert torch.allclose(ours, his, rtol=0, atol=1e-5)
    else:
        assert torch.equal(ours, his)


def plain(value):
    """Dtypes and enum members by the names that Simple accepts."""
    return value.value if isinstance(value, Enum) else dtype_name(value) if isinstance(value, torch.dtype) else value


def dtype_name(dtype) -> str:
    return str(dtype).removeprefix("torch.")


def theirs_made(name, args, named):
    """torchvision's transform. An interpolation name becomes its enum, because torchvision 0.26 accepts no string."""
    if "interpolation" in named:
        named = {**named, "interpolation": v2.InterpolationMode(named["interpolation"])}
    return getattr(v2, name)(*args, **named)


def assert_matches(name, args, named, input_image):
    theirs = theirs_made(name, args, named)
    torch.manual_seed(11)
    expected = [theirs(input_image) for _ in range(TIMES)]
    state = torch.get_rng_state()
    torch.manual_seed(11)
    found = OURS.called(
        name, [plain(value) for value in args], {key: plain(named[key]) for key in named}, input_image, TIMES
    )
    assert torch.equal(torch.get_rng_state(), state)
    for ours, his in zip(found, expected, strict=True):
        close(ours, his)


def case(name, *args, **named):
    shown = ",".join([*map(str, args), *(f"{key}={value}" for key, value in named.items())])
    return pytest.param(name, args, named, id=f"{name}({shown})")


def assert_rejected(name, args, named):
    """torchvision rejects the case, and at least half of its words are in our message."""
    with pytest.raises((ValueError, TypeError)) as error:
        theirs_made(name, args, named)(image())
    ours = OURS.error_message(name, args, named, image())
    assert ours
    words = set(re.findall(r"[a-z]{4,}", str(error.value)))
    assert len(words & set(re.findall(r"[a-z]{4,}", ours))) >= len(words) // 2, (ours, str(error.value))
