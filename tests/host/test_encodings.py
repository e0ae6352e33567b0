"""std.hash, std.base64, std.url, std.uuid and std.glob against Python's modules."""

from __future__ import annotations

import base64
import binascii
import fnmatch
import glob
import hashlib
import hmac
import json
import os
import random
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib import parse

import pytest

from programs import run

CASES = 10_000 if os.environ.get("SIMPLE_LONG_TESTS") == "1" else 500
PROGRAM = Path(__file__).parent / "encodings_answers.spl"
ALGORITHMS = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"]
ALGORITHMS += ["sha3_224", "sha3_256", "sha3_384", "sha3_512", "blake2b", "blake2s"]
CHARACTERS = ["a", "Z", "0", " ", "/", "+", "%", "&", "=", "~", "_", "é", "€", "😀", "\n", "\0", "\x7f", ";", "?", "#"]


def random_text(source: random.Random, letters: list[str] = CHARACTERS) -> str:
    return "".join(source.choice(letters) for _ in range(source.choice([0, 1, 2, 3, 8, 70])))


def encoding_question(source: random.Random) -> list[Any]:
    kind = source.choice(["digest", "encode", "decode", "strict", "unhex", "uuid"])
    if kind == "unhex":
        return [kind, random_text(source, [*"0123456789abcdefABCDEF"] * 5 + ["g", " "])]
    if kind in ("decode", "strict"):
        text = base64.b64encode(random_text(source).encode()).decode()
        at = source.randrange(len(text) + 1)
        text = source.choice([text, text[:at] + source.choice("=A\n-") + text[at + source.choice([0, 1]) :]])
        # Only newer versions of Python reject superfluous padding.
        return [kind, text.rstrip("=") if len(text.rstrip("=")) % 4 == 0 else text]
    return [kind, random_text(source)]


def random_url(source: random.Random) -> str:
    scheme = source.choice(["http:", "https:", "HTTP:", "file:", "mailto:", "", "", "a+b:"])
    host = source.choice(["//h.org", "//H.org:80", "//u:p@h", "//u@h:x", "//[::1]:8", "", "", "//h:70000", "//"])
    path = "".join(source.choice(["/", "a", "b", "..", ".", "//", ";p", ":"]) for _ in range(source.randrange(6)))
    if scheme or host:  # versions of Python differ about other paths
        path = "/" + path.lstrip("/") if path else ""
    host = "" if host == "//" else host
    rest = source.choice(["", "?q=1&r", "?", "#f", "?a=b?c#d?e", "#"])
    return scheme + host + path + rest


def url_question(source: random.Random) -> list[Any]:
    kind = source.choice(["quote", "query", "url", "join"])
    if kind == "quote":
        return [kind, random_text(source)]
    if kind == "query":
        return [kind, "".join(source.choice(["a", "b", "=", "&", "+", "%41", "%", ";"]) for _ in range(12))]
    if kind == "url":
        return [kind, random_url(source)]
    base = source.choice(["http://h/a/b/c?q", "http://h", "http://h/a/", "https://x/a/../b;p?q#f", "", "mailto:a"])
    return [kind, base, random_url(source)]


def pattern_question(source: random.Random) -> list[Any]:
    pattern = "".join(source.choice([*"ab*?[]!-^\\.", "[ab]", "[!a]", "[a-c]"]) for _ in range(source.randrange(6)))
    return ["fnmatch", "".join(source.choice("abc.[]!-\n\\") for _ in range(source.randrange(5))), pattern]


def url_parts(whole: str) -> list[Any]:
    u = parse.urlparse(whole)
    try:
        port: Any = u.port
    except ValueError:
        port = "bad"
    return [*u, u.username, u.password, u.hostname, port, u.geturl()]


def quoted(text: str) -> list[str]:
    return [parse.quote(text), parse.quote_plus(text), parse.quote(text, safe=""), text, parse.urlencode({"k": text})]


def digests(text: str) -> list[str]:
    data = text.encode()
    found = [hashlib.new(name, data).hexdigest() for name in ALGORITHMS]
    return [*found, hmac.new("kéy".encode(), data, "sha256").hexdigest()]


def encoded(text: str) -> list[Any]:
    data = text.encode()
    return [base64.b64encode(data).decode(), base64.urlsafe_b64encode(data).decode(), data.hex(), True, True]


EXPECTED: dict[str, Callable[..., Any]] = {
    "digest": digests,
    "encode": encoded,
    "decode": lambda text: base64.b64decode(text).hex(),
    "strict": lambda text: binascii.a2b_base64(text, strict_mode=True).hex(),
    "unhex": lambda text: binascii.unhexlify(text).hex(),
    "quote": quoted,
    "query": lambda text: [[[*p] for p in parse.parse_qsl(text)], parse.parse_qs(text, keep_blank_values=True)],
    "url": url_parts,
    "join": parse.urljoin,
    "uuid": lambda text: [str(uuid.uuid5(uuid.NAMESPACE_URL, text)), str(uuid.uuid3(uuid.NAMESPACE_DNS, text))],
    "fnmatch": fnmatch.fnmatchcase,
    "glob": lambda root, pattern: sorted(glob.glob(pattern, root_dir=root, recursive=True)),
}


def answers(folder: Path, questions: list[list[Any]]) -> list[Any]:
    source, target = folder / "questions.json", folder / "answers.json"
    source.write_text(json.dumps(questions))
    result = run(PROGRAM, source, target)
    assert (result.returncode, result.stderr) == (0, "")
    return json.loads(target.read_text())


def check(folder: Path, questions: list[list[Any]]) -> None:
    for question, found in zip(questions, answers(folder, questions), strict=True):
        try:
            wanted = EXPECTED[question[0]](*question[1:])
        except ValueError as fault:
            assert isinstance(found, str), question
            assert found.startswith("error: "), (question, found, fault)
        else:
            assert found == wanted, question


@pytest.mark.parametrize("make", [encoding_question, url_question, pattern_question], ids=lambda make: make.__name__)
def test_random_texts_are_encoded_as_in_python(tmp_path: Path, make: Callable[..., list[Any]]) -> None:
    source = random.Random(60)
    check(tmp_path, [make(source) for _ in range(CASES)])


def test_patterns_find_the_files_that_python_finds(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    for name in ["a.txt", "b.csv", ".hidden", "d/a.txt", "d/e/c.txt", "d/.f/x.txt", "[x]/y.txt", "é.txt"]:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    patterns = [
        "*",
        "*.txt",
        "?.csv",
        "d/*",
        "**",
        "**/*.txt",
        "d/**",
        "d/**/c.txt",
        ".*",
        "*/",
        "[[]x]/*",
        "no*",
        "d/e",
    ]
    check(tmp_path, [["glob", str(root), pattern] for pattern in patterns])
