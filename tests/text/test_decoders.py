"""Native GPT-2 and Llama equal those of transformers: initial values, outputs, gradients, caches, files."""

from __future__ import annotations

import json
import shutil

import pytest
import torch
from embedded_simple import run
from text_models import (
    GPT2,
    HEADS,
    LLAMA,
    OURS,
    POSITIONS,
    VOCABULARY,
    assert_close,
    assert_same_gradients,
    assert_same_state,
    both,
    decoder_settings,
    decoders,
    ids,
    save,
)

LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
VARIANTS = [
    ("GPT2LMHeadModel", {"n_inner": 20, "activation_function": "relu"}),
    ("GPT2LMHeadModel", {"scale_attn_by_inverse_layer_idx": True, "initializer_range": 0.1}),
    ("GPT2LMHeadModel", {"scale_attn_weights": False}),
    ("GPT2LMHeadModel", {"scale_attn_weights": False, "scale_attn_by_inverse_layer_idx": True}),
    ("GPT2LMHeadModel", {"tie_word_embeddings": False}),
    ("LlamaForCausalLM", {"num_key_value_heads": None, "hidden_act": "gelu"}),
    ("LlamaForCausalLM", {"num_key_value_heads": 1, "attention_bias": True, "mlp_bias": True}),
    ("LlamaForCausalLM", {"head_dim": 6, "rms_norm_eps": 1e-3}),
    ("LlamaForCausalLM", {"tie_word_embeddings": True, "pad_token_id": 3}),
    ("LlamaForCausalLM", {"rope_parameters": {"rope_type": "default", "rope_theta": 300.0}}),
    ("LlamaForCausalLM", {"rope_parameters": {"rope_type": "linear", "rope_theta": 10000.0, "factor": 2.0}}),
    ("LlamaForCausalLM", {"rope_parameters": LLAMA3}),
]
IDS = ids(3, 9, vocabulary=VOCABULARY)
LEFT = torch.tensor([[1] * 9, [0] * 4 + [1] * 5, [0] * 2 + [1] * 7])
every_head = pytest.mark.parametrize("name", HEADS)
every_name = pytest.mark.parametrize("name", ["GPT2Model", "GPT2LMHeadModel", "LlamaModel", "LlamaForCausalLM"])


@every_name
def test_initial_values_and_keys_are_those_of_transformers(name):
    config, values = decoder_settings(name)
    assert_same_state(*both(name, config, values))


@pytest.mark.parametrize(("name", "changes"), VARIANTS)
def test_settings_are_those_of_transformers(name, changes):
    config, values = decoder_settings(name)
    assert_same_state(*both(name, config, {**values, **changes}))
    ours, theirs = decoders(name, changes)
    assert_close(OURS.call(ours, IDS).logits, theirs(IDS).logits)


@every_name
def test_outputs_are_those_of_transformers(name):
    ours, theirs = decoders(name)
    embeddings = torch.randn(3, 9, 32, generator=torch.Generator().manual_seed(2))
    right = LEFT.flip(1)
    for named, valid in (
        ({"input_ids": IDS}, torch.ones_like(LEFT)),
        ({"input_ids": IDS.int(), "attention_mask": right}, right),
        ({"input_ids": IDS, "attention_mask": LEFT, "position_ids": (LEFT.cumsum(1) - 1).clamp(min=0)}, LEFT),
        ({"input_ids": IDS, "attention_mask": torch.ones_like(LEFT).bool()}, torch.ones_like(LEFT)),
        ({"inputs_embeds": embeddings, "position_ids": torch.arange(5, 14)[None]}, torch.ones_like(LEFT)),
    ):
        found, expected = OURS.call(ours, **named), theirs(**named)
        key = "last_hidden_state" if name in ("GPT2Model", "LlamaModel") else "logits"
        # What a padding token predicts is undefined.
        assert_close(getattr(found, key)[valid.bool()], getattr(expected, key)[valid.bool()])


@every_head
def test_loss_and_gradients_are_those_of_transformers(name):
    ours, theirs = decoders(name)
    labels = IDS.masked_fill(ids(3, 9, vocabulary=4, seed=5) == 0, -100)
    found, expected = OURS.call(ours, IDS, labels=labels).loss, theirs(IDS, labels=labels).loss
    assert_close(found, expected)
    found.backward()
    expected.backward()
    assert_same_gradients(ours, theirs)


def test_gradients_are_recorded_after_inference_mode():
    ours, theirs = decoders("LlamaForCausalLM")
    OURS.in_inference_mode(ours, IDS)
    found = OURS.call(ours, IDS, labels=IDS).loss  # has the sines and cosines of the first call
    expected = theirs(IDS, labels=IDS).loss
    assert_close(found, expected)
    found.backward()
    expected.backward()
    assert_same_gradients(ours, theirs)


def test_dropout_in_training_draws_the_numbers_of_transformers():
    ours, theirs = decoders("GPT2Model", {"attn_pdrop": 0.0, "embd_pdrop": 0.3, "resid_pdrop": 0.2})
    OURS.train(ours, True)
    torch.manual_seed(4)
    found = OURS.call(ours, IDS).last_hidden_state
    torch.manual_seed(4)
    assert_close(found, theirs.train()(IDS).last_hidden_state)


