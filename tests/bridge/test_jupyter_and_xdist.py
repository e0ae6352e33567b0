"""simple_torch in other hosts of Python: pytest-xdist workers and Jupyter kernels."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")
pytest.importorskip("xdist")

TESTS = """
import numpy as np, pytest, simple_torch

@pytest.mark.parametrize("n", range(12))
def test_simple_and_arrays(n):
    module = simple_torch.run("fn square(x): x * x\\nfn total(t) -> f64: t.sum().item()")
    assert module.square(n) == n * n
    array = np.full(3, float(n))
    assert simple_torch.from_dlpack(array).data_ptr() == array.ctypes.data
    assert module.total(simple_torch.from_dlpack(array).torch()) == 3.0 * n

def test_output_is_captured(capsys):
    simple_torch.run('print "reported"')
    assert capsys.readouterr().out == "reported\\n"
"""


def paths() -> str:
    return os.pathsep.join([str(ROOT / "python"), *filter(None, [os.environ.get("PYTHONPATH")])])


def test_workers_of_xdist(tmp_path):
    (tmp_path / "test_it.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": paths()}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=200, env=environment, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout
    assert "13 passed" in done.stdout


class Kernel:
    """A Jupyter kernel and the output of its cells."""

    def __init__(self) -> None:
        os.environ["PYTHONPATH"] = paths()
        self.client = nbclient.NotebookClient(nbformat.v4.new_notebook(), timeout=100, allow_errors=True)
        self.number = 0

    def run(self, code: str) -> list[dict]:
        cell = nbformat.v4.new_code_cell(code)
        self.client.nb.cells.append(cell)
        self.client.execute_cell(cell, self.number)
        self.number += 1
        return cell.outputs

    def text(self, code: str) -> str:
        return "".join(output.get("text", "") for output in self.run(code))

    def error(self, code: str) -> tuple[str, str]:
        (output,) = self.run(code)
        return output["ename"], "\n".join(output["traceback"])


@pytest.fixture
def kernel(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", paths())
    made = Kernel()
    with made.client.setup_kernel():
        yield made


def test_a_kernel_of_jupyter(kernel):
    assert kernel.text(
        "import simple_torch, torch\nprint('one')\nm = simple_torch.run('print \"two\"')\nprint('three')"
    ) == ("one\ntwo\nthree\n")
    assert (
        kernel.run("simple_torch.evaluate('[1, 2].map(f)', f=lambda x: x + 0.5)")[0]["data"]["text/plain"]
        == "[1.5, 2.5]"
    )
    name, traceback = kernel.error("simple_torch.run('fn f(): panic(\"no good\")\\nf()')")
    assert (name, "no good" in traceback, "stack (most recent call first)" in traceback) == ("RuntimeError", True, True)
    assert kernel.error("simple_torch.run('fn f(:')")[0] == "SyntaxError"
    kernel.run("simple_torch.run('exit(3)')")
    assert kernel.text("print(torch.ones(2).sum().item())") == "2.0\n"


def test_an_interrupt_of_the_kernel_stops_simple_and_keeps_its_state(kernel):
    kernel.run("import simple_torch\nm = simple_torch.run('fn spin():\\n    while true: 1 + 1\\nfn five(): 5')")
    pressed = threading.Timer(1.0, lambda: os.kill(kernel.client.km.provisioner.pid, 2))
    pressed.start()
    assert kernel.error("m.spin()")[0] == "KeyboardInterrupt"
    pressed.join()
    assert kernel.text("print(m.five())") == "5\n"
