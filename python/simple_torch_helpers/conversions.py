"""The classes of Python for which the Simple program has conversion rules."""

from __future__ import annotations

import sys
from typing import Any

_rules: dict[type, int] = {}
DATES = "mM"  # kinds of datetime64 and timedelta64, of which item() and tolist() make integers in some units
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


def array_items(array: Any) -> Any:
    """The result of `array.tolist()`, in which NumPy's dates and durations stay NumPy's.

    >>> array_items(memoryview(b"ab"))
    [97, 98]
    """
    numpy = sys.modules.get("numpy")
    is_dates = numpy is not None and isinstance(array, (numpy.ndarray, numpy.generic)) and array.dtype.kind in DATES
    return nested(array) if is_dates else array.tolist()


def nested(items: Any) -> Any:
    return [nested(item) for item in items] if items.shape else items[()]


def numpy_item(value: Any) -> Any:
    """The object of Python's own classes with the value of a scalar or an array of no dimension; None for others.

    None also where there is no such object for all values: dates and durations, numbers of more bits, masked values.
    """
    import numpy as np

    if not isinstance(value, (np.generic, np.ndarray)) or isinstance(value, np.ma.MaskedArray):
        return None
    if value.shape != () or value.dtype.kind in DATES:
        return None
    item = value.item()
    return None if isinstance(item, np.generic) and type(item) is type(value[()]) else item
