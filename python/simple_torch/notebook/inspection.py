"""What Shift-Tab and ?name show about a name of a Simple cell: its signature, shape and documentation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from simple_torch.notebook.signatures import python_value, signature_of
from simple_torch.notebook.tensors import description

_LONGEST = 2000


def inspected(session: Any, python_names: Mapping[str, Any], path: str) -> dict[str, str]:
    """Return a MIME bundle that describes the value of a dotted name; empty if the cells have no such name."""
    signature = signature_of(session, python_names, path)
    value = python_value(session, python_names, path)
    if isinstance(value, torch.Tensor):
        lines = [description(value), "", repr(value)]
    elif signature is not None:
        lines = [signature.text] if signature.text else []
        lines += ["", signature.doc] if signature.doc else []
    elif value is not None:
        lines = [f"{type(value).__name__}: {_short(repr(value))}"]
    else:
        return {}
    return {"text/plain": "\n".join(lines).strip()}


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
