"""Unigram tokenizers of text.tokenizers against Python's `tokenizers`: trained by it, and by SentencePiece."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

import mixed_scripts
from tokenizer_jobs import LINES, Job, answers, check, pairs, saved, singles

BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
RULES = ["nmt_nfkc", "nmt_nfkc_cf", "nfkc", "nfkc_cf"]


def sentence_piece(folder: Path, rule: str, **options: Any) -> Any:
    """The fields of a model that SentencePiece trains."""
    corpus, prefix = folder / "corpus.txt", folder / rule
    corpus.write_text("\n".join(line for line in mixed_scripts.lines(600, 7) if line.strip()))
    sentencepiece.SentencePieceTrainer.train(
        input=str(corpus), model_prefix=str(prefix), vocab_size=2600, character_coverage=0.98,
        normalization_rule_name=rule, hard_vocab_limit=False, minloglevel=2, **options,
    )  # fmt: skip
    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString(Path(f"{prefix}.model").read_bytes())
    return model


def precompiled(charsmap: bytes) -> Any:
    return normalizers.Precompiled(charsmap)


def trained(tokenizer: Tokenizer, **options: Any) -> Tokenizer:
    settings = {"vocab_size": 3000, "special_tokens": ["<s>", "<unk>"], "unk_token": "<unk>", "show_progress": False}
    trainer = trainers.UnigramTrainer(**{**settings, **options})
    tokenizer.train_from_iterator(mixed_scripts.lines(600, 7), trainer)
    return tokenizer


def t5(folder: Path) -> Tokenizer:
    """As T5 and mT5: all of SentencePiece's parts."""
    model = sentence_piece(folder, "nmt_nfkc")
    pieces = [(piece.piece, piece.score) for piece in model.pieces]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0))
    tokenizer.normalizer = normalizers.Sequence(
        [precompiled(model.normalizer_spec.precompiled_charsmap), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 2)]
    )
    tokenizer.add_special_tokens(["<unk>", "<s>", "</s>"])
    return tokenizer


def xlm_roberta(folder: Path) -> Tokenizer:
    model = sentence_piece(folder, "nmt_nfkc")
    pieces = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    pieces += [(piece.piece, piece.score) for piece in model.pieces[3:]]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=3))
    tokenizer.normalizer = precompiled(model.normalizer_spec.precompiled_charsmap)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="always")]
    )
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


def bytes_of_unknown(folder: Path) -> Tokenizer:
    """As Gemma: unknown characters are tokens of bytes, and the text is one piece."""
    model = sentence_piece(folder, "identity", byte_fallback=True)
    pieces = [(piece.piece, piece.score) for piece in model.pieces]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=True))
    tokenizer.normalizer = normalizers.Replace(" ", "\u2581")
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return tokenizer


def albert(_folder: Path) -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Replace("``", '"'), normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return trained(tokenizer)


def words(_folder: Path) -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(True)])
    return trained(tokenizer, initial_alphabet=["a"], max_piece_length=5)


def byte_level(_folder: Path) -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return trained(tokenizer, vocab_size=400)


