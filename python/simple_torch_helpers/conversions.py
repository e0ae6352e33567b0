"""The classes of Python for which the Simple program has conversion rules."""

from __future__ import annotations

from typing import Any

_rules: dict[type, int] = {}
OWN = (bool, int, float, str, list, tuple, dict, type(None))  # which Simple converts itself


def add(of: Any, rule: int) -> None:
    """Set the rule for the objects of a class and its subclasses. It replaces an earlier one.

    Raises:
        TypeError: `of` is no class, or one of values that Simple converts itself.
    """
    if not isinstance(of, type):
        raise TypeError(f"py.add_conversion(): type must be a class, got {of!r}")
    if issubclass(of, OWN) or of is object:
        raise TypeError(f"py.add_conversion(): {of.__qualname__} has a conversion that cannot be replaced")
    _rules[of] = rule


def rule_for(value: Any) -> int:
    """The rule of the first class of the value that has one; -1 for none."""
    return next((_rules[of] for of in type(value).__mro__ if of in _rules), -1)
