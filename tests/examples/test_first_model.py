"""The page "Ten minutes to a trained model": its commands and programs, in their order, in one folder.

SIMPLE_SCREENSHOTS names a folder that receives the image of the page.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from terminal import Terminal, commands_of, steps_of

pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)
pytest.importorskip("matplotlib", reason="this Python has no matplotlib")
ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "first-model.md"


def same(output: str) -> str:
    """PyTorch 2.11 writes the message without the operation's name."""
    return output.replace("error: addmm: ", "error: ")


def test_the_commands_print_what_is_shown(tmp_path):
    count = 0
    with Terminal(tmp_path) as terminal:
        for kind, block in steps_of(PAGE):
            if kind == "simple":
                terminal.write(block)
                continue
            for command, output in commands_of(block):
                assert same(terminal.run(command)) == same(output), command
                count += 1
    assert count == 7
    image = terminal.folder / "curve.png"
    assert image.read_bytes().startswith(b"\x89PNG")
    if folder := os.environ.get("SIMPLE_SCREENSHOTS"):
        shutil.copy(image, Path(folder) / "training-curve.png")
