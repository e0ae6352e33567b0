"""Inputs of convolutions, pools, norms, paddings, upsampling, dropout and embeddings."""

from __future__ import annotations

from itertools import product

import torch

from module_inputs import below, module, normal

LINE, IMAGE, VOLUME = normal(2, 4, 9), normal(2, 4, 7, 8), normal(1, 4, 5, 6, 5)
BY_DIMS = {1: LINE, 2: IMAGE, 3: VOLUME}
ALONE = {1: normal(4, 9), 2: normal(4, 7, 8), 3: normal(4, 5, 6, 5)}
NO_GRADIENT = normal(2, 4, 7, 8, requires_grad=False)


def positions(*shape: int, step: int = 2):
    """Indices as of a max pool with that step: each in its own window of the last dimension."""
    return lambda dtype: (torch.arange(shape[-1]) * step).expand(shape).clone()


def shared_indices(*values: int):
    return lambda dtype: torch.tensor(values)


def convolutions():
    for dims in (1, 2, 3):
        x = BY_DIMS[dims]
        for mode, padding in product(("zeros", "reflect", "replicate", "circular"), (2, "same", "valid")):
            yield module(f"Conv{dims}d", 4, 6, 3, padding=padding, dilation=2, padding_mode=mode).called(x)
        yield module(f"Conv{dims}d", 4, 6, 4, padding="same", bias=False).called(ALONE[dims])
        yield module(f"Conv{dims}d", 4, 6, 4, padding="same", padding_mode="replicate").called(x)
        yield module(f"Conv{dims}d", 4, 4, 3, 2, 1, 1, 4).called(x)
        for settings in (
            {"stride": 2, "output_padding": 1},
            {"groups": 2, "dilation": 2, "bias": False},
            {"padding": 1},
        ):
            yield module(f"ConvTranspose{dims}d", 4, 6, 3, **settings).called(x)
        yield module(f"ConvTranspose{dims}d", 4, 6, 3, 2).called(
            x, output_size=[[20], [16, 18], [12, 14, 12]][dims - 1]
        )
        yield module(f"LazyConv{dims}d", 6, 3, groups=2, padding=1, bias=False).called(ALONE[dims])
        yield module(f"LazyConvTranspose{dims}d", 6, 3, groups=2, padding=1).called(ALONE[dims])
    yield module("Conv2d", 4, 6, (3, 2), (2, 1), (1, 0), (1, 2), dtype=torch.float64).called(IMAGE)
    yield module("ConvTranspose2d", 4, 6, (3, 2), (2, 1)).called(IMAGE, (2, 6, 16, 9))


def pools():
    for dims in (1, 2, 3):
        x = BY_DIMS[dims]
        for ceil_mode in (False, True):
            yield module(f"MaxPool{dims}d", 3, 2, 1, 2, True, ceil_mode).called(x)
            yield module(f"MaxPool{dims}d", (2,) * dims, ceil_mode=ceil_mode).called(ALONE[dims])
            yield module(f"AvgPool{dims}d", 3, 2, 1, ceil_mode, False).called(x)
            yield module(f"LPPool{dims}d", 3, 2, ceil_mode=ceil_mode).called(x)
        yield module(f"LPPool{dims}d", float("inf"), 2).called(x)
        yield module(f"LPPool{dims}d", -float("inf"), 2, 1).called(x)
        for size in (3, (2,) * dims, (None, *(2,) * (dims - 1))):
            if dims > 1 or size != (None,):
                yield module(f"AdaptiveAvgPool{dims}d", size).called(x)
                yield module(f"AdaptiveMaxPool{dims}d", size, True).called(x)
    for dims in (2, 3):
        yield module(f"AvgPool{dims}d", 2, divisor_override=3).called(BY_DIMS[dims])
        yield module(f"FractionalMaxPool{dims}d", 2, output_ratio=0.6, return_indices=True).called(BY_DIMS[dims])
        yield module(f"FractionalMaxPool{dims}d", 2, (3,) * dims).called(ALONE[dims])
    yield module("MaxUnpool1d", 2).called(normal(2, 4, 4), positions(2, 4, 4))
    yield module("MaxUnpool1d", 2, 2).called(normal(2, 4, 4), positions(2, 4, 4), output_size=[9])
    yield module("MaxUnpool1d", [2], padding=0).called(normal(4, 4), positions(4, 4), (1, 4, 9))
    yield module("MaxUnpool2d", 2).called(normal(2, 4, 1, 4), positions(2, 4, 1, 4))
    yield module("MaxUnpool2d", (2, 3), (2, 2), (0, 1)).called(normal(2, 4, 1, 4), positions(2, 4, 1, 4, step=1))
    yield module("MaxUnpool3d", 2, 2).called(normal(2, 4, 1, 1, 4), positions(2, 4, 1, 1, 4), output_size=(2, 3, 9))


