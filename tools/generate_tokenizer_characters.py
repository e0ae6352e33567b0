#!/usr/bin/env python3
"""Writes host/tokenizers/character_tables.inc: the classes of characters of Hugging Face's `tokenizers`.

Its parts use several versions of Unicode: the categories of the BERT parts are those of Unicode 8, its
decompositions those of Unicode 12, and its regular expressions those of Unicode 16. The script asks the installed
library about every character, so that the tables have its answers. Run it in the environment of the tests:

    .simple/torch-2.15/bin/python tools/generate_tokenizer_characters.py
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path

from tokenizers import Regex, __version__, normalizers, pre_tokenizers

TARGET = Path(__file__).resolve().parents[1] / "host/tokenizers/character_tables.inc"
CODES = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
SNOWMAN = "\u2603"  # neither a letter, a number, a mark, a space nor punctuation
OVERLAY = "\u0334"  # a mark of the lowest combining class
SCRIPTS = (
    "Arabic",
    "Cyrillic",
    "Devanagari",
    "Greek",
    "Han",
    "Hangul",
    "Hebrew",
    "Hiragana",
    "Katakana",
    "Latin",
    "Thai",
)
UNICODE_15 = range(0x1E030, 0x1E06E)  # letters with a compatibility decomposition, which Python 3.11 does not know


def ranges(codes: Iterable[int]) -> list[list[int]]:
    """Neighbors joined.

    >>> ranges([1, 2, 3, 7])
    [[1, 3], [7, 7]]
    """
    found: list[list[int]] = []
    for code in sorted(codes):
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return found


def removed_by(normalizer: normalizers.Normalizer) -> set[int]:
    return {code for code in CODES if normalizer.normalize_str(f"a{chr(code)}b") == "ab"}


def split_by(splitter: pre_tokenizers.PreTokenizer, around: str = "a") -> set[int]:
    """The characters that are pieces of their own between two other ones."""
    cases = ((code, f"{around}{chr(code)}{around}") for code in CODES)
    return {code for code, text in cases if any(span == (1, 2) for _, span in splitter.pre_tokenize_str(text))}


def bert(**options: bool) -> normalizers.BertNormalizer:
    off = {"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False}
    return normalizers.BertNormalizer(**{**off, **options})


def matched_by(pattern: str) -> set[int]:
    around = "a" if pattern.startswith((r"\p{S", r"\p{C")) else SNOWMAN
    return split_by(pre_tokenizers.Split(Regex(pattern), "isolated"), around)


def word_characters() -> set[int]:
    """Those that Rust's \\w matches."""
    splitter = pre_tokenizers.Whitespace()
    return {code for code in CODES if len(splitter.pre_tokenize_str(f"a{chr(code)}b")) == 1}


def without_decomposition(form: str, normalizer: normalizers.Normalizer) -> set[int]:
    """Characters that a newer Unicode decomposes, and the library leaves as they are."""
    unchanged = (code for code in CODES if normalizer.normalize_str(chr(code)) == chr(code))
    newer = set(UNICODE_15) if form == "NFKD" else set()
    return {code for code in unchanged if code in newer or unicodedata.normalize(form, chr(code)) != chr(code)}


def without_class() -> set[int]:
    """Marks whose combining class the library does not know: they are not reordered."""
    nfd = normalizers.NFD()
    marks = (code for code in CODES if unicodedata.combining(chr(code)) > 1)
    return {code for code in marks if nfd.normalize_str(chr(code) + OVERLAY)[0] == chr(code)}


def lowercase_pairs() -> list[tuple[int, int]]:
    """Letters of newer versions of Unicode with their small letters."""
    lower = normalizers.Lowercase().normalize_str
    return [(code, ord(lower(chr(code)))) for code in CODES if lower(chr(code)) != chr(code).lower()]


def added_to_categories() -> list[tuple[str, int, int]]:
    """Characters of the general categories that are not in Python's version of Unicode; those of some
    scripts; and what a word has besides letters, marks, digits and connectors."""
    categories = sorted({unicodedata.category(chr(code)) for code in CODES} - {"Cn", "Co", "Cc", "Cf", "Cs"})
    rows = []
    for name in categories:
        known = {code for code in CODES if unicodedata.category(chr(code)) == name}
        rows += [(name, first, last) for first, last in ranges(matched_by(f"\\p{{{name}}}") - known)]
    for name in SCRIPTS:
        new = {code for code in matched_by(f"\\p{{{name}}}") if unicodedata.category(chr(code)) == "Cn"}
        rows += [(name, first, last) for first, last in ranges(new)]
    word = {code for code in matched_by(r"\w") if not is_of_word(unicodedata.category(chr(code)))}
    return rows + [("Word", first, last) for first, last in ranges(word)]


def is_of_word(category: str) -> bool:
    return category[0] in "LM" or category in ("Nd", "Pc")


def lines(items: list[str]) -> str:
    """The items in lines of at most 110 columns."""
    text, width = "", 200
    for item in items:
        if width + len(item) + 2 > 110:
            text, width = f"{text.rstrip()}\n    ", 4
        text, width = f"{text}{item}, ", width + len(item) + 2
    return text.rstrip()


def range_table(name: str, comment: str, codes: set[int]) -> str:
    items = [f"{{0x{first:x}, 0x{last:x}}}" for first, last in ranges(codes)]
    return f"// {comment}\nconstexpr CharacterRange {name}[] = {{{lines(items)}\n}};\n"


def row_table(name: str, kind: str, comment: str, rows: list[str]) -> str:
    return f"// {comment}\nconstexpr {kind} {name}[] = {{{lines(rows)}\n}};\n"


TABLES: tuple[tuple[str, str, Callable[[], set[int]]], ...] = (
    ("kControls", "Removed by BertNormalizer's clean_text.", lambda: removed_by(bert(clean_text=True))),
    ("kPunctuation", "Split by BertPreTokenizer and Punctuation.", lambda: split_by(pre_tokenizers.Punctuation())),
    ("kAccents", "Removed by BertNormalizer's strip_accents.", lambda: removed_by(bert(strip_accents=True))),
    ("kCombiningMarks", "Removed by StripAccents.", lambda: removed_by(normalizers.StripAccents())),
    ("kNumerals", "Split by Digits.", lambda: split_by(pre_tokenizers.Digits(individual_digits=True))),
    ("kWordCharacters", "Characters of words for Whitespace and single_word.", word_characters),
    ("kNotDecomposed", "Not decomposed by NFD.", lambda: without_decomposition("NFD", normalizers.NFD())),
    ("kNotCompatible", "Not decomposed by NFKD.", lambda: without_decomposition("NFKD", normalizers.NFKD())),
    ("kNotReordered", "Marks that are not reordered.", without_class),
)


def main() -> None:
    head = f"// Generated by tools/generate_tokenizer_characters.py from Python's tokenizers {__version__}.\n"
    parts = [range_table(name, comment, codes()) for name, comment, codes in TABLES]
    pairs = [f"{{0x{upper:x}, 0x{small:x}}}" for upper, small in lowercase_pairs()]
    parts.append(row_table("kNewSmallLetters", "CharacterPair", "Small letters of newer capital letters.", pairs))
    rows = [f'{{"{name}", 0x{first:x}, 0x{last:x}}}' for name, first, last in added_to_categories()]
    comment = "Characters of the categories of regular expressions that PCRE2 10.42 does not know."
    parts.append(row_table("kNewCharacters", "CategoryRange", comment, rows))
    TARGET.write_text(head + "\n" + "\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
