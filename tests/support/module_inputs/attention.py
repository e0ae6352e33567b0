"""Inputs of attention and transformers: both kinds of masks, custom sizes, a single sample, and errors."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from module_runs import recorded_inits

from module_inputs import Given, module, normal

F = torch.nn.functional
causal = torch.nn.Transformer.generate_square_subsequent_mask


def once(make: Callable[[torch.dtype], torch.Tensor]) -> Callable[[torch.dtype], torch.Tensor]:
    """The same tensor at each use."""
    return cache(make)


def bools(*shape: int) -> Callable[[torch.dtype], torch.Tensor]:
    """A mask with few masked elements, and never the first."""

    def make(dtype: torch.dtype) -> torch.Tensor:
        mask = torch.rand(shape) < 0.3
        mask[..., 0] = False
        return mask

    return make


def steps(size: int) -> Callable[[torch.dtype], torch.Tensor]:
    return lambda dtype: causal(size, dtype=dtype)


def of_heads() -> list[Given]:
    plain = module("MultiheadAttention", 8, 2)
    batches = (normal(5, 3, 8), normal(6, 3, 8), normal(6, 3, 8))
    x = once(normal(5, 3, 8))
    memory = once(normal(6, 3, 8))
    apart = module("MultiheadAttention", 8, 4, dropout=0.4, kdim=3, vdim=7, add_bias_kv=True, add_zero_attn=True)
    return [
        plain.called(x, x, x),
        plain.called(x, memory, memory),
        plain.called(*batches),
        plain.called(*batches, need_weights=False),
        plain.called(*batches, average_attn_weights=False, key_padding_mask=bools(3, 6)),
        plain.called(*batches, attn_mask=bools(5, 6), need_weights=False),
        plain.called(*batches, attn_mask=normal(6, 5, 6), key_padding_mask=bools(3, 6), need_weights=False),
        plain.called(x, x, x, attn_mask=steps(5), is_causal=True),
        plain.called(x, x, x, attn_mask=steps(5), is_causal=True, need_weights=False),
        plain.called(x, x, x, attn_mask=steps(5), is_causal=True, need_weights=False, key_padding_mask=bools(3, 5)),
        plain.called(normal(5, 8), normal(6, 8), normal(6, 8), key_padding_mask=bools(6)),
        plain.called(normal(5, 8), normal(6, 8), normal(6, 8), attn_mask=bools(2, 5, 6), need_weights=False),
        apart.called(normal(5, 3, 8), normal(6, 3, 3), normal(6, 3, 7), key_padding_mask=bools(3, 6)),
        apart.called(normal(5, 3, 8), normal(6, 3, 3), normal(6, 3, 7), attn_mask=bools(5, 6), need_weights=False),
        module("MultiheadAttention", 8, 2, bias=False, batch_first=True).called(x, x, x),
        module("MultiheadAttention", 8, 2, batch_first=True).called(x, normal(5, 2, 8), normal(5, 2, 8)),
        module("MultiheadAttention", 8, 2, batch_first=True).called(normal(5, 8), normal(6, 8), normal(6, 8)),
    ]


def rejected_heads() -> list[Given]:
    plain = module("MultiheadAttention", 8, 2)
    q, k = normal(5, 3, 8), normal(6, 3, 8)
    apart = module("MultiheadAttention", 8, 2, kdim=3)
    return [
        *(module("MultiheadAttention", *sizes) for sizes in ((8, 3), (0, 1), (8, 0))),
        plain.called(q, k, normal(6, 8)),
        plain.called(q, k, normal(7, 3, 8)),
        plain.called(normal(5), k, k),
        plain.called(normal(5, 8), k, k),
        plain.called(normal(5, 3, 4), k, k),
        plain.called(q, k, k, key_padding_mask=bools(6)),
        plain.called(q, k, k, key_padding_mask=bools(3, 5)),
        plain.called(q, k, k, key_padding_mask=bools(2, 6)),
        plain.called(q, k, k, attn_mask=bools(6)),
        plain.called(q, k, k, attn_mask=bools(5, 5)),
        plain.called(q, k, k, attn_mask=bools(3, 5, 6)),
        plain.called(q, k, k, attn_mask=lambda dtype: torch.ones(5, 6, dtype=torch.int64)),
        plain.called(q, k, k, is_causal=True),
        plain.called(normal(5, 8), normal(6, 8), normal(6, 8), attn_mask=bools(3, 5, 6)),
        apart.called(q, normal(6, 3, 3), normal(7, 3, 8)),
        apart.called(q, normal(6, 3, 4), k),
    ]


def of_encoders() -> list[Given]:
    layer = torch.nn.TransformerEncoderLayer
    sizes = (8, 2, 16)
    x = normal(5, 3, 8)
    padding = bools(3, 5)
    activations = ("gelu", "relu", F.gelu, F.silu, torch.nn.GELU(), torch.nn.Tanh())
    return [
        *(module("TransformerEncoderLayer", *sizes, activation=which).called(x) for which in activations),
        module("TransformerEncoderLayer", *sizes).called(x, steps(5), is_causal=True),
        module("TransformerEncoderLayer", *sizes, norm_first=True).called(x, bools(5, 5), padding),
        module("TransformerEncoderLayer", *sizes, batch_first=True, layer_norm_eps=0.1).called(normal(5, 8)),
        module("TransformerEncoder", layer(*sizes), 2).called(x, steps(5)),
        module("TransformerEncoder", layer(*sizes), 2).called(x, bools(5, 5), padding),
        module("TransformerEncoder", layer(*sizes, batch_first=True), 1, torch.nn.LayerNorm(8)).called(
            normal(3, 5, 8), src_key_padding_mask=bools(3, 5), is_causal=False
        ),
    ]


def of_decoders() -> list[Given]:
    layer = torch.nn.TransformerDecoderLayer
    sizes = (8, 2, 16)
    x, memory = normal(5, 3, 8), normal(6, 3, 8)
    model = module("Transformer", 8, 2, 1, 2, 16, 0.2, "gelu", layer_norm_eps=0.1)
    return [
        module("TransformerDecoderLayer", *sizes, activation="gelu").called(x, memory, bools(5, 5), bools(5, 6)),
        module("TransformerDecoderLayer", *sizes, norm_first=True).called(x, memory, steps(5), tgt_is_causal=True),
        module("TransformerDecoder", layer(*sizes), 2).called(x, memory, steps(5)),
        module("TransformerDecoder", layer(*sizes, norm_first=True), 2, torch.nn.LayerNorm(8)).called(
            x, memory, tgt_key_padding_mask=bools(3, 5), memory_key_padding_mask=bools(3, 6)
        ),
        module("TransformerDecoder", layer(*sizes, batch_first=True), 1).called(normal(5, 8), normal(6, 8), steps(5)),
        model.called(memory, x, tgt_mask=steps(5)),
        model.called(memory, x, src_key_padding_mask=bools(3, 6), memory_mask=bools(5, 6)),
        module("Transformer", 8, 2, 1, 1, 16, batch_first=True).called(normal(3, 6, 8), normal(3, 5, 8)),
    ]


def rejected_models() -> list[Given]:
    model = module("Transformer", 8, 2, 1, 1, 16)
    return [
        module("TransformerEncoderLayer", 8, 2, activation="silu"),
        model.called(normal(6, 3, 8), normal(5, 2, 8)),
        model.called(normal(6, 3, 8), normal(5, 3, 4)),
        module("Transformer", 8, 2, 1, 1, 16, batch_first=True).called(normal(3, 6, 8), normal(2, 6, 8)),
        module("Transformer", 8, 3, 1, 1, 16),
    ]


with recorded_inits():
    SAMPLES = of_heads() + of_encoders() + of_decoders()
    REJECTED = rejected_heads() + rejected_models()
