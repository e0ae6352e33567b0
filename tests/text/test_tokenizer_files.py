"""Files that text.tokenizers rejects: broken ones, damaged ones, and those with parts that it does not have."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from programs import run
from tokenizer_jobs import Job, answers

TRUNCATIONS, FLIPS = (1000, 10_000) if os.environ.get("SIMPLE_LONG_TESTS") == "1" else (200, 200)
TEXTS = [("Hello w\u00f6rld, a  cat's \u5317\u4eac 123 <s>\n[MASK]", None), ("a b", "c d")]


def word_piece() -> dict[str, Any]:
    tokens = [
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "a",
        "b",
        "hello",
        "w",
        "##o",
        "##r",
        "##ld",
        ",",
        "cat",
        "##s",
        "'",
        "1",
        "##2",
    ]
    tokenizer = Tokenizer(models.WordPiece({token: i for i, token in enumerate(tokens)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens(["[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    tokenizer.enable_truncation(20)
    tokenizer.enable_padding(length=8)
    return json.loads(tokenizer.to_str())


def bpe() -> dict[str, Any]:
    tokens = [
        "<s>",
        "\u2581",
        "a",
        "b",
        "c",
        "t",
        "\u2581a",
        "ca",
        "cat",
        "\u2581cat",
        "<0x0A>",
        "<0xC3>",
        "<0xB6>",
        "h",
        "e",
    ]
    merges = [("\u2581", "a"), ("c", "a"), ("ca", "t"), ("\u2581", "cat")]
    tokenizer = Tokenizer(
        models.BPE({token: i for i, token in enumerate(tokens)}, merges, unk_token="<s>", byte_fallback=True)
    )
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex("[0-9]+"), "b")])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Metaspace(), pre_tokenizers.Split(Regex(r"\s+|,"), "merged_with_previous")]
    )
    tokenizer.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.post_processor = processors.RobertaProcessing(("<s>", 0), ("<s>", 0))
    tokenizer.add_special_tokens(["<s>"])
    return json.loads(tokenizer.to_str())


def python_answer(path: Path) -> dict[str, Any] | None:
    """None if Python's library rejects the file, or cannot encode with it."""
    try:
        return Job(path, TEXTS).expected()
    except BaseException:  # its panics are no Exceptions
        return None


def check_damaged(folder: Path, documents: list[bytes]) -> tuple[int, int]:
    """Each document is rejected, or has Python's answer. Returns how many were, of each kind."""
    jobs = []
    for index, document in enumerate(documents):
        path = folder / f"{index}.json"
        path.write_bytes(document)
        jobs.append(Job(path, TEXTS))
    rejected = 0
    for job, found in zip(jobs, answers(folder, jobs), strict=True):
        if "error" in found:
            rejected += 1
            assert found["error"].startswith(("Tokenizer.from_file: '", "Tokenizer.encode: ", "Tokenizer.decode: "))
        else:
            assert found == python_answer(job.path), job.path
    return rejected, len(jobs) - rejected


@pytest.mark.parametrize("index", range(3))
def test_files_of_the_first_versions_have_no_types_of_models(tmp_path: Path, index: int) -> None:
    word_level = {"type": "WordLevel", "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "a": 3}, "unk_token": "[UNK]"}
    document = [word_piece(), bpe(), {**word_piece(), "model": word_level, "added_tokens": []}][index]
    del document["model"]["type"]
    del document["version"]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document))
    assert answers(tmp_path, [Job(path, TEXTS)]) == [python_answer(path)]


DOCUMENTS: list[Callable[[], dict[str, Any]]] = [word_piece, bpe]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.__name__)
def test_a_truncated_file_is_rejected(tmp_path: Path, document: Callable[[], dict[str, Any]]) -> None:
    text = json.dumps(document()).encode()
    ends = sorted(random.Random(1).sample(range(len(text) - 1), min(TRUNCATIONS, len(text) - 1)))
    assert check_damaged(tmp_path, [text[:end] for end in ends]) == (len(ends), 0)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.__name__)
def test_a_file_with_a_changed_byte_is_rejected_or_read_as_by_python(
    tmp_path: Path, document: Callable[[], dict[str, Any]]
) -> None:
    source = random.Random(2)
    text = json.dumps(document(), ensure_ascii=False).encode()
    damaged = []
    for _ in range(FLIPS):
        changed = bytearray(text)
        at = source.randrange(len(text))
        changed[at] = source.choice(
            [changed[at] ^ (1 << source.randrange(8)), source.choice(b'0123456789"{}[],:abn\\')]
        )
        damaged.append(bytes(changed))
    rejected, accepted = check_damaged(tmp_path, damaged)
    assert rejected > FLIPS // 4
    assert accepted > FLIPS // 40


