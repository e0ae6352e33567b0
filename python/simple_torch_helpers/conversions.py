"""The classes of Python for which the Simple program has conversion rules."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Iterable
from typing import Any

_rules: dict[type, int] = {}
DATES = "mM"  # kinds of datetime64 and timedelta64, of which item() and tolist() make integers in some units
OWN = (bool, int, float, str, list, tuple, dict, type(None))  # which Simple converts itself

MAX_DEPTH = 100  # of what Simple keeps; a list may contain itself
PLAIN = frozenset({bool, int, float, str, type(None)})
FORMS = {
    **dict.fromkeys(PLAIN, "v"),
    **{list: "l", tuple: "t", dict: "d"},
    **dict.fromkeys(
        (set, frozenset, complex, datetime.date, datetime.datetime, datetime.time, datetime.timedelta), "k"
    ),
}


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


def forms_of(items: Iterable[Any]) -> Any:
    """How Simple keeps each item: a letter of FORMS, "k" for more, and "-" for one that stays an Object.

    A list, tuple or dict has a list: its letter, and the forms of its items or values; or, if these are all "v", its
    letter alone.

    >>> forms_of([1, (2, 3), b"4", [b"5"]])
    ['v', 't', '-', ['l', '-']]
    """
    return [form_of(item) for item in items]


def form_of(value: Any, depth: int = 0) -> Any:
    form = FORMS.get(type(value), "-")
    if form in ("l", "t", "d"):
        items = value.values() if form == "d" else value
        if PLAIN.issuperset(map(type, items)):
            return form
        return [form, *(form_of(item, depth + 1) for item in items)] if depth < MAX_DEPTH else "-"
    if type(value) is range:
        return "k" if value.step == 1 else "-"
    return "k" if form == "-" and is_tensor(value) else form


def is_tensor(value: Any) -> bool:
    tensor = getattr(sys.modules.get("torch"), "Tensor", None)
    return tensor is not None and isinstance(value, tensor)
