"""Numbers of Simple as Python's types: enums as enum.IntEnum and enum.IntFlag, dtypes as NumPy's."""

from __future__ import annotations

import enum
from typing import Any


def int_enum(of: Any) -> type[enum.IntEnum]:
    """Return an enum.IntEnum with the names and values of an enum.

    Raises:
        TypeError: `of` is no enum, or a variant has no integer.
    """
    return enum.IntEnum(of.__name__, integers(of))


def int_flag(of: Any) -> type[enum.IntFlag]:
    """Return an enum.IntFlag with the names and values of an enum.

    Raises:
        TypeError: `of` is no enum, or a variant has no integer.
    """
    return enum.IntFlag(of.__name__, integers(of))


def integers(of: Any) -> dict[str, int]:
    """Return the integers of an enum's variants by name."""
    members = getattr(of, "__members__", None)
    if members is None:
        raise TypeError(f"expected an enum, got {of!r}")
    values = {name: getattr(member, "value", None) for name, member in members.items()}
    for name, value in values.items():
        if type(value) is not int:
            raise TypeError(f"{of.__name__}.{name} has no integer: write {name} = 1")
    if not values:
        raise TypeError(f"{of.__name__} has no variant with an integer")
    return values


def numpy_dtype(dtype: Any) -> Any:
    """Return NumPy's dtype of the same numbers as a torch.dtype.

    Raises:
        TypeError: NumPy has no such dtype, or `dtype` is none.
    """
    import torch

    if not isinstance(dtype, torch.dtype):
        raise TypeError(f"expected a dtype of torch, got {dtype!r}")
    return torch.empty(0, dtype=dtype).numpy().dtype