def changed(document: dict[str, Any], place: str, value: Any) -> dict[str, Any]:
    """The document with another value at a place such as model.vocab."""
    *parents, last = place.split(".")
    inner = document
    for name in parents:
        inner = inner[int(name)] if isinstance(inner, list) else inner[name]
    if isinstance(inner, list):
        inner[int(last)] = value
    else:
        inner[last] = value
    return document


REJECTED: list[tuple[Callable[[], dict[str, Any]], str, Any, str]] = [
    (word_piece, "version", "2.0", "tokenizer.json.version: unknown version '2.0'"),
    (word_piece, "extra", 1, "tokenizer.json: field 'extra' is not supported"),
    (word_piece, "model", None, "tokenizer.json: missing field 'model'"),
    (word_piece, "model.type", "Lattice", "model.type: the model 'Lattice' is not supported"),
    (word_piece, "model.vocab", [], "model.vocab: expected an object, got an array"),
    (word_piece, "model.vocab", {"a": -1}, "model.vocab['a']: the number of a token must be a non-negative integer of"),
    (word_piece, "model.vocab", {"a": 1, "b": 1}, "model.vocab: tokens 'a' and 'b' have the same number 1"),
    (word_piece, "model.unk_token", 3, "model.unk_token: expected a string, got 3"),
    (word_piece, "model.max_input_chars_per_word", "x", "model.max_input_chars_per_word: expected a non-negative"),
    (
        word_piece,
        "normalizer",
        {"type": "Transliterate"},
        "normalizer.type: the normalizer 'Transliterate' is not supported",
    ),
    (word_piece, "normalizer.clean_text", 1, "normalizer.clean_text: expected true or false, got 1"),
    (word_piece, "pre_tokenizer.type", "FixedLength", "pre_tokenizer.type: the pre-tokenizer 'FixedLength' is not"),
    (word_piece, "post_processor.type", "X", "post_processor.type: the post-processor 'X' is not supported"),
    (
        word_piece,
        "post_processor.special_tokens",
        {},
        "post_processor.single[0].SpecialToken.id: no special token '[CLS]'",
    ),
    (word_piece, "post_processor.special_tokens.[CLS].ids", [], "ids and tokens must be of the same length"),
    (word_piece, "post_processor.special_tokens.[CLS].tokens", [1], ".tokens: expected a string, got 1"),
    (word_piece, "post_processor.single.1", {"Sequence": {"id": "B", "type_id": 0}}, "must not use sequence B"),
    (word_piece, "post_processor.single.1", {"Sequence": {"id": "C", "type_id": 0}}, "must be one of A, B, got 'C'"),
    (word_piece, "decoder.type", "X", "decoder.type: the decoder 'X' is not supported"),
    (word_piece, "added_tokens", {}, "added_tokens: expected an array, got an object"),
    (word_piece, "added_tokens.0.id", 7, "the token '[UNK]' has the number 7, but its number in the vocabulary is 0"),
    (word_piece, "added_tokens.1.content", "[UNK]", "added_tokens[1]: the token '[UNK]' is empty or occurs twice"),
    (word_piece, "truncation.strategy", "X", "truncation.strategy: must be one of LongestFirst, OnlyFirst, OnlySecond"),
    (word_piece, "padding.strategy", {"Fixed": "x"}, "padding.strategy.Fixed: expected a non-negative integer"),
    (bpe, "model.merges", [["x", "a"]], "model.merges[0]: Token `x` out of vocabulary"),
    (bpe, "model.merges", ["a"], "model.merges[0]: expected two tokens and a space between them, got 'a'"),
    (bpe, "model.merges", [1], "model.merges[0]: expected two tokens, got 1"),
    (bpe, "model.merges", ["c a", ["c", "a"]], "model.merges[1]: merges must be all strings or all pairs"),
    (bpe, "model.dropout", 0.5, "model.dropout: random merges are not supported"),
    (bpe, "model.dropout", "x", "model.dropout: expected a number, got 'x'"),
    (bpe, "normalizer.normalizers.1.pattern", {"Regex": "("}, "invalid regular expression '(': missing closing"),
    (bpe, "normalizer.normalizers.1.pattern", {"Regex": "a*"}, "a pattern that matches an empty string is not"),
    (bpe, "normalizer.normalizers.1.pattern", {"String": ""}, "an empty pattern is not supported"),
    (bpe, "normalizer.normalizers.1.pattern", {"Regex": "(?<x>a)"}, "the group '(?<x' is not supported in the regular"),
    (bpe, "normalizer.normalizers.1.pattern", {"Regex": r"a\1"}, r"'\1' is not supported in the regular expression"),
    (bpe, "normalizer.normalizers.1.pattern", {"Regex": r"\p{Nope}"}, "the property 'Nope' is not supported in the"),
    (bpe, "normalizer.normalizers.1.pattern", {"Regex": "[a&&b]"}, "'&&' in a character class is not supported"),
    (bpe, "normalizer.normalizers.1.pattern", {"Regex": "[]a]"}, "']' at the start of a character class is not"),
    (bpe, "normalizer.normalizers.1.pattern", {"Regex": "[a"}, "missing terminating ] for character class"),
    (bpe, "normalizer.normalizers.1.pattern", {"Regex": r"[\W]"}, "a negated class inside of a character class is not"),
    (bpe, "normalizer.normalizers.1.pattern", {"Regex": "(?i:ss)"}, "'ss' with (?i) is not supported"),
    (
        bpe,
        "normalizer.normalizers.1.pattern",
        {"Regex": "(?i:\u00e4)"},
        "a character outside of ASCII with (?i) is not",
    ),
    (bpe, "normalizer.normalizers.1.pattern", {"Regex": "a{2}+"}, "'+' after '{2}' is not supported"),
    (bpe, "normalizer.normalizers.1.pattern", {"Regex": "a\\"}, "\\ at end of pattern"),
    (bpe, "normalizer.normalizers.1.pattern", {"Regex": r"\pL"}, r"'\p' without braces is not supported"),
    (bpe, "pre_tokenizer.pretokenizers.0.replacement", "ab", "replacement: expected one character, got 'ab'"),
    (bpe, "pre_tokenizer.pretokenizers.0.add_prefix_space", False, "add_prefix_space does not match declared prepend"),
    (bpe, "pre_tokenizer.pretokenizers.1.behavior", "X", "behavior: must be one of Removed, Isolated, Merged"),
    (bpe, "post_processor.sep", ["a"], "post_processor.sep: expected a token and its number, got an array"),
    (bpe, "decoder.decoders.0", {"type": "BPEDecoder", "suffix": ""}, "suffix: an empty suffix is not supported"),
    (
        bpe,
        "decoder.decoders.0",
        {"type": "CTC", "pad_token": "", "word_delimiter_token": "|", "cleanup": True},
        "decoder.decoders[0]: empty tokens are not supported",
    ),
    (
        bpe,
        "added_tokens",
        [
            {
                "id": 15,
                "content": "9",
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": True,
                "special": False,
            },
            {
                "id": 16,
                "content": "8",
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": True,
                "special": False,
            },
        ],
        "added_tokens: after the normalizer, the token '8' is empty or equals another one",
    ),
]


