"""Byte pair encoding of text.tokenizers against Python's `tokenizers`, with tokenizers that the tests train."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

import mixed_scripts
from programs import run
from tokenizer_jobs import LINES, Job, check, pairs, saved, singles

LOOKUPS = Path(__file__).parent / "tokenizer_lookups.spl"
# The patterns of Llama 3 and GPT-4o.
LLAMA_3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
GPT_4O = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
SPECIAL = ["<s>", "</s>", "<mask>", "<|endoftext|>", "<|sep|>"]


def trained(tokenizer: Tokenizer, **options: Any) -> Tokenizer:
    settings = {"vocab_size": 1500, "special_tokens": SPECIAL, "show_progress": False, **options}
    tokenizer.train_from_iterator(mixed_scripts.lines(600, 7), trainers.BpeTrainer(**settings))
    return tokenizer


def gpt_2(add_prefix_space: bool = False) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=add_prefix_space, add_prefix_space=add_prefix_space)
    return trained(tokenizer, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())


def roberta() -> Tokenizer:
    tokenizer = gpt_2(add_prefix_space=True)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 1), ("<s>", 0), add_prefix_space=True)
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    return tokenizer


def split_bytes(pattern: str, **options: Any) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(**options))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), "isolated", invert=False),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trained(tokenizer, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.post_processor = processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=False),
            processors.TemplateProcessing(
                single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", tokenizer.token_to_id("<s>"))]
            ),
        ]
    )
    return tokenizer


def llama_3() -> Tokenizer:
    return split_bytes(LLAMA_3, ignore_merges=True)


def gpt_4o() -> Tokenizer:
    return split_bytes(GPT_4O)


def byte_fallback(**options: Any) -> tuple[Tokenizer, dict[str, Any]]:
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True, **options))
    special = ["<unk>", *SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256))]
    return tokenizer, {"special_tokens": special, "vocab_size": 1800, "limit_alphabet": 300}


def metaspace() -> Tokenizer:
    """As the tokenizers that are converted from SentencePiece."""
    tokenizer, options = byte_fallback()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=True)
    tokenizer.decoder = decoders.Sequence(
        [
            decoders.Replace("\u2581", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(content=" ", left=1, right=0),
        ]
    )
    return plain_bytes(trained(tokenizer, **options))


def llama_2() -> Tokenizer:
    """As Llama 2: spaces are replaced by the normalizer, and the text is one piece."""
    tokenizer, options = byte_fallback()
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)]
    )
    return plain_bytes(trained(tokenizer, **options))


def plain_bytes(tokenizer: Tokenizer) -> Tokenizer:
    """The bytes of byte fallback are tokens of the model only, as in the files of SentencePiece."""
    document = json.loads(tokenizer.to_str())
    document["added_tokens"] = [token for token in document["added_tokens"] if not token["content"].startswith("<0x")]
    return Tokenizer.from_str(json.dumps(document))


def clip() -> Tokenizer:
    """As CLIP: bytes, with a suffix that ends words."""
    tokenizer = Tokenizer(models.BPE(unk_token="<|endoftext|>", end_of_word_suffix="</w>"))
    spaces = normalizers.Replace(Regex(r"\s+"), " ")
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), spaces, normalizers.Lowercase()])
    words = Regex(r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(words, "removed", invert=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.BPEDecoder(suffix="</w>")
    trained(tokenizer, end_of_word_suffix="</w>", initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.post_processor = processors.BertProcessing(("</s>", 1), ("<s>", 0))
    return tokenizer


def with_suffix() -> Tokenizer:
    """As the first BPE tokenizers: a suffix ends words."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase(), normalizers.Strip()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(True)])
    tokenizer.decoder = decoders.BPEDecoder(suffix="</w>")
    return trained(tokenizer, special_tokens=["<unk>", *SPECIAL], end_of_word_suffix="</w>", limit_alphabet=200)


def with_prefix() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", continuing_subword_prefix="##", fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()])
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.decoder = decoders.WordPiece(prefix="##", cleanup=False)
    return trained(tokenizer, special_tokens=["<unk>", *SPECIAL], continuing_subword_prefix="##", limit_alphabet=200)


