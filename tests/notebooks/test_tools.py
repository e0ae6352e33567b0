"""papermill, nbconvert and Pygments with Simple notebooks, through what bin/simple notebook installs."""

from __future__ import annotations

import os
import subprocess
import sys

import nbformat
import papermill
import pytest
from kernels import Kernel
from nbconvert import HTMLExporter, ScriptExporter


@pytest.fixture
def notebook(tmp_path):
    made = nbformat.v4.new_notebook()
    made.metadata = {"kernelspec": {"name": "simple", "display_name": "Simple", "language": "simple"}}
    parameters = nbformat.v4.new_code_cell('val rate = 0.5\nval name: text = "default"')
    parameters.metadata.tags = ["parameters"]
    made.cells = [parameters, nbformat.v4.new_code_cell('print "{name} {rate * 2.0} {layers} {flags}"')]
    path = tmp_path / "run.ipynb"
    nbformat.write(made, path)
    return path


PARAMETERS = {"rate": 0.25, "name": 'a "b" {c}\n', "layers": [1, 2], "flags": {"on": True, "off": None}}


def test_papermill_sets_parameters(notebook, monkeypatch):
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    papermill.execute_notebook(notebook, notebook, parameters=PARAMETERS, progress_bar=False)
    done = nbformat.read(notebook, as_version=4)
    assert done.cells[-1].outputs[0].text == 'a "b" {c}\n 0.5 [1, 2] {on: true, off: nil}\n'
    assert {"rate", "name"} <= set(papermill.inspect_notebook(notebook))


def test_the_command_line_of_papermill_knows_simple(notebook):
    """The entry point in the environment registers Simple; nothing is imported by hand."""
    command = [sys.executable, "-m", "papermill", "--prepare-only", str(notebook), "-", "-p", "rate", "0.75"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    assert "var rate = 0.75" in done.stdout


def test_nbconvert_executes_and_highlights(notebook):
    source = nbformat.read(notebook, as_version=4)
    source.cells[1].source = "use torch\nval t = torch.ones([2])  # ones\nt"
    nbformat.write(source, notebook)
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    command = [sys.executable, "-m", "nbconvert", "--execute", "--to", "notebook", "--inplace", str(notebook)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200, env=environment)
    assert done.returncode == 0, done.stderr
    body, _ = HTMLExporter().from_filename(str(notebook))
    assert '<span class="kd">val</span>' in body or '<span class="k">val</span>' in body
    assert '<span class="c1"># ones</span>' in body
    assert "Tensor [2], float32, cpu" in body
    script, resources = ScriptExporter().from_filename(str(notebook))
    assert resources["output_extension"] == ".spl" and "torch.ones([2])" in script


def test_nbconvert_highlights_simple_cells_of_python_notebooks(tmp_path):
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("%%simple\nval x = 1  # one")])
    nbformat.write(made, tmp_path / "magic.ipynb")
    command = [sys.executable, "-m", "nbconvert", "--to", "html", str(tmp_path / "magic.ipynb")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    assert '<span class="k">val</span>' in (tmp_path / "magic.html").read_text()


def test_the_tools_do_not_load_torch():
    code = "import papermill, sys, simple_torch_jupyter.lexer as a, simple_torch_jupyter.papermill as b; "
    code += "print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_kernel_uses_the_torch_of_its_own_python(jupyter, monkeypatch):
    """Also where neither a variable nor an active environment names it."""
    for name in ("SIMPLE_PYTHON", "SIMPLE_TORCH", "VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    with Kernel("simple") as kernel:
        assert kernel.run("%%python\nimport sys, torch\ntorch.__file__.startswith(sys.prefix)").text == "True"
        assert kernel.run("use torch\ntorch.ones([2]).sum().item()").text == "2.0"
        assert kernel.run("%%python\nimport os\n'SIMPLE_PYTHON' in os.environ").text == "False"
