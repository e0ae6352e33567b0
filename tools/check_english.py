#!/usr/bin/env python3
"""Checks the English of the sources and documents: glossary, sentence length and line width.

Usage: tools/check_english.py [PATH...]

CONTRIBUTING.md has the rules. A word of the glossary that means something else on a line is allowed
by an entry in tools/english_exceptions.txt: the file, a tab, and a piece of that line.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXCEPTIONS = ROOT / "tools" / "english_exceptions.txt"
MAX_COLUMNS = 100
MAX_SENTENCE_WORDS = 35

# Words that puzzle readers, and what to write. They are looked for in comments, strings and documents.
WORDS = {
    r"gives|gave": "returns, produces, provides",
    r"hand(?:s|ed|ing)? out": "returns",
    r"take[sn]? in|took in|taking in": "accepts, imports",
    r"tells?|told": "reports, prints, raises, is notified",
    r"says": "reports, states, prints",
    r"refuse[sd]?|refusals?|refusing": "rejects, raises an error",
    r"mend(?:s|ed|ing)?": "fixes",
    r"lets? go|letting go": "releases, destroys",
    r"beside": "next to, in addition to",
    r"round (?=the\b|an?\b|it\b|its\b|them\b|each\b|every\b|that\b|this\b|one\b)": "around",
    r"(?<!Ctrl-C )press(?:es)?(?! any)": "an interrupt, SIGINT",
    r"rooms?|doors?|house": "component, module, interface",
    r"pictures?": "image",
    r"Python's end|process's end|at its end": "at exit, at shutdown",
    r"words of": "message from",
    r"lent|lend(?:s|ing)?|loans?": "exported, borrowed",
    r"births?|lasting": "allocation, generation, immortal",
    r"what stands here|documents that began": "the code in this page; the specification",
    r"such a one|none of numbers|hears of|hear of": "name the thing",
}

# Identifiers that were renamed; none may come back.
IDENTIFIERS = """
births Birth glance_at give_back let_go is_lasting insert_lasting is_life_of KeptSlots keep_or_push one_more one_less
Undisturbed Interruptible AtWork own_table ways_in see_to_deferred_memory stay_first_at_exit or_stay
stay_until_the_end handed_out taken_back ExceptionPends explained throw_explained OwnLock below_autograd fatal_inputs
ReplacedFile slopes tensor_over is_plainly_good LittleRoom complaints kept_memory minds_replacement __replaced__
take_along agreed_successor
""".split()
DECLARATION = re.compile(
    r"^\s*(?:val |var |const |static |auto |for |bool |int |[\w:<>]+[&*]? )*\b(told|given)\b(?: *(?:=[^=]|:(?!:)|;| in ))"
)

CODE = {".cpp", ".h", ".hpp", ".c", ".inc", ".py", ".spl", ".toml", ".cmake", ".sh"}
GENERATED = ("abi/generated/", "docs/reference/")


@dataclass(frozen=True)
class Finding:
    """One place that breaks a rule."""

    path: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}"


def tracked_files(paths: list[str]) -> list[str]:
    listed = subprocess.run(["git", "ls-files", *paths], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def prose_of(path: str, line: str) -> str:
    """The part of a line of code that people read: comments and strings."""
    if path.endswith(".md"):
        return re.sub(r"`[^`]*`", " ", line)
    comment = re.search(r"(?:^|\s)(?://+|#|\*|/\*)\s?(?!include\b)(.*)", line)
    strings = re.findall(r'"((?:[^"\\]|\\.)*)"', line)
    return " ".join([*strings, comment[1] if comment else ""])


_WORDS = [(re.compile(rf"\b(?:{pattern})(?!\w)", re.I), instead) for pattern, instead in WORDS.items()]
_IDENTIFIERS = re.compile(rf"\b(?:{'|'.join(IDENTIFIERS)})\b")


def words_in(prose: str) -> Iterator[str]:
    """The words of the glossary that `prose` contains, each with what to write."""
    for pattern, instead in _WORDS:
        found = pattern.search(prose)
        if found:
            yield f"'{found[0].strip()}': write {instead}"


def glossary_findings(path: str, text: str) -> Iterator[Finding]:
    in_fence = in_docstring = False
    for number, line in enumerate(text.splitlines(), 1):
        if path.endswith(".md"):
            if line.lstrip().startswith("```"):
                in_fence = not in_fence
                continue
            prose = "" if in_fence else prose_of(path, line)
        elif path.endswith((".py", ".spl", ".toml")):
            quotes = line.count('"""')
            prose = line if in_docstring or quotes else prose_of(path, line)
            if quotes % 2:
                in_docstring = not in_docstring
        else:
            prose = prose_of(path, line)
        yield from (Finding(path, number, what) for what in words_in(prose))
        if not path.endswith(".md"):
            found = _IDENTIFIERS.search(line) or DECLARATION.match(line)
            if found:
                yield Finding(path, number, f"identifier '{(found[1] if found.re is DECLARATION else found[0])}'")


