"""The code in the guides in docs/ runs and prints the documented output."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

HOST = os.environ.get("SIMPLE_HOST", "")
pytestmark = pytest.mark.skipif(not HOST, reason="SIMPLE_HOST is not set")
pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)

GUIDES = ["autograd.md", "data.md", "dlpack.md", "metrics.md", "python.md", "trainer.md", "training.md"]
USES = "use torch\nuse python as py\n"
END = "---- end of the block\n"


def text_of(guide: str) -> str:
    return (Path(__file__).parents[2] / "docs" / guide).read_text()


def blocks_of(guide: str) -> list[tuple[str, str]]:
    """Each code block with the text below it."""
    return re.findall(r"```simple\n(.*?)```\n\n```\n(.*?)```", text_of(guide), re.S)


def as_function(number: int, code: str) -> str:
    """Wraps a block in a function, for separate names. Python code in triple quotes is not indented."""
    parts = code.removeprefix(USES).split('"""')
    body = '"""'.join(part if i % 2 else part.replace("\n", "\n    ") for i, part in enumerate(parts))
    return f"fn block{number}():\n    {body}\nblock{number}()\nprint {END.strip()!r}\n"


@cache
def printed(guide: str, folder: Path) -> list[str]:
    for name in re.findall(r'py\.import\("(\w+)', text_of(guide)):
        if name != "simple_torch" and importlib.util.find_spec(name) is None:  # the host has that one itself
            pytest.skip(f"this Python has no {name}")
    program = folder / "guide.spl"
    program.write_text(USES + "".join(as_function(i, code) for i, (code, _) in enumerate(blocks_of(guide))))
    variables = {**os.environ, "JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "3"}
    run = subprocess.run(
        [HOST, program], capture_output=True, text=True, check=False, timeout=300, env=variables, cwd=folder
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.split(END)


@pytest.mark.parametrize("guide", GUIDES)
def test_every_python_block_prints_its_output(guide, folder):
    for number, (code, below) in enumerate(re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", text_of(guide), re.S)):
        script = folder / f"block{number}.py"
        script.write_text(code)
        variables = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "python")}
        command = [sys.executable, script]
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=variables)
        assert (run.stdout, run.stderr) == (below, "")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("guides")


@pytest.mark.parametrize("guide", GUIDES)
def test_every_block_has_its_output(guide):
    assert len(blocks_of(guide)) == text_of(guide).count("```simple")


@pytest.mark.parametrize(("guide", "number"), [(guide, i) for guide in GUIDES for i in range(len(blocks_of(guide)))])
def test_prints_the_guides_output(guide, number, folder):
    assert printed(guide, folder)[number] == blocks_of(guide)[number][1]
