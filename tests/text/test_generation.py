"""generate() of native decoders returns the tokens of transformers: greedy search and sampling, batches, streams."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
import tokenizers
import torch
from text_models import GPT2, HEADS, LLAMA, OURS, decoders, ids, save, transformers

from programs import run

PROMPT = ids(1, 5, vocabulary=60, seed=7)
BATCH = ids(3, 6, vocabulary=60, seed=8)
LEFT = torch.tensor([[1] * 6, [0] * 4 + [1] * 2, [0] * 1 + [1] * 5])
every_head = pytest.mark.parametrize("name", HEADS)
SAMPLING = [
    {},
    {"temperature": 0.5},
    {"top_k": 3},
    {"top_k": 0, "top_p": 0.7},
    {"temperature": 1.7, "top_k": 20, "top_p": 0.9, "repetition_penalty": 1.3},
]


def lively(name: str, **changes):
    """Models whose most probable token changes with the input."""
    ours, theirs = decoders(name, {"eos_token_id": None, **changes})
    generator = torch.Generator().manual_seed(11)
    with torch.no_grad():
        for parameter in theirs.parameters():
            if parameter.dim() > 1:
                parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.4)
    OURS.load(ours, theirs.state_dict())
    return ours, theirs


def assert_same_tokens(name: str, prompt: torch.Tensor, **named) -> torch.Tensor:
    ours, theirs = lively(name)
    torch.manual_seed(21)
    found = OURS.generate(ours, prompt, **named)
    torch.manual_seed(21)
    expected = theirs.generate(prompt, **named)
    assert found.dtype == torch.int64
    assert found.tolist() == expected.tolist()
    return found


@every_head
@pytest.mark.parametrize("use_cache", [True, False])
@pytest.mark.parametrize("penalty", [1.0, 1.4, 0.8])
def test_greedy_tokens_are_those_of_transformers(name, use_cache, penalty):
    named = {"max_new_tokens": 18, "use_cache": use_cache, "repetition_penalty": penalty}
    found = assert_same_tokens(name, PROMPT, **named)
    assert found.shape == (1, 23)
    assert len(set(found[0].tolist())) > 5


@every_head
@pytest.mark.parametrize("use_cache", [True, False])
def test_tokens_of_padded_batches_are_those_of_transformers(name, use_cache):
    assert_same_tokens(name, BATCH, attention_mask=LEFT, max_new_tokens=18, use_cache=use_cache)
    assert_same_tokens(name, BATCH, max_length=20, use_cache=use_cache)


@every_head
def test_padding_tokens_are_masked_as_in_transformers(name):
    prompt = BATCH.masked_fill(LEFT == 0, 59)
    masked = assert_same_tokens(name, prompt, pad_token_id=59, max_new_tokens=9)
    assert masked.tolist() == assert_same_tokens(name, prompt, attention_mask=LEFT, max_new_tokens=9).tolist()
    assert masked.tolist() != assert_same_tokens(name, prompt, max_new_tokens=9).tolist()


@every_head
@pytest.mark.parametrize("settings", SAMPLING)
def test_sampled_tokens_are_those_of_transformers_under_the_same_seed(name, settings):
    assert_same_tokens(name, PROMPT, do_sample=True, max_new_tokens=15, **settings)
    assert_same_tokens(name, BATCH, attention_mask=LEFT, do_sample=True, max_new_tokens=8, **settings)


@every_head
def test_a_sequence_ends_with_its_end_token_and_a_batch_with_the_last_one(name):
    tokens = assert_same_tokens(name, BATCH, max_new_tokens=12)[:, 6:]
    single, first = tokens[0, 4].item(), [row[3].item() for row in tokens]
    ended = assert_same_tokens(name, BATCH[:1], max_new_tokens=12, eos_token_id=single)
    assert ended[0, -1] == single
    assert ended.shape[1] < 18
    found = assert_same_tokens(name, BATCH, max_new_tokens=12, eos_token_id=first, pad_token_id=1)
    assert found.shape[1] < 18
    assert_same_tokens(name, BATCH, max_new_tokens=12, eos_token_id=[single, 58])


@every_head
def test_twenty_tokens_are_generated_by_default_as_far_as_they_fit(name):
    assert assert_same_tokens(name, ids(1, 3, vocabulary=60)).shape == (1, 23)
    assert assert_same_tokens(name, BATCH).shape == (3, 24)


@every_head
def test_settings_of_a_folder_are_used_and_named_ones_win(name, tmp_path):
    _, theirs = lively(name)
    theirs.generation_config = transformers.GenerationConfig(
        do_sample=True, top_k=4, temperature=1.5, max_new_tokens=7, eos_token_id=[2, 3], pad_token_id=4
    )
    ours = OURS.loaded(name, save(theirs, tmp_path), {})
    for named in ({}, {"do_sample": False}, {"top_k": 1}, {"max_new_tokens": 3}):
        torch.manual_seed(5)
        found = OURS.generate(ours, PROMPT, **named)
        torch.manual_seed(5)
        assert found.tolist() == theirs.generate(PROMPT, **named).tolist()


# ---- streams and functions


@every_head
def test_a_streamer_receives_each_new_token_and_may_end_the_generation(name):
    ours, theirs = lively(name)
    whole = theirs.generate(PROMPT, max_new_tokens=10, repetition_penalty=3.0)[0].tolist()
    named = {"max_new_tokens": 10, "repetition_penalty": 3.0}
    result, seen = OURS.streamed(ours, PROMPT, -1, named)
    assert (result[0].tolist(), list(seen)) == (whole, whole[5:])
    stop = whole[8]
    count = whole[5:].index(stop) + 1
    result, seen = OURS.streamed(ours, PROMPT, stop, named)
    assert (result[0].tolist(), list(seen)) == (whole[: 5 + count], whole[5 : 5 + count])


def test_a_streamer_with_a_tokenizer_receives_text(tmp_path):
    ours, _ = lively("GPT2LMHeadModel")
    # Bytes 0xC3 and 0xA9 are one character, and token 0 is special.
    vocabulary = {"<end>": 0, "\u00c3": 1, "\u00a9": 2, **{f"\u0120w{number}": number for number in range(3, 60)}}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, []))
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.add_special_tokens(["<end>"])
    file = str(tmp_path / "tokenizer.json")
    tokenizer.save(file)
    forced = [5, 1, 2, 0, 9]  # the next tokens
    force = lambda input_ids, scores: torch.zeros_like(scores).index_fill(  # noqa: E731
        1, torch.tensor([forced[input_ids.size(1) - 5]]), 1.0
    )
    named = {"max_new_tokens": 5, "logits_processor": [force]}
    assert OURS.generate(ours, PROMPT, **named)[0, 5:].tolist() == forced
    pieces = list(OURS.streamed_text(ours, PROMPT, file, -1, named))
    assert pieces == [" w5", "\u00e9", " w9"]
    assert "".join(pieces) == tokenizer.decode(forced)
    assert list(OURS.streamed_text(ours, PROMPT, file, 2, named)) == pieces[:2]


def test_further_functions_change_the_scores_after_the_settings():
    ours, theirs = lively("GPT2LMHeadModel")
    ban = lambda input_ids, scores: scores.index_fill(1, input_ids[0], -float("inf"))  # noqa: E731
    named = {"max_new_tokens": 12, "logits_processor": [ban]}
    found = OURS.generate(ours, PROMPT, **named)
    assert found.tolist() == theirs.generate(PROMPT, **named).tolist()
    assert len(set(found[0].tolist())) == len(set(PROMPT[0].tolist())) + 12


# ---- functions of the scores


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("TemperatureLogitsWarper", [0.3, 1.0, 2.5]),
        ("TopKLogitsWarper", [1, 7, 40, 1000]),
        ("TopPLogitsWarper", [0.0, 0.1, 0.5, 0.95, 1.0]),
        ("RepetitionPenaltyLogitsProcessor", [0.5, 1.0, 1.7]),
    ],
)
def test_functions_of_the_scores_return_the_bits_of_transformers(name, values):
    generator = torch.Generator().manual_seed(1)
    scores = torch.randn(4, 50, generator=generator) * 3
    scores[1] = scores[1].round()  # equal scores
    scores[2, 10:] = -float("inf")
    prompt = ids(4, 12, vocabulary=50)
    for value in values:
        expected = getattr(transformers, name)(value)(prompt, scores.clone())
        assert OURS.processed(name, prompt, scores, value).equal(expected), value


@pytest.mark.parametrize("ignored", [0, 3, 12, torch.tensor([0, 12, 5, 1])])
def test_first_tokens_can_be_left_out_of_the_repetition_penalty(ignored):
    scores, prompt = torch.randn(4, 50, generator=torch.Generator().manual_seed(1)), ids(4, 12, vocabulary=50)
    expected = transformers.RepetitionPenaltyLogitsProcessor(1.5, ignored)(prompt, scores.clone())
    assert OURS.processed("RepetitionPenaltyLogitsProcessor", prompt, scores, 1.5, ignored).equal(expected)


# ---- memory


def test_memory_is_flat_and_no_python_runs(tmp_path):
    program = tmp_path / "program.spl"
    program.write_text(
        "use torch\nuse text.models\nuse python as py\ntorch.set_num_threads(1)\n"
        "val config = models.LlamaConfig(vocab_size: 100, hidden_size: 64, intermediate_size: 64,\n"
        "    num_hidden_layers: 2, num_attention_heads: 4, num_key_value_heads: 2, max_position_embeddings: 512)\n"
        "val net = models.LlamaForCausalLM(config).eval()\n"
        "fn generate():\n"
        "    for seed in 0..20: net.generate(torch.full([2, 8], seed), max_new_tokens: 40, do_sample: seed % 2 == 0)\n"
        "generate()\n"
        'val (handles, bytes) = (torch.live_handles(), torch.live_bytes("cpu"))\n'
        "generate()\n"
        'print torch.live_handles() - handles, torch.live_bytes("cpu") - bytes, py.is_initialized()\n'
    )
    done = run(program)
    assert (done.returncode, done.stdout) == (0, "0 0 false\n"), done.stderr


# ---- interrupts

ENDLESS = """
use torch
use text.models
torch.set_num_threads(1)
val config = models.GPT2Config(vocab_size: 100, n_positions: 1000000, n_embd: 8, n_layer: 2, n_head: 2)
val net = models.GPT2LMHeadModel(config).eval()
fn generate(): net.generate(torch.tensor([[1, 2]]), max_new_tokens: 999000, eos_token_id: nil)
"""


def interrupted(*command: str) -> tuple[str, str]:
    """The output of a program that prints "ready" and then generates; SIGINT must end the generation."""
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert program.stderr.readline() == "ready\n"
    time.sleep(0.5)
    program.send_signal(signal.SIGINT)
    return program.communicate(timeout=60)


def test_an_interrupt_ends_an_attempt_between_two_tokens(tmp_path):
    program = tmp_path / "program.spl"
    program.write_text(
        ENDLESS + 'eprint "ready"\nmatch torch.attempt(generate):\n'
        "    case Err(torch.TorchError.Interrupted(message)): print message\n"
        "    case other: print other\n"
    )
    assert interrupted(os.environ["SIMPLE_HOST"], str(program)) == ("interrupted by SIGINT\n", "")


def test_an_interrupt_is_a_keyboard_interrupt_in_a_python_process(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        f"import sys\nsys.path[:0] = {sys.path!r}\nimport torch\nfrom simple_torch import run\n"
        f"module = run({ENDLESS!r})\n"
        "print('ready', file=sys.stderr, flush=True)\n"
        "try:\n    module.generate()\nexcept KeyboardInterrupt:\n    print('interrupted')\n"
    )
    assert interrupted(sys.executable, str(script)) == ("interrupted\n", "")


# ---- errors


@pytest.mark.parametrize(
    ("named", "message"),
    [
        (
            {"temperature": 0.0},
            "InvalidArgument: generate: temperature must be a positive number, got 0.0; do_sample: false is greedy "
            "search",
        ),
        ({"top_k": -1}, "InvalidArgument: generate: top_k must be a positive integer, got -1; 0 allows all tokens"),
        ({"top_p": 1.5}, "InvalidArgument: generate: top_p must be between 0 and 1, got 1.5"),
        ({"repetition_penalty": 0}, "InvalidArgument: generate: repetition_penalty must be a positive number, got 0"),
        ({"max_new_tokens": 0}, "InvalidArgument: generate: max_new_tokens must be a positive integer, got 0"),
        ({"max_length": -3}, "InvalidArgument: generate: max_length must be a positive integer, got -3"),
        (
            {"max_length": 6},
            "InvalidArgument: generate: max_length must be above the 6 tokens of input_ids, got 6",
        ),
        (
            {"max_new_tokens": 19},
            "InvalidArgument: generate: at most 24 tokens fit (max_position_embeddings), got 25; truncate the input",
        ),
        (
            {"num_beams": 2},
            "InvalidArgument: generate: no setting named 'num_beams'; available: max_new_tokens, max_length, "
            "do_sample, temperature, top_k, top_p, repetition_penalty, use_cache, bos_token_id, eos_token_id, "
            "pad_token_id",
        ),
        (
            {"attention_mask": LEFT[:, :5]},
            "ShapeMismatch: generate: attention_mask must have the shape [3, 6], got [3, 5]",
        ),
        (
            {"attention_mask": LEFT.flip(1)},
            "InvalidArgument: generate: the last token of a sequence is padding; pad on the left",
        ),
        ({"streamer": print}, "InvalidArgument: generate: a streamer needs one sequence, got 3"),
        (
            {"eos_token_id": 5, "pad_token_id": 60},
            "InvalidArgument: generate: pad_token_id must be from 0 to 59, got 60",
        ),
    ],
)
def test_settings_that_are_wrong_are_typed_errors(named, message):
    ours, _ = decoders("GPT2LMHeadModel")
    assert OURS.generate_error(ours, BATCH, **named) == message


def test_prompts_that_are_wrong_are_typed_errors():
    ours, _ = decoders("LlamaForCausalLM")
    assert OURS.generate_error(ours, BATCH + 60).startswith(
        "IndexOutOfRange: generate: input_ids must be from 0 to 59, "
    )
    assert OURS.generate_error(ours, BATCH[0]) == (
        "ShapeMismatch: generate: input_ids must have the shape [n, length], got [6]"
    )
    assert OURS.generate_error(ours, torch.ones(1, 24, dtype=torch.long)) == (
        "InvalidArgument: generate: at most 24 tokens fit (max_position_embeddings), got 25; truncate the input"
    )


def test_settings_of_other_searches_in_a_file_are_not_supported_unless_they_have_no_effect(tmp_path):
    assert OURS.generation_error({"num_beams": 4}) == "NotImplemented: GenerationConfig: num_beams 4 is not supported"
    found = OURS.generation_settings({"num_beams": 1, "transformers_version": "5.0", "top_k": None, "top_p": 0.5})
    assert (found.top_p, found.top_k, found.eos_token_id) == (0.5, 50, None)
    path = tmp_path / "generation_config.json"
    assert OURS.generation_file_error(str(path)).startswith(f"Io: GenerationConfig: cannot read '{path}': ")
    path.write_text(json.dumps({"temperature": -1}))
    assert OURS.generation_file_error(str(path)).startswith("InvalidArgument: generate: temperature must be ")


def test_the_settings_of_a_new_model_are_those_of_its_config():
    for name, values in (("GPT2LMHeadModel", GPT2), ("LlamaForCausalLM", LLAMA)):
        ours, theirs = decoders(name, {**values, "eos_token_id": 7, "bos_token_id": 8, "pad_token_id": 9})
        for token in ("eos_token_id", "bos_token_id", "pad_token_id"):
            assert getattr(ours.generation_config, token) == getattr(theirs.generation_config, token)
