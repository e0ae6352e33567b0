"""Checks of the running Python before torch is imported."""

from __future__ import annotations

import os
import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec


def torch_mismatch(expected: str) -> str:
    """Return why `import torch` would not import the torch in the folder `expected`; "" when it would.

    Two copies of LibTorch crash a process, so the paths are compared first.

    >>> torch_mismatch("/nowhere").startswith(sys.executable)
    True
    """
    if not is_plain_module(sys.modules.get("torch")):
        return "sys.modules['torch'] is not PyTorch; remove it from sys.modules and try again"
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


def is_plain_module(module: object) -> bool:
    """Whether `module` is None or a module that was imported from a file, unlike a mock of it."""
    spec = getattr(module, "__spec__", None)
    return module is None or (isinstance(spec, ModuleSpec) and isinstance(spec.origin, str))
