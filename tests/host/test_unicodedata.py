"""std.unicodedata against Python's module."""

from __future__ import annotations

import json
import os
import subprocess
import unicodedata
from pathlib import Path

import pytest

HOST = os.environ.get("SIMPLE_HOST", "")
pytestmark = pytest.mark.skipif(not HOST, reason="SIMPLE_HOST is not set")

# Characters that all versions of Python know, so that their properties are those of any version of Unicode.
CODES = [code for code in range(0x110000) if unicodedata.ucd_3_2_0.category(chr(code)) not in ("Cn", "Cs")][::37]
TEXTS = ["Ślusàrski", "\ufb01\u2460\u212b", "a\u0323\u0307", "e\u0301\u0327", "한글 각", "I\u0307 ½ \u1e9b\u0323", ""]
PROGRAM = """
import json
import unicodedata
val codes = json.load("codes.json")
val texts = json.load("texts.json")
print json.dumps([[unicodedata.category(chr(c)), unicodedata.combining(chr(c)), unicodedata.decimal(chr(c), -1)]
    for c in codes])
print json.dumps([[unicodedata.normalize(form, t) for form in ["NFC", "NFD", "NFKC", "NFKD"]] for t in texts])
print [unicodedata.is_normalized("NFC", t) for t in texts]
for wrong in [\\: unicodedata.category("ab"), \\: unicodedata.decimal("x"), \\: unicodedata.normalize("NFX", "a")]:
    print attempt(wrong).unwrap_err().message
"""


def test_characters_have_the_properties_of_python(tmp_path: Path) -> None:
    (tmp_path / "codes.json").write_text(json.dumps(CODES), encoding="utf-8")
    (tmp_path / "texts.json").write_text(json.dumps(TEXTS), encoding="utf-8")
    (tmp_path / "program.spl").write_text(PROGRAM, encoding="utf-8")
    run = subprocess.run([HOST, "program.spl"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert run.stderr == ""
    properties, forms, normalized, *errors = run.stdout.splitlines()
    assert json.loads(properties) == [
        [unicodedata.category(chr(c)), unicodedata.combining(chr(c)), unicodedata.decimal(chr(c), -1)] for c in CODES
    ]
    assert json.loads(forms) == [
        [unicodedata.normalize(form, text) for form in ("NFC", "NFD", "NFKC", "NFKD")] for text in TEXTS
    ]
    assert normalized == str([unicodedata.is_normalized("NFC", text) for text in TEXTS]).replace("T", "t").replace(
        "F", "f"
    )
    assert errors == [
        "category() argument must be a single character, got ab",
        "ValueError: not a decimal",
        "normalize(): invalid normalization form 'NFX'",
    ]