def test_a_file_is_rejected_with_the_place_and_the_reason(tmp_path: Path) -> None:
    jobs = []
    for index, (document, place, value, _) in enumerate(REJECTED):
        path = tmp_path / f"{index}.json"
        path.write_text(json.dumps(changed(document(), place, value)))
        jobs.append(Job(path, TEXTS))
    for job, found, (_, place, _, message) in zip(jobs, answers(tmp_path, jobs), REJECTED, strict=True):
        error = found.get("error", "no error")
        assert error.startswith(f"Tokenizer.from_file: '{job.path}': "), (place, error)
        assert message in error, (place, error)


def test_processors_that_divide_a_text_must_be_last(tmp_path: Path) -> None:
    document = word_piece()
    template = document["post_processor"]
    document["post_processor"] = {"type": "Sequence", "processors": [template, template]}
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document))
    assert "a processor after TemplateProcessing is not supported" in answers(tmp_path, [Job(path, TEXTS)])[0]["error"]


def test_a_duplicate_field_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(word_piece()).replace('"lowercase": true', '"lowercase": true, "lowercase": true'))
    assert answers(tmp_path, [Job(path, TEXTS)])[0]["error"].endswith("normalizer: duplicate field 'lowercase'")
    path.write_text(json.dumps(word_piece()).replace('"cat":', '"a":'))
    assert answers(tmp_path, [Job(path, TEXTS)])[0]["error"].endswith("model.vocab: duplicate token 'a'")


