"""Evaluation without gradients: attention uses PyTorch's fused operators when PyTorch does, with the same results.

PyTorch's profiler reports the operators that ran, on both sides.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import pytest

if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
torch = pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from compare_modules import bits  # noqa: E402
from module_inputs import module  # noqa: E402
from module_runs import Case, Expected, Ours, flattened, recorded_inits  # noqa: E402

# The second includes the first.
HEADS, LAYER, NESTED = (
    "aten::_native_multi_head_attention",
    "aten::_transformer_encoder_layer_fwd",
    "aten::_nested_tensor_from_mask",
)
X = torch.randn(3, 5, 8, generator=torch.Generator().manual_seed(1))
PADDING = torch.arange(5) >= torch.tensor([[5], [3], [4]])
SCATTERED = torch.tensor([[False, True, False, False, False]]).expand(3, 5)
MASK = torch.ones(5, 5, dtype=torch.bool).triu(1)
ADDED = torch.zeros(5, 5).masked_fill(MASK, float("-inf"))


def heads(*args, **kwargs):
    return module("MultiheadAttention", 8, 2, *args, **{"batch_first": True, **kwargs})


def layer(**kwargs):
    return module("TransformerEncoderLayer", 8, 2, 16, **{"batch_first": True, **kwargs})


def encoder(*, enable_nested_tensor=True, mask_check=True, norm=None, **kwargs):
    with recorded_inits():
        inner = torch.nn.TransformerEncoderLayer(8, 2, 16, **{"batch_first": True, **kwargs})
        return module("TransformerEncoder", inner, 2, norm, enable_nested_tensor, mask_check)


SAMPLES = [
    (heads().called(X, X, X), (HEADS,)),
    (heads().called(X, X, X, need_weights=False), (HEADS,)),
    (heads().called(X, X, X, average_attn_weights=False, key_padding_mask=PADDING), (HEADS,)),
    (heads().called(X, X, X, attn_mask=MASK, key_padding_mask=PADDING), (HEADS,)),
    (heads().called(X, X, X, attn_mask=MASK.expand(6, 5, 5)), (HEADS,)),
    (heads().called(X, X, X, attn_mask=ADDED), ()),
    (heads().called(X, X, X.clone()), ()),
    (heads().called(X[0], X[0], X[0]), ()),
    (heads(batch_first=False).called(X, X, X), ()),
    (heads(bias=False).called(X, X, X), ()),
    (heads(add_zero_attn=True).called(X, X, X), ()),
    (heads(add_bias_kv=True).called(X, X, X), ()),
    (module("MultiheadAttention", 8, 1, batch_first=True).called(X, X, X), ()),
    (layer().called(X), (HEADS, LAYER)),
    (layer(norm_first=True, activation="gelu").called(X, MASK, PADDING), (HEADS, LAYER)),
    (layer(activation=torch.nn.functional.silu).called(X), (HEADS,)),
    (layer(batch_first=False).called(X), ()),
    (encoder().called(X, src_key_padding_mask=PADDING), (NESTED, HEADS, LAYER)),
    (encoder(mask_check=False).called(X, src_key_padding_mask=PADDING), (NESTED, HEADS, LAYER)),
    (encoder().called(X, src_key_padding_mask=SCATTERED), (HEADS, LAYER)),
    (encoder().called(X, MASK, PADDING), (HEADS, LAYER)),
    (encoder(enable_nested_tensor=False).called(X, src_key_padding_mask=PADDING), (HEADS, LAYER)),
    (encoder(norm_first=True).called(X, src_key_padding_mask=PADDING), (HEADS, LAYER)),
]


def evaluated(side, case: Case):
    """The output, and the fused operators that ran."""
    torch.manual_seed(5)
    made = side.make(case)
    made.train(False)
    with torch.no_grad(), torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        outputs = [value for _, value in flattened(side.call(made, case.inputs, case.named_inputs))]
    ran = {event.key for event in profile.key_averages()}
    return outputs, tuple(name for name in (NESTED, HEADS, LAYER) if name in ran)


@pytest.mark.parametrize(("sample", "fused"), SAMPLES, ids=lambda value: getattr(value, "name", None))
def test_fast_path_is_taken_as_in_pytorch(sample, fused):
    case = Case(sample.name, torch.float32, False, sample.args, sample.kwargs, sample.inputs, sample.named_inputs or {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, expected = evaluated(Ours(), case), evaluated(Expected(), case)
    assert expected[1] == fused
    assert ours[1] == fused
    assert [value if value is None else bits(value) for value in ours[0]] == [
        value if value is None else bits(value) for value in expected[0]
    ]