FAMILIES: list[Callable[[], Tokenizer]] = [
    gpt_2,
    roberta,
    llama_3,
    gpt_4o,
    metaspace,
    llama_2,
    clip,
    with_suffix,
    with_prefix,
]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_tokens_of_lines_in_mixed_scripts_equal_pythons(tmp_path: Path, family: Callable[[], Tokenizer]) -> None:
    path = saved(family(), tmp_path)
    texts = singles(mixed_scripts.lines(LINES, 11))
    both = pairs(LINES // 20, 12)
    truncation = {"max_length": 15, "stride": 3, "strategy": "longest_first", "direction": "right"}
    check(
        tmp_path,
        [Job(path, texts), Job(path, both, batch=True), Job(path, texts[:200], truncation=truncation)],
    )


def looked_up(tokenizer: Tokenizer, request: dict[str, Any]) -> dict[str, Any]:
    """What tokenizer_lookups.spl prints, from Python's library."""
    stream = decoders.DecodeStream(skip_special_tokens=False)
    encoding = tokenizer.encode(request["text"], request["pair"])
    positions = range(len(encoding))
    # Python returns the text too.
    words = [encoding.token_to_word(i) for i in positions]
    chars = [encoding.token_to_chars(i) for i in positions]
    return {
        "vocab": tokenizer.get_vocab(),
        "model_vocab": tokenizer.get_vocab(with_added_tokens=False),
        "tokens": [tokenizer.id_to_token(id) for id in request["ids"]],
        "ids": [tokenizer.token_to_id(token) for token in request["tokens"]],
        "stream": [stream.step(tokenizer, id) for id in request["ids"]],
        "texts": tokenizer.decode_batch([request["ids"], encoding.ids], skip_special_tokens=False),
        "special": [tokenizer.num_special_tokens_to_add(False), tokenizer.num_special_tokens_to_add(True)],
        "token_to_chars": [found and list(found) for found in chars],
        "token_to_word": words,
        "token_to_sequence": [encoding.token_to_sequence(i) for i in positions],
        "char_to_token": [[encoding.char_to_token(i), encoding.char_to_token(i, 1)] for i in range(12)],
        "n_sequences": encoding.n_sequences,
        "shown": str(encoding),
        "length": len(encoding),
    }


@pytest.mark.parametrize("family", [roberta, llama_3, metaspace], ids=lambda family: family.__name__)
def test_tokens_numbers_and_streams_equal_pythons(tmp_path: Path, family: Callable[[], Tokenizer]) -> None:
    tokenizer = family()
    text = "Hello w\u00f6rld \u5317\u4eac \U0001f600 <s> caf\u00e9"
    request = {
        "text": text,
        "pair": "two  words",
        "ids": [*tokenizer.encode(text).ids, 10**6],
        "tokens": ["<s>", "a", "no such token", "<mask>"],
    }
    result = run(LOOKUPS, saved(tokenizer, tmp_path), json.dumps(request))
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads(result.stdout) == looked_up(tokenizer, request)


def test_both_texts_of_a_pair_have_tokens_with_the_spaces_around_them(tmp_path: Path) -> None:
    path = saved(roberta(), tmp_path)
    texts = [("a  <mask> b", "<s> \t<mask>"), ("b", "   <mask>")]
    words = [(["a", " <mask>"], ["  <mask>", "b"])]
    check(tmp_path, [Job(path, texts, batch=True), Job(path, words, is_pretokenized=True)])


def test_special_tokens_can_be_encoded_as_text(tmp_path: Path) -> None:
    path = saved(roberta(), tmp_path)
    check(tmp_path, [Job(path, singles(["a <mask> b</s>", " <s>"]), encode_special_tokens=True)])


TOKENS = [
    AddedToken("abc", single_word=True),
    AddedToken("left", lstrip=True, normalized=False),
    AddedToken("right", rstrip=True),
    AddedToken("Both", lstrip=True, rstrip=True, special=True),
    AddedToken("BothMore", normalized=False),
    AddedToken("\u00c9t\u00e9", single_word=True),
]


def test_added_tokens_are_found_as_in_python(tmp_path: Path) -> None:
    tokenizer = with_prefix()
    tokenizer.add_tokens(TOKENS)
    source = random.Random(3)
    parts = [*(token.content for token in TOKENS), *(token.content.upper() for token in TOKENS), "x", "_", "\u0301"]
    texts = [
        "".join(source.choice(parts) + source.choice(["", " ", "  ", "\t", "-"]) for _ in range(6))
        for _ in range(LINES)
    ]
    check(tmp_path, [Job(saved(tokenizer, tmp_path), singles(texts))])


SPLITS = [
    r"\s+",
    r"\S",
    r"\d{2,3}",
    r"\w+",
    r"\W",
    r"\D+?",
    r"\bcat\b",
    r"\B",
    r"[\s\S]{,3}",
    r"\p{Han}+|\p{^L}",
    r"\h\H",
    r"(?<=a)b|(?>c+)d",
    r"^.|$",
    r"\A\u0061|\x{62}\z",
    r"[^\r\n\p{Lu}]*+",
    r"\P{Latin}",
    r"[\S]",
    r"(?i)CAT(?-i:D)",
]
BEHAVIORS = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]


