"""Checks of the running Python, made before torch is imported."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec


def why_wrong_torch(expected: str) -> str:
    """Why `import torch` would not give the torch in the folder `expected`; "" when it would.

    Two LibTorch in one process crash it, so the paths are compared first.

    >>> why_wrong_torch("/nowhere").startswith(sys.executable)
    True
    """
    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        return f"{sys.executable} has no torch; install it there, or name a Python that has it in SIMPLE_PYTHON"
    found = os.path.dirname(os.path.realpath(spec.origin))
    if found != os.path.realpath(expected):
        return (
            f"{sys.executable} would import torch from {found}, and this program uses the one in {expected}; "
            "let SIMPLE_PYTHON and SIMPLE_TORCH name the same environment"
        )
    return ""
