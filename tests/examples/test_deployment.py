"""The page about deployment: its programs print what is shown below them, and its service answers."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from terminal import Terminal, commands_of, steps_of

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "deployment.md"
pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)
PROGRAMS = re.findall(r"^```simple\n(.*?)^```\n\n```\n(.*?)^```", PAGE.read_text(), re.S | re.M)


@pytest.mark.skipif(not os.environ.get("SIMPLE_HOST"), reason="SIMPLE_HOST is not set")
@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_a_program_prints_what_is_shown(number, tmp_path):
    code, below = PROGRAMS[number]
    (tmp_path / "program.spl").write_text(code)
    without_torch = {} if "use torch" in code else {"SIMPLE_TORCH": "off"}
    done = subprocess.run(
        [os.environ["SIMPLE_HOST"], "program.spl"],
        cwd=tmp_path,
        env={**os.environ, **without_torch},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.returncode) == (below, 0), done.stderr


def test_every_program_has_its_output():
    assert len(PROGRAMS) == PAGE.read_text().count("```simple\n") == 2


def test_the_service_answers_as_shown(tmp_path):
    blocks = [block for kind, block in steps_of(PAGE) if kind == "console"]
    commands = [step for block in blocks for step in commands_of(block)]
    assert len(commands) == 5
    with Terminal(tmp_path) as terminal:
        for command, output in commands:
            assert terminal.run(command) == output, command