@every_name
@pytest.mark.parametrize("cuts", [[9], [4, 5, 6, 9], [1, 2, 3, 4, 5, 6, 7, 8, 9], [3, 7, 9]])
def test_parts_with_a_cache_equal_the_whole(name, cuts):
    ours, theirs = decoders(name)
    key = "last_hidden_state" if name in ("GPT2Model", "LlamaModel") else "logits"
    cache, parts, start = OURS.cache(), [], 0
    for end in cuts:
        output = OURS.without_gradients(ours, IDS[:, start:end], past_key_values=cache)
        parts.append(getattr(output, key))
        start = end
    assert cache.length == 9
    assert_close(torch.cat(parts, dim=1), getattr(theirs(IDS), key))


@every_head
def test_parts_with_a_cache_and_padding_equal_the_whole(name):
    ours, theirs = decoders(name)
    positions = (LEFT.cumsum(1) - 1).clamp(min=0)
    cache, parts = OURS.cache(), []
    for start, end in ((0, 5), (5, 8), (8, 9)):
        named = {"attention_mask": LEFT[:, :end], "position_ids": positions[:, start:end], "past_key_values": cache}
        parts.append(OURS.without_gradients(ours, IDS[:, start:end], **named).logits)
    expected = theirs(IDS, attention_mask=LEFT, position_ids=positions).logits
    assert_close(torch.cat(parts, dim=1)[LEFT.bool()], expected[LEFT.bool()])


# ---- files


@every_head
def test_folders_of_transformers_are_read_across_heads(name, tmp_path):
    base, _, _ = HEADS[name]
    _, theirs = decoders(name)
    folder = save(theirs, tmp_path / "head")
    assert_same_state(OURS.loaded(name, folder, {}), theirs)
    inner = theirs.transformer if name == "GPT2LMHeadModel" else theirs.model
    assert_same_state(OURS.loaded(base, folder, {}), inner)
    folder = save(inner, tmp_path / "base")
    assert_same_state(OURS.loaded(base, folder, {}), inner)


def test_a_file_without_a_prefix_and_with_masks_is_read_as_the_first_files_of_gpt2(tmp_path):
    _, theirs = decoders("GPT2LMHeadModel")
    theirs.config.save_pretrained(tmp_path)
    state = dict(theirs.transformer.state_dict())
    state["h.0.attn.bias"] = torch.ones(1, 1, POSITIONS, POSITIONS).tril()
    state["h.0.attn.masked_bias"] = torch.tensor(-1e4)
    torch.save(state, tmp_path / "pytorch_model.bin")
    assert_same_state(OURS.loaded("GPT2LMHeadModel", str(tmp_path), {}), theirs)
    assert_same_state(OURS.loaded("GPT2Model", str(tmp_path), {}), theirs.transformer)


def test_an_untied_head_that_the_file_lacks_is_named(tmp_path):
    _, theirs = decoders("LlamaModel")
    folder = save(theirs, tmp_path)
    assert OURS.load_error("LlamaForCausalLM", folder, {}) == (
        f"InvalidArgument: LlamaForCausalLM: the weights in '{folder}' do not fit its config.json: missing tensors: "
        "lm_head.weight; pass initialize_missing: true to train a new head"
    )


def test_rope_of_older_files_is_read(tmp_path):
    _, theirs = decoders("LlamaForCausalLM", {"rope_parameters": LLAMA3})
    folder = save(theirs, tmp_path)
    shutil.copy(tmp_path / "config.json", tmp_path / "kept.json")
    values = json.loads((tmp_path / "config.json").read_text())
    del values["rope_parameters"]
    scaling = {key: value for key, value in LLAMA3.items() if key != "rope_theta"}
    (tmp_path / "config.json").write_text(json.dumps({**values, "rope_theta": 500.0, "rope_scaling": scaling}))
    expected = theirs(IDS).logits
    assert_close(OURS.call(OURS.loaded("LlamaForCausalLM", folder, {}), IDS).logits, expected)
    (tmp_path / "config.json").write_text(json.dumps({**values, "rope_theta": 500.0, "rope_scaling": None}))
    other = OURS.call(OURS.loaded("LlamaForCausalLM", folder, {}), IDS).logits
    assert not torch.allclose(other, expected, atol=1e-3)


def test_the_dtype_of_a_model_is_that_of_its_rotary_embedding(tmp_path):
    _, theirs = decoders("LlamaForCausalLM")
    ours = OURS.loaded("LlamaForCausalLM", save(theirs.bfloat16(), tmp_path), {})
    found = OURS.call(ours, IDS).logits
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found, theirs(IDS).logits, rtol=0.05, atol=0.05)


