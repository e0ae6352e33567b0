"""Lines of text in many scripts, with what is hard for tokenizers: marks, spaces, controls, emoji, code."""

from __future__ import annotations

import random
import unicodedata

_RANGES = {
    "latin": "a-zA-Z",
    "latin_marks": "\u00c0-\u017f",
    "greek": "\u0391-\u03c9",
    "cyrillic": "\u0410-\u044f",
    "hebrew": "\u05d0-\u05ea",
    "arabic": "\u0627-\u064a",
    "devanagari": "\u0905-\u0939",
    "thai": "\u0e01-\u0e2e",
    "hangul": "\uac00-\ud7a3",
    "hiragana": "\u3041-\u3096",
    "han": "\u4e00-\u9fff",
    "han_extended": "\U00020000-\U0002a6d6",
    "georgian": "\u10d0-\u10f0",
    "ethiopic": "\u1200-\u1248",
    "mathematical": "\U0001d400-\U0001d454",
    "full_width": "\uff21-\uff5a",
}
_MARKS = "\u0300\u0301\u0308\u0323\u0327\u0331\u0345\u064b\u0650\u093e\u094d\u0e31\u0e48\u05b8\u3099\u20d0\ufe0f"
_SPACES = [" "] * 12 + ["  ", "   ", "\t", "\n", "\r\n", "\u00a0", "\u2003", "\u3000", "\u2028", "\u180e", "\u200b"]
_OTHERS = [
    "\0",
    "\x07",
    "\x1f",
    "\x7f",
    "\u0085",
    "\u00ad",
    "\u200d",
    "\ufeff",
    "\ufffd",
    "\ue000",
    "\u0378",
    "\U0010ffff",
]
_PUNCTUATION = list("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") + [
    "\u00bf",
    "\u2019",
    "\u2026",
    "\u3002",
    "\u060c",
    "\u0964",
    "\u20ac",
]
_TEXT = """the quick brown fox jumps over lazy dogs unaffable tokenization don't we'll I've it's they're o'clock
    antidisestablishmentarianism hello world Stra\u00dfe \u0130stanbul na\u00efve caf\u00e9 \ufb01nancial \u2460 \u00bd
    x\u00b2 \u2167 3.14 1,000 2024 007 \u0661\u0662\u0663 \u0967\u0968 https://example.com/a?b=c#d user@host.org
    f(x)=x**2; {"key":[1,2]} C++ #tag @name snake_case camelCase \U0001f600
    \U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1eb\U0001f1f7 \u2764\ufe0f \u1e9b\u0323 q\u0307\u0323
    \u1100\u1161\u11a8 \u0915\u094d\u0937 \u212b \u03a3\u03ac\u03c3 \u00c5ngstr\u00f6m"""
_WORDS = _TEXT.split()
SPECIAL = ["[MASK]", "[CLS]", "[SEP]", "<s>", "</s>", "<mask>", "<|endoftext|>", "<|sep|>", "[UNK]", "[mask]"]


def _letters(source: random.Random, script: str) -> str:
    spans = _RANGES[script]
    pairs = [(spans[i], spans[i + 2]) for i in range(0, len(spans), 3)]
    first, last = source.choice(pairs)
    return "".join(chr(source.randint(ord(first), ord(last))) for _ in range(source.randint(1, 8)))


def _word(source: random.Random) -> str:
    kind = source.random()
    if kind < 0.45:
        return source.choice(_WORDS)
    if kind < 0.8:
        text = _letters(source, source.choice(list(_RANGES)))
        text = text + source.choice(_MARKS) * source.choice([0, 0, 1, 2]) if source.random() < 0.4 else text
        return unicodedata.normalize(source.choice(["NFC", "NFD", "NFKC"]), text)
    if kind < 0.86:
        return str(source.randint(0, 10 ** source.randint(1, 12)))
    if kind < 0.95:
        return source.choice(_PUNCTUATION) * source.choice([1, 1, 1, 3])
    return source.choice(_OTHERS) if kind < 0.98 else source.choice(SPECIAL)


def line(source: random.Random) -> str:
    """One line, which may have line breaks of its own, or be empty."""
    parts = []
    for _ in range(source.choice([0, 1, 2, 4, 8, 16, 16, 32])):
        parts.append(_word(source))
        parts.append(source.choice(_SPACES) if source.random() < 0.85 else "")
    return "".join(parts)


def lines(count: int, seed: int) -> list[str]:
    source = random.Random(seed)
    return [line(source) for _ in range(count)]
