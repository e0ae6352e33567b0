"""The page "Distributed training": its program and its command, in one folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from terminal import Terminal, commands_of, steps_of

pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)
PAGE = Path(__file__).resolve().parents[2] / "docs" / "distributed.md"
_LAUNCHER = f'#!/bin/sh\nexec {sys.executable} -m torch.distributed.run "$@"\n'


def test_torchrun_starts_the_processes(tmp_path, monkeypatch):
    commands = tmp_path / "launcher"
    commands.mkdir()
    (commands / "torchrun").write_text(_LAUNCHER)
    (commands / "torchrun").chmod(0o755)
    monkeypatch.setenv("PATH", f"{commands}:{os.environ['PATH']}")
    count = 0
    with Terminal(tmp_path) as terminal:
        for kind, block in steps_of(PAGE):
            if kind == "simple" and block.startswith("# "):
                terminal.write(block)
            for command, output in commands_of(block) if kind == "console" else []:
                assert terminal.run(command) == output, command
                count += 1
    assert count == 1
