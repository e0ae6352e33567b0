"""Kernels of notebooks. Tests of JupyterLab and of papermill run in its environment: bin/simple test --notebooks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
collect_ignore = (
    []
    if os.environ.get("SIMPLE_TEST_NOTEBOOKS")
    else ["test_jupyterlab.py", "test_kernel_protocol.py", "test_tools.py"]
)
if os.environ.get("SIMPLE_TORCH") == "off":
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session", autouse=True)
def jupyter(tmp_path_factory):
    """Folders of Jupyter's own for the tests, in which the Simple kernel is installed, as in a user's environment."""
    import sys

    sys.path.insert(0, str(ROOT / "python"))
    from simple_torch_jupyter.install import install

    folder = tmp_path_factory.mktemp("jupyter")
    install(folder)
    paths = os.pathsep.join([str(ROOT / "python"), *filter(None, [os.environ.get("PYTHONPATH")])])
    settings = {
        "JUPYTER_PATH": str(folder / "share" / "jupyter"),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_CONFIG_PATH": str(folder / "etc" / "jupyter"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "IPYTHONDIR": str(folder / "ipython"),
        "PYTHONPATH": paths,
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        yield folder


@pytest.fixture(scope="module")
def simple_kernel(jupyter):
    from kernels import Kernel

    with Kernel("simple") as kernel:
        yield kernel


@pytest.fixture(scope="module")
def python_kernel(jupyter):
    from kernels import Kernel

    with Kernel("python3") as kernel:
        kernel.run("import torch\n%load_ext simple_torch")
        yield kernel