def norms():
    for dims in (1, 2, 3):
        x = BY_DIMS[dims]
        for settings in (
            {"momentum": None},
            {"affine": False},
            {"track_running_stats": False},
            {"eps": 0.5, "momentum": 0.3},
        ):
            yield module(f"BatchNorm{dims}d", 4, **settings).called(x)
            yield module(f"LazyBatchNorm{dims}d", **settings).called(x)
            yield module(f"LazyInstanceNorm{dims}d", **settings).called(x)
        for settings in (
            {"affine": True, "track_running_stats": True},
            {"momentum": None, "track_running_stats": True},
        ):
            yield module(f"InstanceNorm{dims}d", 4, **settings).called(x)
            yield module(f"InstanceNorm{dims}d", 4, **settings).called(ALONE[dims])
    yield module("BatchNorm1d", 4).called(normal(5, 4))
    for x in (normal(5, 4), LINE, IMAGE, VOLUME):
        yield module("SyncBatchNorm", 4).called(x)
        yield module("SyncBatchNorm", 4, momentum=None, affine=False).called(x)
    for settings in ({"size": 3}, {"size": 2, "alpha": 0.1, "beta": 0.5, "k": 2.0}, {"size": 5}):
        yield module("CrossMapLRN2d", **settings).called(normal(2, 6, 3, 4))
        yield module("LocalResponseNorm", **settings).called(VOLUME)
    yield module("RMSNorm", [7, 8], 0.1).called(IMAGE)
    yield module("LayerNorm", (7, 8), bias=False).called(IMAGE)
    yield module("GroupNorm", 2, 4, affine=False).called(IMAGE)


def paddings():
    for dims, kind in product((1, 2, 3), ("Reflection", "Replication", "Circular", "Zero", "Constant")):
        value = (1.5,) if kind == "Constant" else ()
        yield module(f"{kind}Pad{dims}d", 2, *value).called(BY_DIMS[dims])
        yield module(f"{kind}Pad{dims}d", [1, 2, 0, 1, 1, 0][: 2 * dims], *value).called(ALONE[dims])
    yield module("ZeroPad2d", (-1, 1, -2, 0)).called(IMAGE)


def upsampling():
    for mode in ("nearest", "nearest-exact", "area"):
        for x in (LINE, IMAGE, VOLUME):
            yield module("Upsample", scale_factor=1.7, mode=mode).called(x)
            yield module("Upsample", 11, mode=mode).called(x)
    for mode, x in (("linear", LINE), ("bilinear", IMAGE), ("bicubic", IMAGE), ("trilinear", VOLUME)):
        for corners in (False, True, None):
            yield module("Upsample", scale_factor=2, mode=mode, align_corners=corners).called(x)
            yield module("Upsample", 6, None, mode, corners).called(x)
        yield module("Upsample", scale_factor=1.3, mode=mode, recompute_scale_factor=True).called(x)
    yield module("Upsample", (3, 10)).called(IMAGE)
    yield module("Upsample", scale_factor=(2, 0.5), mode="bilinear").called(IMAGE)
    for name in ("UpsamplingNearest2d", "UpsamplingBilinear2d"):
        yield module(name, scale_factor=2).called(IMAGE)
        yield module(name, (5, 3)).called(IMAGE)