@pytest.mark.parametrize("pattern", SPLITS)
def test_regular_expressions_split_as_in_python(tmp_path: Path, pattern: str) -> None:
    jobs = []
    texts = [*mixed_scripts.lines(LINES // 20, 21), "aab cat concat cats 1234567 caT\n\ncatD", "ab", "a\n", "\n\n a"]
    for index, behavior in enumerate(BEHAVIORS):
        tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(pattern), behavior, invert=index == 4)
        (tmp_path / behavior).mkdir()
        jobs.append(Job(saved(tokenizer, tmp_path / behavior), singles(texts)))
    check(tmp_path, jobs)


@pytest.mark.parametrize("category", ["L", "Lu", "M", "N", "Nd", "P", "S", "Z", "Han", "Cyrillic", "Arabic", "Latin"])
def test_categories_have_the_characters_of_python(tmp_path: Path, category: str) -> None:
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(rf"\p{{{category}}}"), "removed")
    codes = [code for code in range(1, 0x110000) if not 0xD800 <= code < 0xE000]
    step = 1 if LINES == 10_000 else 10
    texts = ["".join(map(chr, codes[at : at + 1000])) for at in range(0, len(codes), 1000 * step)]
    check(tmp_path, [Job(saved(tokenizer, tmp_path), singles(texts))])


def test_words_and_digits_split_at_every_character_as_in_python(tmp_path: Path) -> None:
    jobs = []
    codes = [code for code in range(1, 0x110000) if not 0xD800 <= code < 0xE000]
    texts = ["".join(f"a{chr(code)}" for code in codes[at : at + 500]) for at in range(0, len(codes), 500 * 20)]
    splitters = [pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=False),
                 pre_tokenizers.Split(Regex(r"\w"), "removed"), pre_tokenizers.Split(Regex(r"\s"), "removed"),
                 pre_tokenizers.CharDelimiterSplit("a"), pre_tokenizers.Punctuation("contiguous")]  # fmt: skip
    for index, splitter in enumerate(splitters):
        tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = splitter
        (tmp_path / str(index)).mkdir()
        jobs.append(Job(saved(tokenizer, tmp_path / str(index)), singles(texts)))
    check(tmp_path, jobs)


NORMALIZERS = [
    normalizers.NFC(),
    normalizers.NFD(),
    normalizers.NFKC(),
    normalizers.NFKD(),
    normalizers.Nmt(),
    normalizers.Lowercase(),
    normalizers.StripAccents(),
    normalizers.ByteLevel(),
    normalizers.Prepend("\u2581x"),
    normalizers.Strip(left=True, right=False),
    normalizers.Replace(Regex(r"\s+"), "--"),
    normalizers.BertNormalizer(lowercase=False, strip_accents=False),
    normalizers.Replace("a", "\u00e4a"),
    normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.NFC()]),
]


@pytest.mark.parametrize("index", range(len(NORMALIZERS)))
def test_normalizers_and_their_offsets_equal_pythons(tmp_path: Path, index: int) -> None:
    vocabulary = {"<unk>": 0, **{chr(code): code for code in range(1, 0x250)}}
    tokenizer = Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>"))
    tokenizer.normalizer = NORMALIZERS[index]
    tokenizer.decoder = decoders.Fuse()
    check(tmp_path, [Job(saved(tokenizer, tmp_path), singles(mixed_scripts.lines(LINES // 4, 31)))])


DECODERS = [
    decoders.WordPiece(prefix="##", cleanup=True),
    decoders.CTC(),
    decoders.CTC(cleanup=False),
    decoders.BPEDecoder(suffix="</w>"),
    decoders.Metaspace(),
    decoders.Metaspace(prepend_scheme="never"),
    decoders.ByteLevel(),
    decoders.ByteFallback(),
    decoders.Replace(Regex("[ab]+"), "<>"),
]
PARTS = [
    "a",
    "##b",
    " do not",
    " n't",
    ".",
    " ' ",
    "<pad>",
    "|",
    "x</w>",
    "\u2581a",
    "\u2581",
    "\u0120b",
    "\u00c3",
    "\u00a9",
    "<0xE2>",
    "<0x82>",
    "<0xAC>",
    "<0xff>",
    "<0x+1>",
    "\u5317",
    "\u00f0\u0141\u013a",
    "ab a",
]


@pytest.mark.parametrize("index", range(len(DECODERS)))
def test_decoders_equal_pythons(tmp_path: Path, index: int) -> None:
    tokenizer = Tokenizer(models.WordLevel({part: i for i, part in enumerate(PARTS)}, unk_token="a"))
    tokenizer.decoder = DECODERS[index]
    source = random.Random(index)
    ids = [[source.randrange(len(PARTS)) for _ in range(source.randint(1, 8))] for _ in range(LINES // 2)]
    check(tmp_path, [Job(saved(tokenizer, tmp_path), [], decoded=ids)])
