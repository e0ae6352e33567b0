"""Modules of Python as members of Simple's modules."""

from __future__ import annotations

import copy
import sys
from typing import Any


def kind_of(value: Any) -> str:
    """Return what a value is as a member: module, parameter, buffer or nothing."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "nn"):
        return ""  # without torch there are no modules
    if isinstance(value, torch.nn.Module):
        return "module"
    if isinstance(value, torch.nn.Parameter):
        return "parameter"
    return "buffer" if isinstance(value, torch.nn.Buffer) else ""


def members(module: Any) -> tuple[list[str], list[str], list[int], list[Any]]:
    """Return the kinds, names, identities and values of the direct members, without those that are None."""
    transient = module._non_persistent_buffers_set
    found: list[tuple[str, str, Any]] = [("parameter", *pair) for pair in module._parameters.items()]
    found += [("transient" if name in transient else "buffer", name, value) for name, value in module._buffers.items()]
    found += [("module", *pair) for pair in module._modules.items()]
    found = [member for member in found if member[2] is not None]
    values = [value for _, _, value in found]
    return [kind for kind, _, _ in found], [name for _, name, _ in found], [id(value) for value in values], values


def deep_copy(value: Any, memo: dict[int, Any]) -> Any:
    """Return a copy; `memo` keeps objects that several fields share."""
    return copy.deepcopy(value, memo)
