"""The notebook that `simple new notebook` makes: it runs, and its network learns."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")


def test_the_notebook_of_the_template_runs(tmp_path):
    subprocess.run([ROOT / "bin" / "simple", "new", "notebook", tmp_path / "mine"], check=True, capture_output=True)
    notebook = nbformat.read(tmp_path / "mine" / "notebook.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert notebook.cells[0].source.startswith("# mine\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTEST_CURRENT_TEST", raising=False)  # ipykernel would not read the file descriptors
        nbclient.NotebookClient(notebook, timeout=300).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    accuracy = float(outputs[-1].text.removeprefix("accuracy "))
    assert accuracy > 0.95