def rearrangements():
    yield module("PixelShuffle", 2).called(IMAGE)
    yield module("PixelUnshuffle", 2).called(normal(2, 3, 4, 6))
    yield module("ChannelShuffle", 2).called(IMAGE)
    yield module("Unfold", 3).called(IMAGE)
    yield module("Unfold", (3, 2), dilation=(1, 2), padding=1, stride=(2, 1)).called(normal(4, 7, 8))
    yield module("Fold", (7, 8), 3).called(normal(2, 18, 30))
    yield module("Fold", [7, 8], (3, 2), 1, (1, 0), 2).called(normal(12, 16))
    yield module("Flatten").called(IMAGE)
    yield module("Flatten", 0, 2).called(IMAGE)
    yield module("Unflatten", 1, (2, 2)).called(IMAGE)
    yield module("Unflatten", -1, [2, -1]).called(IMAGE)


def dropouts():
    names = ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout")
    inputs = {"Dropout1d": (LINE, ALONE[1]), "Dropout3d": (VOLUME, ALONE[3])}
    for name in names:
        for x, p in product(inputs.get(name, (IMAGE, LINE)), (0.0, 0.3, 0.5, 1.0, 1)):
            yield module(name, p).called(x)
        yield module(name).called(inputs.get(name, (IMAGE,))[0])
    for name in ("Dropout", "Dropout2d", "AlphaDropout"):
        yield module(name, 0.4, True).called(NO_GRADIENT)
    yield module("Dropout1d", 0.4, inplace=True).called(normal(4, 9, requires_grad=False))


def embeddings():
    indices = below(7, 3, 5)
    for settings in (
        {"padding_idx": 2},
        {"padding_idx": -1},
        {"max_norm": 1.0},
        {"max_norm": 0.5, "norm_type": 1.0},
        {"scale_grad_by_freq": True},
        {"sparse": True},
        {"_freeze": True},
    ):
        yield module("Embedding", 7, 4, **settings).called(indices)
    for settings in (
        *({"mode": mode} for mode in ("sum", "mean", "max")),
        {"padding_idx": 2},
        {"mode": "max", "padding_idx": -2},
        {"max_norm": 1.0, "norm_type": 1.0},
        {"scale_grad_by_freq": True},
        {"sparse": True, "mode": "sum"},
    ):
        yield module("EmbeddingBag", 7, 4, **settings).called(indices)
        yield module("EmbeddingBag", 7, 4, **settings).called(below(7, 9), shared_indices(0, 2, 2, 5))
    yield module("EmbeddingBag", 7, 4, mode="sum").called(indices, per_sample_weights=normal(3, 5))
    yield module("EmbeddingBag", 7, 4, include_last_offset=True).called(below(7, 9), shared_indices(0, 4, 9))


SAMPLES = [
    *convolutions(),
    *pools(),
    *norms(),
    *paddings(),
    *upsampling(),
    *rearrangements(),
    *dropouts(),
    *embeddings(),
]

