"""Statements and expressions of Python that ported programs keep print in Simple what they print in Python.

Each line of python_idioms.txt is a case: statements, separated by ` ;; `, and a last expression that is printed.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from programs import run

CASES = [line for line in (Path(__file__).parent / "python_idioms.txt").read_text().splitlines() if line.strip()]
GROUP = 25


def source(cases: list[str]) -> str:
    """A program of one function for each case."""
    lines = []
    for number, case in enumerate(cases):
        *statements, expression = case.split(" ;; ")
        lines.append(f"def case_{number}():")
        lines += [f"    {line}" for line in statements]
        lines += [f'    print("case", {number})', f"    print({expression})", f"case_{number}()"]
    return "\n".join(lines) + "\n"


def plain(output: str) -> list[str]:
    """The lines of an output in Simple's spelling: true, nil, strings without quotes."""
    for python, simple in (("True", "true"), ("False", "false"), ("None", "nil")):
        output = re.sub(rf"\b{python}\b", simple, output)
    return re.sub(r"['\"]", "", output).replace(",)", ")").splitlines()


def test_idioms_print_what_python_prints(tmp_path: Path) -> None:
    assert len(CASES) > 100
    for start in range(0, len(CASES), GROUP):
        cases = CASES[start : start + GROUP]
        program = source(cases)
        python = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=True
        )
        file = tmp_path / "idioms.spl"
        file.write_text("use torch\n" + re.sub(r"\bdef (\w+)\(", r"fn \1(", program))
        simple = run(file)
        assert simple.returncode == 0, simple.stderr
        assert plain(simple.stdout) == plain(python.stdout)