def test_a_file_that_is_not_utf8_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(json.dumps(word_piece()).encode().replace(b"hello", b"hell\xff"))
    assert answers(tmp_path, [Job(path, TEXTS)])[0]["error"].endswith("tokenizer.json: the file is not valid UTF-8")


CALLS = [
    ('Tokenizer.from_file("{folder}/absent.json")', "cannot read {folder}/absent.json: No such file or directory"),
    ("Tokenizer.from_file(3)", "Tokenizer.from_file: expected a string, got i64"),
    ('Tokenizer.from_str("[]")', "Tokenizer.from_str: tokenizer.json: expected an object, got an array"),
    ("t.encode(3)", "Tokenizer.encode: expected a string, got i64; is_pretokenized is false"),
    ('t.encode(["a"])', "Tokenizer.encode: expected a string, got array; is_pretokenized is false"),
    ('t.encode("a", is_pretokenized: true)', "Tokenizer.encode: expected an array of words, got text; is_pretokenized"),
    ("t.encode([3], is_pretokenized: true)", "Tokenizer.encode: expected a word, got i64"),
    ('t.encode_batch("a")', "Tokenizer.encode_batch: expected an array, got text"),
    ('t.encode_batch([("a", "b", "c")])', "Tokenizer.encode_batch: a pair has two texts, got 3"),
    ("t.decode([-1])", "Tokenizer.decode: a token's number must be a non-negative integer of 32 bits, got -1"),
    ('t.decode("a")', "Tokenizer.decode: expected an array of integers, got text"),
    ("t.id_to_token(-1)", "Tokenizer.id_to_token: a token's number must be a non-negative integer of 32 bits, got -1"),
    ("t.enable_truncation(-1)", "Tokenizer.enable_truncation: max_length must be a non-negative integer of 32 bits"),
    ("t.enable_truncation(4, stride: 3)", "stride must not exceed max_length without special tokens, got stride 3"),
    ('t.enable_truncation(4, strategy: "x")', "strategy must be one of 'longest_first', 'only_first', 'only_second'"),
    ('t.enable_padding(direction: "up")', "direction must be one of 'left', 'right', got 'up'"),
    ('cut(t, 4, "only_second").encode("a a a a a")', "Truncation error: Second sequence not provided"),
    ('cut(t, 5, "only_first").encode("a", "a a a a a")', "Sequence to truncate too short to respect the provided"),
    ('cut(t, 2, "longest_first").encode("a", "b")', "max_length must be at least the number of special tokens 3"),
    ('cut(t, 5, "longest_first", 2).encode("a a a a", "b b b b")', "truncation: stride must be less than the length"),
    ('u.encode("\\u{5317}")', "WordPiece error: Missing [NO] token from the vocabulary"),
    ('b.encode("\\u{5317}")', "Unk token `<no>` not found in the vocabulary"),
    ('w.encode("x")', "WordLevel error: Missing [UNK] token from the vocabulary"),
]


def test_calls_with_bad_arguments_are_rejected(tmp_path: Path) -> None:
    word_level = {**word_piece(), "model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "[NO]"}}
    documents = {
        "t": word_piece(),
        "u": changed(word_piece(), "model.unk_token", "[NO]"),
        "b": changed(bpe(), "model.unk_token", "<no>"),
        "w": {**word_level, "added_tokens": [], "post_processor": None},
    }
    lines = [
        "use text.tokenizers.{Tokenizer}",
        "fn cut(tokenizer, length, strategy, stride = 0):",
        "    tokenizer.enable_truncation(length, strategy: strategy, stride: stride)",
        "    tokenizer",
    ]
    for name, document in documents.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
        lines.append(f'val {name} = Tokenizer.from_file("{tmp_path}/{name}.json")')
    for call, _ in CALLS:
        text = call.replace("{folder}", str(tmp_path))
        lines += [f"match attempt(\\: {text}):", '    case Ok(_): print "no error"']
        lines.append("    case Err(failure): print failure.payload.message()")
    program = tmp_path / "calls.spl"
    program.write_text("\n".join(lines) + "\n")
    result = run(program)
    assert (result.returncode, result.stderr) == (0, "")
    for (call, message), found in zip(CALLS, result.stdout.splitlines(), strict=True):
        assert message.replace("{folder}", str(tmp_path)) in found, call
