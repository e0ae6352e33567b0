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

# Before "round" as a noun or a verb.
_DETERMINERS = ("a", "the", "each", "every", "one", "this", "per", "first", "second", "third", "to", "would")
_NOT_A_NOUN = "".join(rf"(?<!\b{word} )" for word in _DETERMINERS)

# Words that puzzle readers, and what to write. They are looked for in comments, strings and documents.
WORDS = {
    r"gives?|gave|giving": "returns, produces, provides",
    r"hand(?:s|ed|ing)? out": "returns",
    r"take[sn]? in|took in|taking in": "accepts, imports",
    r"tells?|told": "reports, prints, raises, is notified",
    r"says?|said": "reports, states, prints",
    r"refuse[sd]?|refusals?|refusing": "rejects, raises an error",
    r"mend(?:s|ed|ing)?": "fixes",
    r"lets? go|letting go": "releases, destroys",
    r"beside": "next to, in addition to",
    r"(?<=[\w,] )" + _NOT_A_NOUN + r"round(?= (?:the|an?|it|its|them|each|every|that|this|one)\b| `|\s*$)": "around",
    r"(?<!Ctrl-C )press(?:es)?(?! any)": "an interrupt, SIGINT",
    r"rooms?|doors?|house": "component, module, interface",
    r"pictures?": "image",
    r"Python's end|process's end|at its end": "at exit, at shutdown",
    r"words of": "message from",
    r"lent|lend(?:s|ing)?|loans?": "exported, borrowed",
    r"births?|lasting": "allocation, generation, immortal",
    r"what stands here|documents that began": "the code in this page; the specification",
    r"such a one|none of numbers|hears of|hear of": "name the thing",
    r"seed \d{3}|seed-\d{3}|the seeds' |seed documents?": "the specification",
    r"data sets?": "dataset",
}
# British spellings; PyTorch's are American.
_VERBS = (
    "analy|finali|generali|initiali|maximi|memori|minimi|normali|optimi|organi|parametri|recogni|seriali|summari"
    "|synchroni|vectori"
)
SPELLINGS = {
    r"behaviours?": "behavior",
    r"(?:colour|favour|honour|neighbour)\w*": "-or",
    rf"(?:un|re|de)?(?:{_VERBS})s(?:e[drs]?|ers|ing|ations?)": "-ize, -yze",
    r"cent(?:re[sd]?|ring)|licences?|modelling|labelled": "center, license, modeling, labeled",
}

# Identifiers that were renamed; none may come back.
_RENAMED = """
births Birth glance_at give_back let_go is_lasting insert_lasting is_life_of KeptSlots keep_or_push one_more one_less
is_alone Undisturbed Interruptible AtWork own_table ways_in drainer see_to_deferred_memory stay_first_at_exit or_stay
stay_until_the_end handed_out taken_back ExceptionPends failure_of Door explained throw_explained OwnLock below_autograd
fatal_inputs Numbered remembered ReplacedFile slopes tensor_over is_plainly_good Nearest LittleRoom complaint complaints
kept_memory minds_replacement __replaced__ take_along agreed_successor expectations telling rearranging surrender
shortfall need_room work_on_row work_on_rows most_redirects happens forget_grad noted_order
"""
IDENTIFIERS = set(_RENAMED.split())
# Parts of identifiers and of file names, as in `why_refused` and `LendTensor`.
_RENAMED_PARTS = """
told tell tells telling gives give gave lent lend lends lending loan loans refuse refused refuses refusal refusals
room rooms door doors picture pictures beside mend mended births colour colours coloured behaviour
"""
PARTS = set(_RENAMED_PARTS.split())
DECLARATION = re.compile(
    r"^\s*(?:val |var |const |static |auto |for |bool |int |[\w:<>]+[&*]? )*\b(given)\b(?: *(?:=[^=]|:(?!:)|;| in ))"
)

CODE = {".cpp", ".h", ".hpp", ".c", ".inc", ".py", ".spl", ".toml", ".cmake", ".sh", ".txt", ".in", ".map", ".proto"}
FENCES = {
    "simple": "spl",
    "python": "py",
    "c": "c",
    "cpp": "cpp",
    "c++": "cpp",
    "sh": "sh",
    "cmake": "cmake",
    "toml": "toml",
}
SLASHES = {".cpp", ".h", ".hpp", ".c", ".inc", ".proto"}  # comments start with // and not with #
OWN_FILES = ("tools/check_english.py", "tools/english_exceptions.txt", "tests/messages/test_check_english.py")
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


