"""Text models of Simple next to those of transformers, from small random settings. Nothing is downloaded."""

from __future__ import annotations

import os
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"  # read by huggingface_hub when it is imported

import pytest
import torch
from embedded_simple import equal, run

transformers = pytest.importorskip("transformers")
torch.set_num_threads(1)  # more are slower for small tensors
transformers.utils.logging.set_verbosity_error()
OURS = run(
    """
    use torch
    use python as py
    use text.generation
    use text.models
    use text.tokenizers.{Tokenizer}
    fn config(name, values): getattr(models, name).from_dict(py.to_value(values))
    fn built(name, config_name, values, options):
        torch.manual_seed(0)
        getattr(models, name)(config(config_name, values), **py.to_value(options))
    fn loaded(name, folder, options): getattr(models, name).from_pretrained(folder, **py.to_value(options))
    fn call(net, args..., **named): net(*args, **named)
    fn state(net): net.state_dict()
    fn load(net, state): net.load_state_dict(state)
    fn load_file(net, path): net.load_state_dict(torch.load(path))
    fn train(net, mode): net.train(mode)
    fn gradients(net): {name: parameter.grad() for (name, parameter) in net.named_parameters()}
    fn kind_and_message(work):
        match torch.attempt(work):
            case Err(torch.TorchError.InvalidArgument(message)): "InvalidArgument: " + message
            case Err(torch.TorchError.NotImplemented(message)): "NotImplemented: " + message
            case Err(torch.TorchError.IndexOutOfRange(message)): "IndexOutOfRange: " + message
            case Err(torch.TorchError.ShapeMismatch(_, _, message)): "ShapeMismatch: " + message
            case Err(torch.TorchError.DtypeMismatch(_, _, message)): "DtypeMismatch: " + message
            case Err(torch.TorchError.Io(message)): "Io: " + message
            case Err(torch.TorchError.Unavailable(message)): "Unavailable: " + message
            case Ok(_): "no error"
            case Err(other): "another: " + other.message()
    fn call_error(net, args..., **named): kind_and_message(\\: net(*args, **named))
    fn load_error(name, folder, options): kind_and_message(\\: loaded(name, folder, options))
    fn minilm(): models.all_minilm_l6_v2()
    fn cache(): models.KeyValueCache(capacity: 2)
    fn without_gradients(net, args..., **named): torch.no_grad(\\: net(*args, **named))
    fn in_inference_mode(net, ids): torch.inference_mode(\\: net(ids))
    fn generate(net, ids, **named): net.generate(ids, **named)
    fn generate_error(net, ids, **named): kind_and_message(\\: net.generate(ids, **named))
    fn streamed(net, ids, stop, named):
        var seen = []
        fn take(token):
            seen.push(token)
            return token != stop
        val result = net.generate(ids, streamer: take, **py.to_value(named))
        (result, seen)
    fn processed(name, ids, scores, values...): getattr(generation, name)(*values)(ids, scores)
    fn generation_settings(values): generation.GenerationConfig.from_dict(py.to_value(values))
    fn generation_error(values): kind_and_message(\\: generation_settings(values))
    fn generation_file_error(path): kind_and_message(\\: generation.GenerationConfig.from_json_file(path))
    fn encode(net, sentences, batch_size): net.encode(py.to_value(sentences), batch_size: batch_size)
    fn encode_error(net, sentences, batch_size): kind_and_message(\\: encode(net, sentences, batch_size))
    fn streamed_text(net, ids, file, stop, named):
        val pieces = []
        fn take(piece):
            pieces.push(piece)
            return pieces.len() != stop
        net.generate(ids, streamer: take, tokenizer: Tokenizer.from_file(file), **py.to_value(named))
        pieces
    fn sentences(folder): models.SentenceTransformer.from_pretrained(folder)
    fn sentences_error(folder): kind_and_message(\\: sentences(folder))
    fn config_error(name, values): kind_and_message(\\: config(name, values))
    """
)

# Settings of small decoders.
VOCABULARY, POSITIONS = 60, 24
GPT2 = {"vocab_size": VOCABULARY, "n_positions": POSITIONS, "n_embd": 32, "n_layer": 3, "n_head": 4}
LLAMA = {
    "vocab_size": VOCABULARY,
    "max_position_embeddings": POSITIONS,
    "hidden_size": 32,
    "intermediate_size": 40,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
HEADS = {
    "GPT2LMHeadModel": ("GPT2Model", "GPT2Config", GPT2),
    "LlamaForCausalLM": ("LlamaModel", "LlamaConfig", LLAMA),
}


def both(name: str, config_name: str, values: dict, **options):
    """The model of Simple and that of transformers, with the same settings and seed."""
    theirs_config = getattr(transformers, config_name)(**values)
    torch.manual_seed(0)
    theirs = getattr(transformers, name)(theirs_config, **options)
    ours = OURS.built(name, config_name, {"model_type": theirs_config.model_type, **values}, options)
    return ours, theirs


def ids(*shape: int, vocabulary: int, seed: int = 1) -> torch.Tensor:
    return torch.randint(0, vocabulary, shape, generator=torch.Generator().manual_seed(seed))


def assert_same_state(ours, theirs) -> None:
    """The states have the same keys in the same order, and the same bits."""
    found, expected = OURS.state(ours), theirs.state_dict()
    assert list(found) == list(expected)
    assert [key for key in expected if not equal(found[key], expected[key])] == []


def assert_close(found, expected) -> None:
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


def assert_same_gradients(ours, theirs) -> None:
    found = OURS.gradients(ours)
    for name, parameter in theirs.named_parameters():
        torch.testing.assert_close(found[name], parameter.grad, rtol=1e-4, atol=1e-5, msg=lambda why: f"{name}: {why}")  # noqa: B023


def randomize(model: torch.nn.Module, seed: int = 3) -> None:
    """Sets values that are not special, as zeros of biases are."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.05)


def save(model, folder: Path, **options) -> str:
    """The folder with the model's files, as text."""
    model.save_pretrained(folder, **options)
    return str(folder)


def decoder_settings(name: str) -> tuple[str, dict]:
    for head, (base, config, values) in HEADS.items():
        if name in (head, base):
            return config, values
    raise KeyError(name)


def decoders(name: str, changes: dict | None = None):
    """Both decoders in evaluation mode, with values that are not special."""
    config, values = decoder_settings(name)
    ours, theirs = both(name, config, {**values, **(changes or {})})
    randomize(theirs)
    OURS.load(ours, theirs.state_dict())
    OURS.train(ours, False)
    return ours, theirs.eval()
