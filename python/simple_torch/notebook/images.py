"""Tensors as images, and grids of them, in PNG."""

from __future__ import annotations

import ctypes
import math
from io import BytesIO

import torch

_PADDING = 2


def png(tensor: torch.Tensor, *, columns: int | None = None, rescale: bool = False, scale: int = 1) -> bytes:
    """Return a tensor as a PNG image.

    Args:
        tensor: [H, W], [1, H, W] or [3, H, W]; or a batch of images, [N, 1, H, W] or [N, 3, H, W], which makes a grid.
            uint8, or floating point from 0 to 1.
        columns: the number of images in a row of the grid; by default the grid is about square.
        rescale: map the smallest value to black and the largest to white.
        scale: the width and height of the square that shows a pixel.

    Raises:
        TypeError: the argument is no tensor, or its dtype is not uint8 or floating point.
        ImportError: Pillow is missing.
        ValueError: the shape is none of these, a value is not in [0, 1], or `columns` or `scale` is not positive.
    """
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"image: argument must be a tensor, not {type(tensor).__name__}")
    pixels = _as_bytes(tensor.detach(), rescale)
    if pixels.dim() == 2:
        pixels = pixels.unsqueeze(0)
    if scale < 1:
        raise ValueError(f"image: scale must be positive, got {scale}")
    if pixels.dim() in (3, 4):
        pixels = pixels.repeat_interleave(scale, -1).repeat_interleave(scale, -2)
    if pixels.dim() == 4:
        pixels = _grid(pixels, columns)
    if pixels.dim() != 3 or pixels.shape[0] not in (1, 3) or pixels.numel() == 0:
        raise ValueError(
            f"image: shape must be [H, W], [1, H, W], [3, H, W], or a batch [N, 1 or 3, H, W], got {list(tensor.shape)}"
        )
    return _encode(pixels)


def _as_bytes(tensor: torch.Tensor, rescale: bool) -> torch.Tensor:
    if tensor.dtype == torch.uint8 and not rescale:
        return tensor.cpu()
    if not (tensor.is_floating_point() or tensor.dtype == torch.uint8):
        raise TypeError(f"image: dtype must be uint8 or floating point, got {tensor.dtype}")
    values = tensor.cpu().to(torch.float64)
    if values.numel() == 0:
        return values.to(torch.uint8)
    low, high = values.min().item(), values.max().item()
    if rescale:
        values = (values - low) / (high - low or 1.0)
    elif not (low >= 0.0 and high <= 1.0):  # also for NaN
        raise ValueError(
            f"image: values must be in [0, 1], got {low:.4g} to {high:.4g}; "
            "pass rescale: true (in Python rescale=True) to map them to it"
        )
    return (values * 255.0).round().to(torch.uint8)


def _grid(images: torch.Tensor, columns: int | None) -> torch.Tensor:
    """As torchvision.utils.make_grid, whose import takes seconds."""
    count, channels, height, width = images.shape
    if columns is not None and columns < 1:
        raise ValueError(f"image: columns must be positive, got {columns}")
    across = min(columns or math.ceil(math.sqrt(count)), count) or 1
    down = -(-count // across)
    step_y, step_x = height + _PADDING, width + _PADDING
    grid = torch.full((channels, down * step_y - _PADDING, across * step_x - _PADDING), 255, dtype=torch.uint8)
    for i in range(count):
        top, left = i // across * step_y, i % across * step_x
        grid[:, top : top + height, left : left + width] = images[i]
    return grid


def _encode(pixels: torch.Tensor) -> bytes:
    """Encode uint8 pixels of [1 or 3, H, W]."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("image: Pillow is missing; install it with 'pip install pillow'") from error
    channels, height, width = pixels.shape
    rows = pixels.permute(1, 2, 0).contiguous()
    values = ctypes.string_at(rows.data_ptr(), rows.numel())
    content = BytesIO()
    Image.frombytes("L" if channels == 1 else "RGB", (width, height), values).save(content, format="PNG")
    return content.getvalue()
