"""What Shift-Tab and ?name show about a name of a Simple cell: its signature, shape and docstring."""

from __future__ import annotations

from typing import Any

import torch

from simple_torch.notebook.completion import described
from simple_torch.notebook.tensors import description

_MISSING = object()


def inspected(session: Any, python_names: Any, name: str) -> dict[str, str]:
    """Return a MIME bundle that describes the value of a dotted name; empty if the session does not know it.

    Attributes are read; nothing is called.
    """
    value = _value(session, python_names, name)
    found = described(session, name)
    lines = []
    if found.get("signature"):
        lines.append(str(found["signature"]))
    if isinstance(value, torch.Tensor):
        lines.append(description(value))
    elif value is not _MISSING and not found.get("signature"):
        lines.append(_short(repr(value)))
    if found.get("kind") and lines:
        lines.insert(0, f"{name}: {found['kind']}")
    if found.get("doc"):
        lines += ["", str(found["doc"]).strip()]
    return {"text/plain": "\n".join(lines)} if lines else {}


def _value(session: Any, python_names: Any, name: str) -> Any:
    first, *rest = name.split(".")
    if first not in session.names() and first not in python_names:
        return _MISSING
    try:
        value = python_names[first] if first in python_names else session.evaluate(first)
        for attribute in rest:
            value = getattr(value, attribute)
    except Exception:
        return _MISSING  # an attribute may be a property that fails with any error
    return value


def _short(text: str, most: int = 2000) -> str:
    return text if len(text) <= most else f"{text[:most]}..."
