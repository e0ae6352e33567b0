"""What Shift-Tab and ?name show about a name of a Simple cell: its signature, shape and documentation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from IPython.core.interactiveshell import InteractiveShell

from simple_torch.notebook.signatures import python_value, signature_of
from simple_torch.notebook.tensors import description

_LONGEST = 2000


def inspected(session: Any, shell: InteractiveShell, path: str) -> dict[str, str]:
    """Return a MIME bundle that describes what a dotted name refers to in a Simple cell; empty for an unknown name.

    Attributes are read; nothing is called.
    """
    lines = _described(session, shell.user_ns, path)
    if lines:
        return {"text/plain": "\n".join(lines).strip()}
    try:
        return shell.object_inspect_mime(path)
    except KeyError:
        return {}


def _described(session: Any, python_names: Mapping[str, Any], path: str) -> list[str]:
    value = python_value(session, python_names, path)
    if isinstance(value, torch.Tensor):
        return [description(value), "", repr(value)]
    signature = signature_of(session, python_names, path)
    if signature is not None:
        return [signature.text, "", signature.doc]
    return [] if value is None else [f"{type(value).__name__}: {_short(repr(value))}"]


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
