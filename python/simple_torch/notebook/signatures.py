"""Signatures of the functions and classes that cells can call, of Simple and of Python."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simple_torch_helpers.functions import COMPUTED, NAMED, ONLY_NAMED, REST

from simple_torch.notebook.values import simple_repr

_SUFFIXES = {REST: "...", NAMED: "**"}


@dataclass(frozen=True)
class Signature:
    """The parameters of a function, as text and as names that can be passed by keyword, and its documentation."""

    text: str
    keywords: tuple[str, ...]
    doc: str


def signature_of(session: Any, python_names: Mapping[str, Any], path: str) -> Signature | None:
    """Return the signature of what a dotted name refers to; None if that is no function or class, or states none."""
    name = path.rpartition(".")[2]
    for function in (path, f"{path}.init"):
        if record := session.signature(function):
            return _of_simple(name, record, is_constructor=function != path)
    value = python_value(session, python_names, path)
    return _of_python(name, value) if callable(value) else None


def python_value(session: Any, python_names: Mapping[str, Any], path: str) -> Any:
    """Return the value of a dotted name in Python, None if there is none. Attributes are read; nothing is called."""
    first, *rest = path.split(".")
    if first not in session.names() and first not in python_names:
        return None
    try:
        value = python_names[first] if first in python_names else session.evaluate(first)
        for attribute in rest:
            value = getattr(value, attribute)
    except Exception:
        return None  # an attribute may be a property, which fails with any error
    return value


def _of_simple(name: str, record: list[Any], *, is_constructor: bool) -> Signature:
    _, doc, _, _, is_async, _, returns, declared = record
    if is_constructor:
        declared = [each for each in declared if each[0] != "self"]
    parts = [_parameter(*each) for each in declared]
    first_only_named = next((i for i, each in enumerate(declared) if each[1] == ONLY_NAMED), None)
    if first_only_named is not None:
        parts.insert(first_only_named, "*")
    shown = ", ".join(parts)
    result = f" -> {_type(returns)}" if returns else ""
    keywords = tuple(each[0] for each in declared if each[1] not in _SUFFIXES)
    return Signature(f"{'async ' if is_async else ''}{name}({shown}){result}", keywords, doc or "")


def _parameter(name: str, kind: int, declared: Any, default: list[Any]) -> str:
    shown = f"**{name}" if kind == NAMED else f"{name}..." if kind == REST else name
    if declared:
        shown += f": {_type(declared)}"
    if default:
        shown += f" = {'...' if default[0] is COMPUTED else simple_repr(default[0])}"
    return shown


def _type(declared: list[Any]) -> str:
    """Return a type as Simple writes it.

    >>> _type(["union", ["i64"], ["array", ["i64"]], ["nil"]])
    'i64 | [i64] | nil'
    >>> _type(["record", ["Box", ["i64"]]])
    'Box<i64>'
    """
    name, *parts = declared
    shown = [_type(part) if isinstance(part, list) else str(part) for part in parts]
    if name == "record":
        return shown[0]
    if name == "union":
        return " | ".join(shown)
    if name == "array":
        return f"[{', '.join(shown)}]"
    if name == "tuple":
        return f"({', '.join(shown)})"
    if name == "dict":
        return f"{{{': '.join(shown)}}}"
    return f"{name}<{', '.join(shown)}>" if shown else name


def _of_python(name: str, value: Any) -> Signature:
    doc = inspect.getdoc(value) or ""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return Signature("", (), doc)
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    keywords = tuple(each.name for each in signature.parameters.values() if each.kind in kinds)
    return Signature(f"{name}{signature}", keywords, doc)