# Inputs that both reject with the same message.
REJECTED = [
    module("Conv2d", 4, 6, 3).called(normal(2, 3, 7, 8)),
    module("Conv2d", 4, 6, 3).called(normal(2, 7)),
    module("Conv2d", 4, 6, 9).called(IMAGE),
    module("Conv2d", 4, 6, 3, groups=0).called(IMAGE),
    module("Conv2d", 4, 6, 3, groups=3).called(IMAGE),
    module("Conv2d", 3, 4, 3, groups=3).called(IMAGE),
    module("Conv2d", 4, 6, 3, 2, "same").called(IMAGE),
    module("Conv2d", 4, 6, 3, -1).called(IMAGE),
    module("Conv2d", 4, 6, -3).called(IMAGE),
    module("ConvTranspose2d", 4, 6, 3, padding_mode="reflect").called(IMAGE),
    module("ConvTranspose2d", 4, 6, 3, 2).called(IMAGE, output_size=[3, 3]),
    module("ConvTranspose2d", 4, 6, 3, 2).called(IMAGE, output_size=[3]),
    module("ConvTranspose2d", 4, 6, 3, output_padding=1).called(IMAGE),
    module("LazyConv2d", 6, 3).called(normal(2, 7)),
    module("LazyConv2d", 6, 3, groups=3).called(IMAGE),
    module("LazyConvTranspose2d", 6, 3, padding_mode="circular").called(IMAGE),
    module("MaxPool2d", 3, padding=2).called(IMAGE),
    module("MaxPool2d", 0).called(IMAGE),
    module("MaxPool2d", -2).called(IMAGE),
    module("MaxPool1d", 3).called(normal(7)),
    module("MaxUnpool2d", 2).called(normal(2, 4, 1, 4), positions(2, 4, 1, 4), output_size=[1]),
    module("MaxUnpool2d", 2).called(normal(2, 4, 1, 4), positions(2, 4, 1, 4), output_size=[2, 30]),
    module("AvgPool2d", 2, divisor_override=0).called(IMAGE),
    module("LPPool2d", 0, 2).called(IMAGE),
    module("AdaptiveAvgPool2d", (2, 2)).called(normal(4, 7)),
    module("AdaptiveAvgPool2d", (2, 2, 2)).called(normal(4, 7, 3)),
    module("FractionalMaxPool2d", 2).called(IMAGE),
    module("FractionalMaxPool2d", 2, 2, 0.5).called(IMAGE),
    module("FractionalMaxPool2d", 2, output_ratio=1.5).called(IMAGE),
    module("FractionalMaxPool3d", 0, 2).called(VOLUME),
    module("BatchNorm1d", 4).called(IMAGE),
    module("BatchNorm2d", 4).called(LINE),
    module("BatchNorm2d", 3).called(IMAGE),
    module("SyncBatchNorm", 4).called(normal(4)),
    module("InstanceNorm1d", 3, affine=True).called(LINE),
    module("InstanceNorm2d", 4).called(normal(5, 4)),
    module("InstanceNorm2d", 4).called(VOLUME),
    module("LazyBatchNorm2d").called(LINE),
    module("GroupNorm", 3, 4).called(IMAGE),
    module("LayerNorm", 5).called(IMAGE),
    module("RMSNorm", 5).called(IMAGE),
    module("LocalResponseNorm", 2).called(normal(4, 5)),
    module("CrossMapLRN2d", 2).called(LINE),
    module("ReflectionPad1d", 12).called(LINE),
    module("ReflectionPad2d", 2).called(normal(3, 3)),
    module("CircularPad2d", 2).called(VOLUME),
    module("CircularPad1d", 20).called(LINE),
    module("Upsample").called(IMAGE),
    module("Upsample", 3, 2.0).called(IMAGE),
    module("Upsample", (3, 3, 3)).called(IMAGE),
    module("Upsample", scale_factor=(2.0, 2.0, 2.0)).called(IMAGE),
    module("Upsample", 3, mode="bilinear").called(LINE),
    module("Upsample", 3, mode="linear").called(IMAGE),
    module("Upsample", 3, mode="bicubic").called(LINE),
    module("Upsample", 3, align_corners=True).called(IMAGE),
    module("Upsample", 3, recompute_scale_factor=True).called(IMAGE),
    module("PixelShuffle", 3).called(IMAGE),
    module("Unflatten", 1, (3, 3)).called(IMAGE),
    module("Unflatten", 1, (2, 2.5)).called(IMAGE),
    module("Unflatten", 1, 3).called(IMAGE),
    module("Dropout", 1.5).called(IMAGE),
    module("Dropout2d", -0.1).called(IMAGE),
    module("Dropout1d").called(IMAGE),
    module("Embedding", 7, 4, 7).called(below(7, 3)),
    module("Embedding", 2, 4).called(shared_indices(5)),
    module("Embedding", 2, 4).called(normal(3)),
    module("EmbeddingBag", 7, 4, padding_idx=-8).called(below(7, 3, 2)),
    module("EmbeddingBag", 7, 4).called(below(7, 3)),
    module("EmbeddingBag", 7, 4).called(below(7, 3, 2), shared_indices(0)),
    module("EmbeddingBag", 7, 4, mode="max", sparse=True).called(below(7, 3, 2)),
    module("EmbeddingBag", 7, 4, mode="max", scale_grad_by_freq=True).called(below(7, 3, 2)),
    module("EmbeddingBag", 7, 4, mode="median").called(below(7, 3, 2)),
    module("EmbeddingBag", 7, 4).called(below(7, 3, 2), per_sample_weights=normal(3, 2)),
]