def blocks_of(text: str) -> Iterator[tuple[int, str]]:
    """The paragraphs, list items and table cells of a Markdown document, each with its first line's number."""
    start, lines, in_fence = 0, [], False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        stripped = line.strip()
        fence = stripped.startswith("```")
        is_item = re.match(r"(?:[-*+]|\d+\.)\s", stripped)
        is_row, is_heading = stripped.startswith("|"), stripped.startswith("#")
        if lines and (not stripped or fence or in_fence or is_item or is_row or is_heading):
            yield start, " ".join(lines)
            lines = []
        in_fence = in_fence != fence
        if in_fence or fence or not stripped or is_heading:
            continue
        if is_row:
            yield from ((number, cell) for cell in stripped.strip("|").split("|"))
            continue
        start = start if lines else number
        lines.append(stripped)


def words_of(sentence: str) -> list[str]:
    plain = re.sub(r"`[^`]*`", "code", sentence)
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", plain)
    return [word for word in plain.split() if re.search(r"\w", word)]


def document_findings(path: str, text: str) -> Iterator[Finding]:
    for number, block in blocks_of(text):
        plain = re.sub(r"`[^`]*`", "code", block)
        for sentence in re.split(r"(?<![ (.]\w)(?<!e\.g)(?<=[.!?:])[)\"*_]*\s+", plain):
            count = len(words_of(sentence))
            if count > MAX_SENTENCE_WORDS:
                yield Finding(path, number, f"a sentence of {count} words: {' '.join(sentence.split()[:8])} ...")
    in_fence = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_fence = not in_fence
        is_link = re.fullmatch(r"\s*(?:[-*] )?!?\[[^\]]*\]\([^)]*\)[.,]?", line) is not None
        if not in_fence and len(line) > MAX_COLUMNS and not line.lstrip().startswith("|") and not is_link:
            yield Finding(path, number, f"{len(line)} columns; documents are wrapped at {MAX_COLUMNS}")


def exceptions() -> list[tuple[str, str]]:
    if not EXCEPTIONS.exists():
        return []
    lines = [line for line in EXCEPTIONS.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    return [(path, piece) for path, _, piece in (line.partition("\t") for line in lines)]


def is_allowed(finding: Finding, line: str, allowed: list[tuple[str, str]]) -> bool:
    return any(finding.path.startswith(path) and piece in line for path, piece in allowed)


def check(paths: list[str]) -> list[Finding]:
    allowed = exceptions()
    findings = []
    for path in tracked_files(paths):
        if path.startswith("tools/check_english") or path == "tools/english_exceptions.txt":
            continue
        is_document = path.endswith(".md")
        if not is_document and (Path(path).suffix not in CODE or path.startswith(GENERATED)):
            continue
        text = (ROOT / path).read_text(encoding="utf-8", errors="replace")
        found = list(glossary_findings(path, text))
        if is_document:
            found += document_findings(path, text)
        lines = text.splitlines()
        findings += [one for one in found if not is_allowed(one, lines[one.line - 1], allowed)]
    return findings


def main(paths: list[str]) -> int:
    findings = check(paths)
    for finding in findings:
        print(finding)
    if findings:
        print(f"{len(findings)} findings; CONTRIBUTING.md has the rules of the project's English")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
