"""Results of Python's models, in parts that Simple has values for."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping
from typing import Any

_NUMBERS = "biufc"  # the kinds of NumPy's dtypes that torch has, too
_LARGEST = {"f": 8, "c": 16}


def parts(value: Any) -> tuple[str, list[Any], list[Any]]:
    """Return the form of a result, and the names and values of its parts.

    The forms are fields, dict, tuple, module, array and object; the last three have no parts. Fields have names that
    are also attributes: those of a dataclass with tensors.

    >>> parts({"a": 1})
    ('dict', ['a'], [1])
    """
    if isinstance(value, tuple):
        return "tuple", list(_names_of_items(value)), list(value)
    if isinstance(value, Mapping):
        form = "fields" if dataclasses.is_dataclass(value) or hasattr(value, "to_tuple") else "dict"
        return form, list(value.keys()), list(value.values())
    if dataclasses.is_dataclass(value) and _has_tensors(value):
        names = [field.name for field in dataclasses.fields(value)]
        return "fields", names, [getattr(value, name) for name in names]
    return _form_without_parts(value), [], []


def _names_of_items(value: tuple) -> tuple[str, ...]:
    """Return the names of a named tuple, or of a result of torch such as that of torch.max."""
    if hasattr(value, "_fields"):
        return value._fields
    names = getattr(type(value), "__match_args__", ())
    return names if len(names) == len(value) else ()


def _has_tensors(value: Any) -> bool:
    """Return whether a dataclass is data: a configuration has no tensors."""
    torch = sys.modules.get("torch")
    if torch is None or isinstance(value, type):
        return False
    return any(isinstance(getattr(value, field.name), torch.Tensor) for field in dataclasses.fields(value))


def _form_without_parts(value: Any) -> str:
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(value, torch.nn.Module):
        return "module"
    if numpy is not None and isinstance(value, numpy.ndarray) and _fits_torch(value):
        return "array"
    return "object"


def _fits_torch(array: Any) -> bool:
    """Return whether torch can share the memory of the array."""
    dtype = array.dtype
    is_number = dtype.kind in _NUMBERS and dtype.isnative and dtype.itemsize <= _LARGEST.get(dtype.kind, 8)
    return is_number and all(stride >= 0 for stride in array.strides)
