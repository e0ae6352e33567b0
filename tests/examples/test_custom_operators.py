"""The page "Custom operators": its library in C++ is built and called, in one folder."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from terminal import Terminal, commands_of, steps_of

from programs import is_sanitized

pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)
PAGE = Path(__file__).resolve().parents[2] / "docs" / "custom-operators.md"


@pytest.mark.skipif(is_sanitized(), reason="the compiler of the page would need the sanitizer's options")
def test_an_operator_in_cpp_is_built_and_called(tmp_path, monkeypatch):
    commands = tmp_path / "python"
    commands.mkdir()
    (commands / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (commands / "python").chmod(0o755)
    monkeypatch.setenv("PATH", f"{commands}:{os.environ['PATH']}")
    ((file, source),) = re.findall(r"```cpp\n// (\w+\.cpp)\n(.*?)```", PAGE.read_text(), re.S)
    (tmp_path / file).write_text(source)
    run = []
    with Terminal(tmp_path) as terminal:
        blocks = steps_of(PAGE)
        for block in [block for kind, block in blocks if kind == "simple" and block.startswith("# ")]:
            terminal.write(block)
        # A command uses the variables of those before it.
        for block in [block for kind, block in blocks if kind == "console"]:
            pairs = commands_of(block)
            assert terminal.run("; ".join(command for command, _ in pairs)) == "".join(output for _, output in pairs)
            run += pairs
    assert len(run) == 4