# ---- errors


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("GPT2Config", {"n_layer": 0}, "InvalidArgument: GPT2Config: n_layer must be a positive integer, got 0"),
        ("GPT2Config", {"n_inner": -1}, "InvalidArgument: GPT2Config: n_inner must be a positive integer, got -1"),
        (
            "GPT2Config",
            {"n_head": 5},
            "InvalidArgument: GPT2Config: the hidden size (32) is not a multiple of the number of attention heads (5)",
        ),
        ("GPT2Config", {"attn_pdrop": 2}, "InvalidArgument: GPT2Config: attn_pdrop must be between 0 and 1, got 2"),
        (
            "GPT2Config",
            {"add_cross_attention": True},
            "NotImplemented: GPT2Config: add_cross_attention true is not supported",
        ),
        (
            "LlamaConfig",
            {"num_key_value_heads": 3},
            "InvalidArgument: LlamaConfig: num_key_value_heads (3) does not divide num_attention_heads (4)",
        ),
        ("LlamaConfig", {"head_dim": 7}, "InvalidArgument: LlamaConfig: the size of a head must be even, got 7"),
        (
            "LlamaConfig",
            {"rope_parameters": {"rope_type": "yarn"}},
            "NotImplemented: LlamaConfig: rope_type 'yarn' is not supported; supported are: default, linear, llama3",
        ),
        (
            "LlamaConfig",
            {"rope_parameters": {"rope_type": "linear"}},
            "InvalidArgument: LlamaConfig: factor of rope_parameters must be a positive number, got nil",
        ),
        (
            "LlamaConfig",
            {"rope_parameters": {"rope_theta": 0}},
            "InvalidArgument: LlamaConfig: rope_theta of rope_parameters must be a positive number, got 0",
        ),
        (
            "LlamaConfig",
            {"pad_token_id": -1},
            "InvalidArgument: LlamaConfig: pad_token_id must be below vocab_size 60, got -1",
        ),
        (
            "LlamaConfig",
            {"model_type": "qwen2"},
            "InvalidArgument: LlamaConfig: model_type must be 'llama', got 'qwen2'",
        ),
    ],
)
def test_settings_that_are_wrong_are_typed_errors(name, changes, message):
    values = GPT2 if name == "GPT2Config" else LLAMA
    assert OURS.config_error(name, {**values, **changes}) == message


@pytest.mark.parametrize("name", ["GPT2Model", "LlamaModel"])
def test_inputs_that_are_wrong_are_typed_errors(name):
    ours, _ = decoders(name)
    long = torch.ones(1, POSITIONS + 1, dtype=torch.long)
    for named, message in (
        ({"input_ids": torch.tensor([[60]])}, "IndexOutOfRange: {}: input_ids must be from 0 to 59, got 60"),
        ({"input_ids": torch.tensor([1])}, "ShapeMismatch: {}: input_ids must have the shape [n, length], got [1]"),
        ({"input_ids": torch.ones(1, 2)}, "DtypeMismatch: {}: input_ids must be int64 or int32, got torch.float32"),
        (
            {"input_ids": long},
            "InvalidArgument: {}: at most 24 tokens fit (max_position_embeddings), got 25; truncate the input",
        ),
        (
            {"input_ids": IDS, "attention_mask": LEFT[:, :8]},
            "ShapeMismatch: {}: attention_mask must have the shape [3, 9], got [3, 8]",
        ),
        (
            {"input_ids": IDS, "position_ids": IDS + 24},
            "IndexOutOfRange: {}: position_ids must be from 0 to 23, got " + str(int(IDS.min()) + 24),
        ),
        ({}, "InvalidArgument: {}: pass exactly one of input_ids and inputs_embeds"),
        (
            {"input_ids": IDS, "past_key_values": OURS.cache()},
            "InvalidArgument: {}: past_key_values has no gradients; call it in torch.no_grad()",
        ),
    ):
        assert OURS.call_error(ours, **named) == message.format(name)
    cache = OURS.cache()
    OURS.without_gradients(ours, IDS, past_key_values=cache)
    assert OURS.call_error(ours, IDS[:2], past_key_values=cache) == (
        f"ShapeMismatch: {name}: past_key_values holds 3 sequences, got 2"
    )
    assert OURS.call_error(ours, torch.ones(3, 16, dtype=torch.long), past_key_values=cache) == (
        f"InvalidArgument: {name}: at most 24 tokens fit (max_position_embeddings), got 25; truncate the input"
    )


def test_labels_of_another_shape_are_a_typed_error():
    ours, _ = decoders("GPT2LMHeadModel")
    assert OURS.call_error(ours, IDS, labels=IDS[:, :8]) == (
        "ShapeMismatch: GPT2LMHeadModel: labels must have the shape [3, 9], got [3, 8]"
    )


CONV1D = run(
    """
    use text.models.gpt2.{Conv1D}
    use torch
    fn sizes(shape): Conv1D(4, 3)(torch.ones(shape)).shape
    """
)


@pytest.mark.parametrize("shape", [(3,), (2, 3), (5, 2, 3), (2, 5, 2, 3)], ids=str)
def test_conv1d_keeps_all_sizes_but_the_last(shape):
    theirs = pytest.importorskip("transformers.pytorch_utils").Conv1D(4, 3)(torch.ones(shape))
    assert tuple(CONV1D.sizes(list(shape))) == tuple(theirs.shape)
