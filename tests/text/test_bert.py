"""Native BERT equals that of transformers: initial values, outputs, gradients, files."""

from __future__ import annotations

import json
import shutil

import pytest
import torch
from text_models import OURS, assert_close, assert_same_gradients, assert_same_state, both, ids, randomize, save

VOCABULARY = 50
SMALL = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 40,
    "max_position_embeddings": 16,
    "type_vocab_size": 3,
}
IDS = ids(3, 9, vocabulary=VOCABULARY)
MASK = torch.tensor([[1] * 9, [1] * 5 + [0] * 4, [0] * 2 + [1] * 7])
SEGMENTS = torch.tensor([[0] * 4 + [1] * 5] * 3)
INPUTS = [
    {"input_ids": IDS},
    {"input_ids": IDS, "attention_mask": MASK},
    {"input_ids": IDS, "attention_mask": MASK.bool(), "token_type_ids": SEGMENTS},
    {"input_ids": IDS.int(), "attention_mask": torch.ones_like(IDS), "position_ids": torch.arange(9).flip(0)[None]},
    {"inputs_embeds": torch.randn(3, 9, 32, generator=torch.Generator().manual_seed(2)), "attention_mask": MASK},
]


def pair(name="BertModel", values=None, **options):
    """Both models in evaluation mode, with values that are not special."""
    ours, theirs = both(name, "BertConfig", {**SMALL, **(values or {})}, **options)
    randomize(theirs)
    OURS.load(ours, theirs.state_dict())
    OURS.train(ours, False)
    return ours, theirs.eval()


@pytest.mark.parametrize(
    ("name", "values", "options"),
    [
        ("BertModel", {}, {}),
        ("BertModel", {"pad_token_id": 7, "initializer_range": 0.3}, {"add_pooling_layer": False}),
        ("BertForMaskedLM", {}, {}),
        ("BertForSequenceClassification", {}, {}),
    ],
)
def test_initial_values_and_keys_are_those_of_transformers(name, values, options):
    assert_same_state(*both(name, "BertConfig", {**SMALL, **values}, **options))


@pytest.mark.parametrize("number", range(len(INPUTS)))
def test_outputs_are_those_of_transformers(number):
    ours, theirs = pair()
    found, expected = OURS.call(ours, **INPUTS[number]), theirs(**INPUTS[number])
    assert_close(found.last_hidden_state, expected.last_hidden_state)
    assert_close(found.pooler_output, expected.pooler_output)


@pytest.mark.parametrize(
    "name", ["gelu", "gelu_fast", "gelu_new", "gelu_pytorch_tanh", "relu", "silu", "swish", "tanh"]
)
def test_activation_functions_are_those_of_transformers(name):
    ours, theirs = pair(values={"hidden_act": name})
    assert_close(OURS.call(ours, **INPUTS[0]).last_hidden_state, theirs(**INPUTS[0]).last_hidden_state)


def test_attention_weights_are_those_of_transformers():
    ours, theirs = pair()
    theirs.set_attn_implementation("eager")
    found = OURS.call(ours, **INPUTS[1], output_attentions=True)
    expected = theirs(**INPUTS[1], output_attentions=True)
    assert len(found.attentions) == len(expected.attentions) == 3
    for weights, wanted in zip(found.attentions, expected.attentions, strict=True):
        assert_close(weights, wanted)
    assert_close(found.last_hidden_state, expected.last_hidden_state)


def test_logits_loss_and_gradients_of_a_masked_language_model_are_those_of_transformers():
    ours, theirs = pair("BertForMaskedLM")
    labels = IDS.masked_fill(ids(3, 9, vocabulary=2, seed=5) == 0, -100)
    found = OURS.call(ours, **INPUTS[2], labels=labels)
    expected = theirs(**INPUTS[2], labels=labels)
    assert_close(found.logits, expected.logits)
    assert_close(found.loss, expected.loss)
    found.loss.backward()
    expected.loss.backward()
    assert_same_gradients(ours, theirs)


@pytest.mark.parametrize(
    ("classes", "labels"),
    [
        (4, torch.tensor([3, 0, 1])),
        (1, torch.tensor([0.5, -1.0, 2.0])),
        (4, torch.tensor([[0.0, 1.0, 1.0, 0.0]] * 3)),
    ],
)
def test_classes_and_losses_are_those_of_transformers(classes, labels):
    ours, theirs = both("BertForSequenceClassification", "BertConfig", SMALL)
    ours = OURS.built("BertForSequenceClassification", "BertConfig", {**SMALL, "num_labels": classes}, {})
    theirs = type(theirs)(type(theirs.config)(**SMALL, num_labels=classes)).eval()
    randomize(theirs)
    OURS.load(ours, theirs.state_dict())
    OURS.train(ours, False)
    found = OURS.call(ours, **INPUTS[1], labels=labels)
    expected = theirs(**INPUTS[1], labels=labels)
    assert_close(found.logits, expected.logits)
    assert_close(found.loss, expected.loss)


