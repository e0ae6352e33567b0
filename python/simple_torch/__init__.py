"""PyTorch for Simple in Python: tensors that share memory with other array libraries by DLPack.

In a Simple program this is the program's own library. In a Python process the import loads it, and PyTorch with it.
"""

from __future__ import annotations

import sys
from typing import Any

if "simple_torch._core" not in sys.modules:
    from simple_torch._library import start

    start()

from simple_torch_helpers.views import view

from simple_torch._core import Tensor, from_dlpack
from simple_torch.session import Session
from simple_torch.simple import evaluate, of_program, run, run_file


def __getattr__(name: str) -> Any:
    """Return a definition of the Simple program's own file, as pickle looks it up."""
    return of_program(name)


def load_ipython_extension(shell: Any) -> None:
    """Load %simple and %%simple into an IPython shell: `%load_ext simple_torch`."""
    from simple_torch.notebook.extension import load

    load(shell)


__version__ = "0.1.0"  # that of CMakeLists.txt

__all__ = ["Session", "Tensor", "evaluate", "from_dlpack", "run", "run_file", "view"]
