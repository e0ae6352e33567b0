"""Values as Simple prints them, for results of Simple cells."""

from __future__ import annotations

from typing import Any

_DEPTH = 20


def simple_repr(value: Any, depth: int = 0) -> str:
    """Return a value as Simple shows it: true instead of True, nil instead of None; strings are in quotes.

    >>> simple_repr({"a": [True, None, 1.5]})
    '{"a": [true, nil, 1.5]}'
    """
    if depth > _DEPTH:
        return "..."
    if value is None or value is True or value is False:
        return {None: "nil", True: "true", False: "false"}[value]
    kind = type(value)
    if kind is str:
        return _quoted(value)
    if kind is list:
        return f"[{_joined(value, depth)}]"
    if kind is tuple:
        return f"({_joined(value, depth)}{',' if len(value) == 1 else ''})"
    if kind is dict:
        pairs = (f"{simple_repr(key, depth + 1)}: {simple_repr(each, depth + 1)}" for key, each in value.items())
        return f"{{{', '.join(pairs)}}}"
    return repr(value)


def _joined(values: list | tuple, depth: int) -> str:
    return ", ".join(simple_repr(each, depth + 1) for each in values)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t") + '"'
