"""PyTorch for Simple in Python: tensors that share memory with other array libraries by DLPack.

In a Simple program this is the program's own library. In a Python process the import loads it, and PyTorch with it.
"""

from __future__ import annotations

import sys
from typing import Any

if "simple_torch._core" not in sys.modules:
    from simple_torch._library import start

    start()

from simple_torch._core import Tensor, from_dlpack
from simple_torch.simple import evaluate, of_program, run, run_file


def __getattr__(name: str) -> Any:
    """Return a definition of the Simple program's own file, as pickle looks it up."""
    return of_program(name)


__version__ = "0.1.0"  # that of CMakeLists.txt

__all__ = ["Tensor", "evaluate", "from_dlpack", "run", "run_file"]
