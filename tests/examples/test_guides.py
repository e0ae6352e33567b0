"""Each block of code in the guides in docs/ is a program of its own that prints the documented output."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from programs import is_sanitized

HOST = os.environ.get("SIMPLE_HOST", "")
pytestmark = pytest.mark.skipif(not HOST, reason="SIMPLE_HOST is not set")
pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)

GUIDES = [
    "attribution.md",
    "autograd.md",
    "compile-and-export.md",
    "custom-operators.md",
    "data.md",
    "distributed.md",
    "dlpack.md",
    "errors.md",
    "from-pytorch.md",
    "metrics.md",
    "models.md",
    "onnx.md",
    "python.md",
    "quantization.md",
    "torchscript.md",
    "trainer.md",
    "training.md",
]


def text_of(guide: str) -> str:
    return (Path(__file__).parents[2] / "docs" / guide).read_text()


def blocks_of(guide: str) -> list[tuple[str, str]]:
    """Each code block with the text below it; one that begins with the name of its file is run by a command below."""
    return re.findall(r"```simple\n(?!# \w+\.spl\n)(.*?)```\n\n```\n(.*?)```", text_of(guide), re.S)


def printed(code: str, folder: Path) -> str:
    """What a block prints that is pasted into a file."""
    for name in re.findall(r'py\.import\("(\w+)|^use (executorch|torchao|transformers|timm)$', code, re.M):
        name = "".join(name)
        if name != "simple_torch" and importlib.util.find_spec(name) is None:  # the host has that one itself
            pytest.skip(f"this Python has no {name}")
    program = folder / "block.spl"
    program.write_text(code)
    variables = {**os.environ, "JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "3"}
    run = subprocess.run(
        [HOST, program], capture_output=True, text=True, check=False, timeout=300, env=variables, cwd=folder
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.parametrize("guide", GUIDES)
def test_every_python_block_prints_its_output(guide, tmp_path):
    for number, (code, below) in enumerate(re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", text_of(guide), re.S)):
        script = tmp_path / f"block{number}.py"
        script.write_text(code)
        variables = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "python")}
        command = [sys.executable, script]
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=variables)
        assert (run.stdout, run.stderr) == (below, "")


@pytest.mark.parametrize("guide", GUIDES)
def test_every_block_has_its_output(guide):
    assert len(blocks_of(guide)) == len(re.findall(r"```simple\n(?!# \w+\.spl\n)", text_of(guide)))


@pytest.mark.parametrize(("guide", "number"), [(guide, i) for guide in GUIDES for i in range(len(blocks_of(guide)))])
def test_prints_the_guides_output(guide, number, tmp_path):
    code, below = blocks_of(guide)[number]
    if is_sanitized() and "async fn" in code:
        pytest.skip("greenlets copy the C stack, which the sanitizer reports")
    assert printed(code, tmp_path) == below


def test_the_list_of_built_ins_is_current():
    generator = Path(__file__).parents[2] / "tools" / "generate_builtins.py"
    assert subprocess.run([sys.executable, generator, "--check"], check=False).returncode == 0, f"run {generator}"
