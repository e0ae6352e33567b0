"""What docs/dlpack.md shows is what runs."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
from pathlib import Path

import pytest

HOST = os.environ.get("SIMPLE_HOST", "")
pytestmark = pytest.mark.skipif(not HOST, reason="SIMPLE_HOST is not set")
pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)

GUIDE = (Path(__file__).parents[2] / "docs" / "dlpack.md").read_text()
BLOCKS = re.findall(r"```simple\n(.*?)```\n\n```\n(.*?)```", GUIDE, re.S)
USES = "use torch\nuse python as py\n"
END = "---- end of the block\n"


def as_function(number: int, code: str) -> str:
    """Each block has names of its own. Python's lines between three quotes stay at the margin."""
    parts = code.removeprefix(USES).split('"""')
    body = '"""'.join(part if i % 2 else part.replace("\n", "\n    ") for i, part in enumerate(parts))
    return f"fn block{number}():\n    {body}\nblock{number}()\nprint {END.strip()!r}\n"


@pytest.fixture(scope="module")
def shown(tmp_path_factory) -> list[str]:
    for name in re.findall(r'py\.import\("(\w+)', GUIDE):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"this Python has no {name}")
    program = tmp_path_factory.mktemp("guide") / "guide.spl"
    program.write_text(USES + "".join(as_function(i, code) for i, (code, _) in enumerate(BLOCKS)))
    variables = {**os.environ, "JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "3"}
    run = subprocess.run([HOST, program], capture_output=True, text=True, check=False, timeout=300, env=variables)
    assert run.returncode == 0, run.stderr
    return run.stdout.split(END)


def test_every_block_has_its_output():
    assert len(BLOCKS) == GUIDE.count("```simple")


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_prints_what_the_guide_says(shown, number):
    assert shown[number] == BLOCKS[number][1]