def test_dropout_in_training_draws_the_numbers_of_transformers():
    ours, theirs = pair(values={"hidden_dropout_prob": 0.3, "attention_probs_dropout_prob": 0.0})
    OURS.train(ours, True)
    torch.manual_seed(4)
    found = OURS.call(ours, **INPUTS[1]).last_hidden_state
    torch.manual_seed(4)
    assert_close(found, theirs.train()(**INPUTS[1]).last_hidden_state)


# ---- files


def test_a_state_of_transformers_loads_strictly(tmp_path):
    ours, theirs = both("BertForMaskedLM", "BertConfig", SMALL)
    randomize(theirs)
    torch.save(theirs.state_dict(), tmp_path / "state.pt")
    OURS.load_file(ours, str(tmp_path / "state.pt"))
    assert_same_state(ours, theirs)


@pytest.mark.parametrize("saving", [{}, {"max_shard_size": "20KB"}])
def test_a_folder_of_transformers_is_read(tmp_path, saving):
    _, theirs = pair()
    ours = OURS.loaded("BertModel", save(theirs, tmp_path, **saving), {})
    assert (tmp_path / "model.safetensors").exists() == (not saving)
    assert_same_state(ours, theirs)
    assert_close(OURS.call(ours, **INPUTS[2]).pooler_output, theirs(**INPUTS[2]).pooler_output)


def test_a_file_of_torch_save_is_read(tmp_path):
    _, theirs = pair()
    theirs.config.save_pretrained(tmp_path)
    torch.save(theirs.state_dict(), tmp_path / "pytorch_model.bin")
    assert_same_state(OURS.loaded("BertModel", str(tmp_path), {}), theirs)


def test_weights_are_read_across_heads(tmp_path):
    _, theirs = pair("BertForMaskedLM")
    folder = save(theirs, tmp_path)
    assert_same_state(OURS.loaded("BertForMaskedLM", folder, {}), theirs)  # the file lacks the tied decoder
    assert_same_state(OURS.loaded("BertModel", folder, {"add_pooling_layer": False}), theirs.bert)
    expected = "missing tensors: pooler.dense.weight, pooler.dense.bias"
    assert expected in OURS.load_error("BertModel", folder, {})


def test_a_head_that_the_file_lacks_is_initialized_on_request(tmp_path):
    _, theirs = pair()
    theirs.config.num_labels = 5
    folder = save(theirs, tmp_path)
    name = "BertForSequenceClassification"
    assert OURS.load_error(name, folder, {}) == (
        f"InvalidArgument: {name}: the weights in '{folder}' do not fit its config.json: missing tensors: "
        "classifier.weight, classifier.bias; pass initialize_missing: true to train a new head"
    )
    ours = OURS.loaded(name, folder, {"initialize_missing": True})
    found = OURS.state(ours)
    assert all(value.equal(found[f"bert.{key}"]) for key, value in theirs.state_dict().items())
    assert found["classifier.weight"].shape == (5, 32)
    assert 0.01 < found["classifier.weight"].std() < 0.03
    assert not found["classifier.bias"].any()


def test_weights_keep_the_dtype_of_the_file_or_get_another(tmp_path):
    _, theirs = pair()
    folder = save(theirs.bfloat16(), tmp_path)
    kinds = lambda options: {t.dtype for t in OURS.state(OURS.loaded("BertModel", folder, options)).values()}  # noqa: E731
    assert kinds({}) == {torch.bfloat16}
    assert kinds({"dtype": torch.float32}) == {torch.float32}


def test_weights_that_do_not_fit_are_named(tmp_path):
    _, theirs = pair()
    folder = save(theirs, tmp_path)
    settings = json.loads((tmp_path / "config.json").read_text())
    start = f"InvalidArgument: BertModel: the weights in '{folder}' do not fit its config.json: "
    for change, reason in (
        ({"hidden_size": 64}, "size mismatch for embeddings.word_embeddings.weight"),
        ({"num_hidden_layers": 4}, "missing tensors: encoder.layer.3.attention.self.query.weight, "),
        ({"num_hidden_layers": 2}, "unexpected tensors: encoder.layer.2.attention.output.LayerNorm.bias, "),
    ):
        (tmp_path / "config.json").write_text(json.dumps({**settings, **change}))
        message = OURS.load_error("BertModel", folder, {})
        assert message.startswith(start), message
        assert reason in message


def test_missing_and_broken_files_are_io_errors_with_their_path(tmp_path):
    _, theirs = pair()
    folder = save(theirs, tmp_path / "whole")
    assert OURS.load_error("BertModel", str(tmp_path / "none"), {}).startswith(
        f"Io: BertConfig: cannot read '{tmp_path}/none/config.json': "
    )
    (tmp_path / "only").mkdir()
    shutil.copy(f"{folder}/config.json", tmp_path / "only")
    assert OURS.load_error("BertModel", str(tmp_path / "only"), {}) == (
        f"Io: BertConfig: no weights in '{tmp_path}/only'; expected one of model.safetensors, pytorch_model.bin, "
        "model.safetensors.index.json, pytorch_model.bin.index.json"
    )
    content = (tmp_path / "whole" / "model.safetensors").read_bytes()
    (tmp_path / "only" / "model.safetensors").write_bytes(content[:-1])
    assert OURS.load_error("BertModel", str(tmp_path / "only"), {}).startswith("Io: ")
    index = tmp_path / "only" / "model.safetensors.index.json"
    (tmp_path / "only" / "model.safetensors").unlink()
    index.write_text("[]")
    assert (
        OURS.load_error("BertModel", str(tmp_path / "only"), {})
        == f"Io: '{index}' has no weight_map of names and files"
    )
    index.write_text('{"weight_map": {"a": "absent.safetensors"}}')
    assert OURS.load_error("BertModel", str(tmp_path / "only"), {}) == (
        f"Io: '{tmp_path}/only/absent.safetensors' does not exist; '{index}' lists it"
    )
    (tmp_path / "only" / "config.json").write_text("[1]")
    assert OURS.load_error("BertModel", str(tmp_path / "only"), {}) == (
        f"Io: BertConfig: cannot read '{tmp_path}/only/config.json': expected an object, got array"
    )