FAMILIES: list[Callable[[Path], Tokenizer]] = [t5, xlm_roberta, bytes_of_unknown, albert, words, byte_level]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_tokens_of_lines_in_mixed_scripts_equal_pythons(tmp_path: Path, family: Callable[[Path], Tokenizer]) -> None:
    path = saved(family(tmp_path), tmp_path)
    truncation = {"max_length": 15, "stride": 3, "strategy": "longest_first", "direction": "right"}
    texts = singles(mixed_scripts.lines(LINES, 11))
    check(tmp_path, [Job(path, texts), Job(path, pairs(LINES // 20, 12), batch=True),
                     Job(path, texts[:200], truncation=truncation)])  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
def test_every_character_is_normalized_as_in_python(tmp_path: Path, rule: str) -> None:
    """After a letter, and with an accent after it, as both may be one grapheme."""
    charsmap = sentence_piece(tmp_path, rule).normalizer_spec.precompiled_charsmap
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.normalizer = precompiled(charsmap)
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.model = models.Unigram([("<unk>", 0.0)], unk_id=0)
    tokenizer.pre_tokenizer = pre_tokenizers.CharDelimiterSplit("|")
    codes = [code for code in range(1, 0x110000) if not 0xD800 <= code < 0xE000]
    step = 1 if LINES == 10_000 else 10
    texts = ["|".join(f"A{chr(code)}|{chr(code)}\u0301" for code in codes[at : at + 300])
             for at in range(0, len(codes), 300 * step)]  # fmt: skip
    check(tmp_path, [Job(saved(tokenizer, tmp_path), singles([*texts, "a\r\nb\rc\n\td", "\ufb01\u0301\u200b x"]))])


SCORED = [
    [("<unk>", 0.0), ("a", 0.0), ("b", 0.0), ("c", 0.0), ("d", 0.0), ("cd", 1.0), ("ab", 2.0), ("abc", 5.0)],
    [("<unk>", 0), ("a", 50.0), ("aa", 100.0), ("aaa", 120.0), ("ba", 100.0)],
    [("<unk>", 0.0), ("a", 9.0), ("b", 1.0), ("ab", 3.0), ("a", 1.0), ("c", 0.0)],
    [("a", -1.5), ("<unk>", -3.0), ("ab", -1.5), ("b", -1.5), ("xx", -40.0), ("\u00e9", -2.0)],
]


@pytest.mark.parametrize("index", range(len(SCORED)))
def test_equal_scores_and_unknown_characters_divide_as_in_python(tmp_path: Path, index: int) -> None:
    unknown = [token for token, _ in SCORED[index]].index("<unk>")
    source = random.Random(index)
    texts = ["".join(source.choice(["a", "b", "c", "d", "x", "\u00e9", "<unk>", "\u5317"]) for _ in range(9))
             for _ in range(LINES)]  # fmt: skip
    jobs = []
    for byte_fallback in (False, True):
        pieces = SCORED[index] + [(byte, -9.0) for byte in BYTES if byte_fallback]
        tokenizer = Tokenizer(models.Unigram(pieces, unk_id=unknown, byte_fallback=byte_fallback))
        (tmp_path / str(byte_fallback)).mkdir()
        jobs.append(Job(saved(tokenizer, tmp_path / str(byte_fallback)), singles(texts)))
    check(tmp_path, jobs)


def unigram(**fields: Any) -> dict[str, Any]:
    tokenizer = Tokenizer(models.Unigram(SCORED[0], unk_id=0))
    document = json.loads(tokenizer.to_str())
    document["model"].update(fields)
    return document


def with_charsmap(charsmap: Any) -> dict[str, Any]:
    return {**unigram(), "normalizer": {"type": "Precompiled", "precompiled_charsmap": charsmap}}


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


REJECTED = [
    (unigram(vocab=[["a"]]), "model.vocab[0]: expected a token and its score, got an array"),
    (unigram(vocab=[["a", 1], 3]), "model.vocab[1]: expected a token and its score, got 3"),
    (unigram(unk_id=8), "model.unk_id: must be below the number of tokens 8, got 8"),
    (unigram(vocab=[]), "model.unk_id: must be below the number of tokens 0, got 0"),
    (with_charsmap("a"), "normalizer.precompiled_charsmap: the string is not base64"),
    (with_charsmap("ab=c"), "normalizer.precompiled_charsmap: the string is not base64"),
    (with_charsmap("abd="), "normalizer.precompiled_charsmap: the string is not base64"),
    (with_charsmap(encoded(b"ab")), "expected the size of a trie, the trie and strings, got 2 bytes"),
    (with_charsmap(encoded(b"\x08\0\0\0aaaa")), "expected the size of a trie, the trie and strings, got 8 bytes"),
    (with_charsmap(encoded(b"\0\0\0\0\xff")), "normalizer.precompiled_charsmap: the strings are not valid UTF-8"),
    (with_charsmap(encoded(b"\x04\0\0\0aaaa")), "Precompiled: the trie of precompiled_charsmap is damaged"),
    (unigram(unk_id=None), "Encountered an unknown token but `unk_id` is missing"),
]


def test_a_file_is_rejected_with_the_place_and_the_reason(tmp_path: Path) -> None:
    jobs = []
    for index, (document, _) in enumerate(REJECTED):
        path = tmp_path / f"{index}.json"
        path.write_text(json.dumps(document))
        jobs.append(Job(path, singles(["axe", "\u5317"])))
    for found, (_, message) in zip(answers(tmp_path, jobs), REJECTED, strict=True):
        assert message in found.get("error", "no error")


def test_a_file_of_the_first_versions_has_no_type_of_the_model(tmp_path: Path) -> None:
    document = unigram()
    del document["model"]["type"]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document))
    check(tmp_path, [Job(path, singles(["abcdx"]))])


def test_a_charsmap_with_a_changed_byte_is_rejected_or_read_as_by_python(tmp_path: Path) -> None:
    charsmap = sentence_piece(tmp_path, "nfkc").normalizer_spec.precompiled_charsmap
    source = random.Random(5)
    texts = singles(["\ufb01x \u212b\uff21 e\u0301\u1100\u1161", "plain text"])
    jobs = []
    for index in range(LINES // 20):
        changed = bytearray(charsmap)
        at = source.choice([source.randrange(40), source.randrange(len(changed))])
        changed[at] ^= 1 << source.randrange(8)
        path = tmp_path / f"{index}.json"
        path.write_text(json.dumps(with_charsmap(encoded(bytes(changed)))))
        jobs.append(Job(path, texts))
    accepted = 0
    for job, found in zip(jobs, answers(tmp_path, jobs), strict=True):
        if "error" not in found:
            accepted += 1
            assert found == job.expected()
    assert len(jobs) // 4 < accepted
