"""The examples of PyTorch's own docstrings return the same values in Simple as in Python, under the same seed.

The examples are those of the installed torch. Python runs them first. Each statement that Python can run is translated,
runs on the host, and is compared: dtype, shape, strides and bits of tensors, other values, printed text. A statement of
a Python feature is known in differences-VERSION.toml, with the reason; any other must be equal. The short tests run a
tenth of the docstrings. `python test_docstrings.py --list` prints the differences that are not listed.
"""

from __future__ import annotations

import ast
import os
import pickle
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest
import tomllib

if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
torch = pytest.importorskip("torch")
FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

from comparison import differences  # noqa: E402
from run_simple import Outcome, Program, run  # noqa: E402

from examples import examples  # noqa: E402

IS_LONG = os.environ.get("SIMPLE_LONG_TESTS") == "1"
PART = 1 if IS_LONG else 10
LISTED = FOLDER / f"differences-{'.'.join(torch.__version__.split('.')[:2])}.toml"
# Reasons of statements that are equal in some runs.
VARYING = {
    "memory that is not initialized: the values may be equal by chance",
    "results of LAPACK whose last bits vary from run to run",
}
# 3,650 of 3,783 on the newest torch. An earlier one prints modules otherwise, and a tenth may have more of the others.
LEAST_EQUAL = 0.965 if IS_LONG and torch.__version__.startswith("2.15") else 0.94


def listed() -> dict[str, str]:
    """The reason of each known difference, by `NAME#NUMBER`."""
    found = tomllib.loads(LISTED.read_text()) if LISTED.exists() else {}
    return {
        f"{name}#{n}": reason for reason, names in found.items() for name, numbers in names.items() for n in numbers
    }


@cache
def compared() -> dict[str, tuple[str, str]]:
    """By `NAME#NUMBER`, each statement that Python runs, and how Simple differs: an empty text if it does not."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        output = folder / "python.pickle"
        command = [sys.executable, str(FOLDER / "run_python.py"), str(output), str(PART)]
        subprocess.run(command, check=True, capture_output=True, timeout=900)
        theirs = pickle.loads(output.read_bytes())
        programs = {}
        for example in examples():
            if theirs.get(example.name):
                file = folder / f"{example.name}.spl"
                program = Program(example, theirs[example.name])
                file.write_text(program.source())
                programs[file] = example, program
        ours, _ = run(os.environ["SIMPLE_HOST"], list(programs), folder)
    found = {}
    for file, (example, program) in programs.items():
        outcomes = ours.get(str(file), {})
        rejected = outcomes.get(-1, Outcome(failure="it did not run"))
        for number, result in theirs[example.name].items():
            if number in program.untranslatable:
                different = f"has no form in Simple: {program.untranslatable[number]}"
            else:
                different = differences(result, outcomes.get(number, rejected))
            found[f"{example.name}#{number}"] = (ast.unparse(example.statements[number]), different)
    return found


def test_a_statement_is_equal_or_listed_with_its_reason():
    known = listed()
    wrong = [
        f"{name}: {statement:.100}\n    {different:.300}"
        for name, (statement, different) in compared().items()
        if different and name not in known
    ]
    assert wrong == [], "\n".join(wrong)


def test_no_listed_statement_is_equal():
    found = compared()
    equal = [
        name for name, reason in listed().items() if reason not in VARYING and name in found and not found[name][1]
    ]
    assert equal == [], "they are equal: remove them from the list"


@pytest.mark.skipif(not LISTED.exists(), reason="no list for this torch")
def test_a_listed_statement_exists():
    names = {f"{example.name}#{n}" for example in examples() for n in range(len(example.statements))}
    assert [name for name in listed() if name not in names] == []


def test_most_statements_are_equal():
    found = compared()
    equal = sum(not different for _, different in found.values())
    assert equal >= LEAST_EQUAL * len(found), f"{equal} of {len(found)}"


if __name__ == "__main__":
    known = listed()
    for name, (statement, different) in compared().items():
        if different and (name not in known or "--all" in sys.argv):
            print(name, statement[:140], different[:300], sep="\t")
    values = [different for _, different in compared().values()]
    print(f"{values.count('')} of {len(values)} are equal", file=sys.stderr)