# ---- errors


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"vocab_size": 0}, "InvalidArgument: BertConfig: vocab_size must be a positive integer, got 0"),
        (
            {"hidden_size": 30},
            "InvalidArgument: BertConfig: the hidden size (30) is not a multiple of the number of attention heads (4)",
        ),
        (
            {"hidden_dropout_prob": 1.5},
            "InvalidArgument: BertConfig: hidden_dropout_prob must be between 0 and 1, got 1.5",
        ),
        (
            {"classifier_dropout": -1.0},
            "InvalidArgument: BertConfig: classifier_dropout must be between 0 and 1, got -1.0",
        ),
        ({"layer_norm_eps": 0.0}, "InvalidArgument: BertConfig: layer_norm_eps must be a positive number, got 0.0"),
        ({"pad_token_id": 50}, "InvalidArgument: BertConfig: pad_token_id must be below vocab_size 50, got 50"),
        (
            {"hidden_act": "mish"},
            "InvalidArgument: BertConfig: no activation function named 'mish'; available: gelu, gelu_fast, gelu_new, "
            "gelu_pytorch_tanh, relu, silu, swish, tanh",
        ),
        (
            {"position_embedding_type": "relative_key"},
            "NotImplemented: BertConfig: position_embedding_type 'relative_key' is not supported",
        ),
        ({"is_decoder": True}, "NotImplemented: BertConfig: is_decoder true is not supported"),
        ({"add_cross_attention": True}, "NotImplemented: BertConfig: add_cross_attention true is not supported"),
        ({"model_type": "gpt2"}, "InvalidArgument: BertConfig: model_type must be 'bert', got 'gpt2'"),
    ],
)
def test_settings_that_are_wrong_are_typed_errors(values, message):
    assert OURS.config_error("BertConfig", {**SMALL, **values}) == message


@pytest.mark.parametrize(
    ("named", "message"),
    [
        (
            {"input_ids": torch.tensor([[1, 50]])},
            "IndexOutOfRange: BertModel: input_ids must be from 0 to 49, got 50",
        ),
        (
            {"input_ids": torch.tensor([[1, -1]])},
            "IndexOutOfRange: BertModel: input_ids must be from 0 to 49, got -1",
        ),
        (
            {"input_ids": torch.tensor([1, 2])},
            "ShapeMismatch: BertModel: input_ids must have the shape [n, length], got [2]",
        ),
        (
            {"input_ids": torch.ones(1, 2)},
            "DtypeMismatch: BertModel: input_ids must be int64 or int32, got torch.float32",
        ),
        (
            {"input_ids": torch.ones(1, 17, dtype=torch.long)},
            "InvalidArgument: BertModel: at most 16 tokens fit (max_position_embeddings), got 17; truncate the input",
        ),
        (
            {"input_ids": IDS, "attention_mask": MASK[:, :8]},
            "ShapeMismatch: BertModel: attention_mask must have the shape [3, 9], got [3, 8]",
        ),
        (
            {"input_ids": IDS, "token_type_ids": SEGMENTS[:2]},
            "ShapeMismatch: BertModel: token_type_ids must have the shape [3, 9], got [2, 9]",
        ),
        (
            {"input_ids": IDS, "token_type_ids": SEGMENTS * 3},
            "IndexOutOfRange: BertModel: token_type_ids must be from 0 to 2, got 3",
        ),
        (
            {"input_ids": IDS, "position_ids": torch.full((1, 9), 16)},
            "IndexOutOfRange: BertModel: position_ids must be from 0 to 15, got 16",
        ),
        (
            {"inputs_embeds": torch.zeros(1, 2, 31)},
            "ShapeMismatch: BertModel: inputs_embeds must have the shape [1, 2, 32], got [1, 2, 31]",
        ),
        ({}, "InvalidArgument: BertModel: pass exactly one of input_ids and inputs_embeds"),
        (
            {"input_ids": IDS, "inputs_embeds": torch.zeros(3, 9, 32)},
            "InvalidArgument: BertModel: pass exactly one of input_ids and inputs_embeds",
        ),
    ],
)
def test_inputs_that_are_wrong_are_typed_errors(named, message):
    ours, _ = pair()
    assert OURS.call_error(ours, **named) == message
