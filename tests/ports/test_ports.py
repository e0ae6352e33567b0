"""Ports of the shapes of well-known PyTorch programs print the same as the Python programs next to them.

Each pair in programs/ is a Python program and its port to Simple, line by line: the same names, structure and seed.
The expected output is what Python prints in the same test. Numbers are equal to the printed digit.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

HOST = os.environ.get("SIMPLE_HOST", "")
pytestmark = pytest.mark.skipif(not HOST, reason="SIMPLE_HOST is not set")
torch = pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)

PROGRAMS = Path(__file__).parent / "programs"
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.py"))

# The constants are spelled differently in the two languages.
CONSTANTS = {"True": "true", "False": "false", "None": "nil"}


def run_host(*arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [HOST, *arguments], capture_output=True, text=True, check=False, timeout=120, cwd=folder, env=variables
    )


@contextlib.contextmanager
def one_thread():
    """Runs Python's side with one thread, as the host's: sums depend on the number of threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def printed_by_python(name: str) -> str:
    output = io.StringIO()
    torch.set_printoptions(profile="default")  # other tests in this process change it
    # Tests that import torch.testing._internal freeze the settings of cuDNN, which programs assign.
    with (
        torch.backends.__allow_nonbracketed_mutation(),
        one_thread(),
        contextlib.redirect_stdout(output),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        runpy.run_path(str(PROGRAMS / f"{name}.py"), run_name="__main__")
    return output.getvalue()


def spelled_alike(output: str) -> str:
    return re.sub(r"\b(True|False|None)\b", lambda match: CONSTANTS[match[0]], output)


def test_every_program_is_a_pair():
    assert sorted(path.stem for path in PROGRAMS.glob("*.spl")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_port_prints_what_python_prints(name, tmp_path, monkeypatch):
    folders = tmp_path / "python", tmp_path / "simple"
    for folder in folders:
        folder.mkdir()
    monkeypatch.chdir(folders[0])
    monkeypatch.setattr(sys, "argv", [f"{name}.py"])  # programs parse it
    expected = printed_by_python(name)
    run = run_host(PROGRAMS / f"{name}.spl", folder=folders[1])
    assert run.returncode == 0, run.stderr
    assert spelled_alike(run.stdout) == spelled_alike(expected)
    assert run.stderr == ""
