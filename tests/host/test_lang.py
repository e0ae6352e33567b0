"""Runs lang/*.spl: what each prints stands beside the statement that prints it, as `# expect: …`.

The last line of a file may be `# expect error: LINE: MESSAGE`: the program stops there with exit code 1.
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent
HOST = os.environ.get("SIMPLE_HOST")


@pytest.mark.parametrize("program", sorted((HERE / "lang").glob("*.spl")), ids=lambda path: path.stem)
def test_prints_what_it_says(program: pathlib.Path) -> None:
    if HOST is None:
        pytest.skip("SIMPLE_HOST names no host")
    text = program.read_text(encoding="utf-8")
    expected = re.findall(r"# expect: (.*)", text)
    error = re.search(r"# expect error: (\d+): (.*)", text)
    run = subprocess.run([HOST, str(program)], capture_output=True, text=True, timeout=60, check=False)
    assert run.stdout.splitlines() == expected
    if error is None:
        assert (run.returncode, run.stderr) == (0, "")
    else:
        assert run.returncode == 1
        assert run.stderr.splitlines() == [f"{program}:{error[1]}: error: {error[2]}"]
