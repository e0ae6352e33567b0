"""Checks of the running Python before torch is imported."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec


def torch_mismatch(expected: str) -> str:
    """Return why `import torch` would not import the torch in the folder `expected`; "" when it would.

    Two copies of LibTorch crash a process, so the paths are compared first.

    >>> torch_mismatch("/nowhere").startswith(sys.executable)
    True
    """
    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        return f"{sys.executable} has no torch; install it there, or set SIMPLE_PYTHON to a Python that has it"
    found = os.path.dirname(os.path.realpath(spec.origin))
    if found != os.path.realpath(expected):
        return (
            f"{sys.executable} would import torch from {found}, but this program uses {expected}; "
            "set SIMPLE_PYTHON and SIMPLE_TORCH to the same environment"
        )
    return ""
