"""Snapshots of lists, dicts and sets, to find changes in place."""

from __future__ import annotations

from typing import Any


def snapshot(value: Any) -> Any:
    """Return a copy of lists, tuples, dicts and sets down to other values, which stay the same objects."""
    if type(value) is list:
        return [snapshot(item) for item in value]
    if type(value) is tuple:
        return tuple(snapshot(item) for item in value)
    if type(value) is dict:
        return {key: snapshot(item) for key, item in value.items()}
    return set(value) if type(value) is set else value


def differs(value: Any, copied: Any) -> bool:
    """Return whether a value is no longer what its snapshot shows. Calls no `__eq__` of items."""
    if type(value) is not type(copied):
        return True
    if isinstance(value, (list, tuple)):
        return len(value) != len(copied) or any(map(differs, value, copied))
    if isinstance(value, dict):
        return list(value) != list(copied) or any(map(differs, value.values(), copied.values()))
    if isinstance(value, set):
        return len(value) != len(copied) or any(item not in copied for item in value)
    return value is not copied
