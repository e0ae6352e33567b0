"""Brightness, contrast, saturation and hue, which are native loops, match torchvision for every memory layout."""

from __future__ import annotations

import pytest
from embedded_simple import run, torch

v2 = pytest.importorskip("torchvision.transforms.v2", reason="this Python has no torchvision")
OURS = run(
    """
    use vision.transforms.functional as f
    fn brightness(image, factor): f.adjust_brightness(image, factor)
    fn contrast(image, factor): f.adjust_contrast(image, factor)
    fn saturation(image, factor): f.adjust_saturation(image, factor)
    fn hue(image, factor): f.adjust_hue(image, factor)
    """
)
FACTORS = [0.0, 0.3, 0.6217, 1.0, 1.3317, 2.5]
TURNS = [-0.5, -0.31, 0.0, 0.07, 0.25, 0.5]
ASPECTS = {"brightness": FACTORS, "contrast": FACTORS, "saturation": FACTORS, "hue": TURNS}


def drawn(*sizes: int) -> torch.Tensor:
    return torch.randint(0, 256, sizes, generator=torch.Generator().manual_seed(1), dtype=torch.uint8)


def every_ninth() -> torch.Tensor:
    levels = torch.arange(0, 256, 9)
    return torch.cartesian_prod(levels, levels, levels).T.reshape(3, 29 * 29, 29).to(torch.uint8)


IMAGES = {
    "all colors": every_ninth(),
    "rows longer than what is worked on at once": drawn(3, 3, 1021),
    "channels side by side": drawn(101, 67, 3).permute(2, 0, 1),
    "a part": drawn(3, 64, 64)[:, 5:50, 7:40],
    "every other column": drawn(3, 40, 60)[..., ::2],
    "videos": drawn(2, 3, 3, 37, 5),
    "one pixel": drawn(3, 1, 1),
    "no pixel": drawn(3, 0, 4),
}


@pytest.mark.parametrize("aspect", ASPECTS)
@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32, torch.float64])
@pytest.mark.parametrize("name", IMAGES)
def test_pixels_match_torchvision(aspect, dtype, name):
    input_image = v2.functional.to_dtype(IMAGES[name], dtype, scale=True)
    for factor in ASPECTS[aspect]:
        expected = getattr(v2.functional, f"adjust_{aspect}")(input_image, factor)
        found = getattr(OURS, aspect)(input_image, factor)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        if dtype == torch.uint8:
            assert torch.equal(found, expected), factor
        else:
            assert torch.allclose(found, expected, rtol=0, atol=1e-6), factor


@pytest.mark.parametrize("aspect", ASPECTS)
def test_floats_out_of_range(aspect):
    input_image = torch.rand(3, 40, 30, generator=torch.Generator().manual_seed(2)) * 1.5 - 0.2
    expected = getattr(v2.functional, f"adjust_{aspect}")(input_image, 0.4)
    assert torch.allclose(getattr(OURS, aspect)(input_image, 0.4), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("aspect", ASPECTS)
def test_floats_that_are_not_finite(aspect, value):
    input_image = torch.rand(3, 20, 30, generator=torch.Generator().manual_seed(4))
    for channel in range(3):
        input_image[channel, 3 * channel, 4 : 6 + channel] = value
    input_image[:, 15, 7] = value
    for factor in [0.4, -0.3] if aspect == "hue" else [0.0, 0.4, 1.3]:
        expected = getattr(v2.functional, f"adjust_{aspect}")(input_image, factor)
        found = getattr(OURS, aspect)(input_image, factor)
        assert torch.allclose(found, expected, rtol=0, atol=1e-6, equal_nan=True), factor


@pytest.mark.parametrize("aspect", ["brightness", "contrast", "saturation"])
def test_gradients_match_torchvision(aspect):
    def gradient(adjust):
        image = torch.rand(3, 6, 5, generator=torch.Generator().manual_seed(3)).requires_grad_()
        adjust(image, 0.7).square().sum().backward()
        return image.grad

    assert torch.equal(gradient(getattr(OURS, aspect)), gradient(getattr(v2.functional, f"adjust_{aspect}")))