def is_checked(path: str) -> bool:
    if path.startswith(GENERATED):
        return False
    suffix = Path(path).suffix
    if suffix in CODE or suffix == ".md":
        return True
    return not suffix and (ROOT / path).read_bytes().startswith(b"#!")


_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_COMMENTS = {True: re.compile(r"(?:^|\s)(?://+|/?\*)\s?(.*)"), False: re.compile(r"(?:^|\s)#(?!include\b)\s?(.*)")}


def split_line(path: str, line: str) -> tuple[str, str]:
    """The prose of a line, which people read (comments and strings), and the code around it."""
    comment = _COMMENTS[Path(path).suffix in SLASHES].search(_STRING.sub(lambda found: "_" * len(found[0]), line))
    end = comment.start() if comment else len(line)
    prose = [*_STRING.findall(line[:end]), line[comment.start(1) :] if comment else ""]
    code = "" if line.lstrip().startswith("#include") else _STRING.sub('""', line[:end])
    return " ; ".join(prose), code


_WORDS = [(re.compile(rf"\b(?:{pattern})(?!\w)", re.I), instead) for pattern, instead in (WORDS | SPELLINGS).items()]
_IDENTIFIERS = re.compile(rf"\b(?:{'|'.join(IDENTIFIERS)})\b")


def words_in(prose: str) -> Iterator[str]:
    """The words of the glossary that `prose` contains, each with what to write."""
    for pattern, instead in _WORDS:
        found = pattern.search(prose)
        if found:
            yield f"'{found[0].strip()}': write {instead}"


def parts_of(name: str) -> list[str]:
    """The words of an identifier: is_told and IsTold have is and told."""
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower().split("_")


def identifiers_in(code: str) -> Iterator[str]:
    """The identifiers in `code` that break a rule."""
    declared = DECLARATION.match(code)
    if declared:
        yield declared[1]
    for name in re.findall(r"[A-Za-z_]\w*", code):
        if name in IDENTIFIERS or not PARTS.isdisjoint(parts_of(name)):
            yield name


def lines_of(path: str, text: str) -> Iterator[tuple[int, str, str]]:
    """Each line's number, prose and code."""
    language = None  # of the fence
    in_docstring = False
    is_document = path.endswith(".md")
    has_docstrings = path.endswith((".py", ".spl", ".toml"))
    for number, line in enumerate(text.splitlines(), 1):
        if is_document and line.lstrip().startswith("```"):
            language = None if language is not None else line.strip(" `")
        elif is_document and language is None:
            yield number, re.sub(r"`[^`]*`", "`", line), ""
        elif is_document:
            yield number, *(split_line(f"fence.{FENCES[language]}", line) if language in FENCES else (line, ""))
        else:
            quotes = line.count('"""') if has_docstrings else 0
            yield number, *((line, "") if in_docstring or quotes else split_line(path, line))
            in_docstring = in_docstring != bool(quotes % 2)


def glossary_findings(path: str, text: str) -> Iterator[Finding]:
    for name in identifiers_in(path):
        yield Finding(path, 1, f"file name '{name}'")
    for number, prose, code in lines_of(path, text):
        yield from (Finding(path, number, what) for what in words_in(prose))
        yield from (Finding(path, number, f"identifier '{name}'") for name in dict.fromkeys(identifiers_in(code)))


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
        for sentence in re.split(r"(?<![ (.]\w)(?<!e\.g)(?<=[.!?])[)\"*_]*\s+", plain):
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
        if path in OWN_FILES:
            continue
        if not is_checked(path):
            continue
        text = (ROOT / path).read_text(encoding="utf-8", errors="replace")
        found = list(glossary_findings(path, text))
        if path.endswith(".md"):
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
    if {"-h", "--help"} & set(sys.argv[1:]):
        sys.exit(print(__doc__))
    sys.exit(main(sys.argv[1:]))
