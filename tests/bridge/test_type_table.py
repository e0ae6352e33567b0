"""docs/python-types.md shows what the program types/table.spl observes.

python3 tests/bridge/test_type_table.py --write    writes the tables anew
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs/python-types.md"
FIRST_TABLE = "## Simple values in Python\n"


def observed() -> str:
    host = os.environ.get("SIMPLE_HOST", str(ROOT / "build/release/bin/simple-host"))
    program = ROOT / "tests/bridge/types/table.spl"
    finished = subprocess.run([host, program], capture_output=True, text=True, timeout=120, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


def test_the_document_shows_what_happens() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert text[text.index(FIRST_TABLE) :] == observed()


if __name__ == "__main__" and "--write" in sys.argv:
    before = DOCUMENT.read_text(encoding="utf-8")
    DOCUMENT.write_text(before[: before.index(FIRST_TABLE)] + observed(), encoding="utf-8")
