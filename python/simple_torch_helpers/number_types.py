"""Numbers of Simple as Python's types: enums as enum.IntEnum and enum.IntFlag, dtypes as NumPy's."""

from __future__ import annotations

import copyreg
import enum
from typing import Any

_made: dict[tuple[Any, str], tuple[Any, type]] = {}  # the enum of Simple, and Python's of it, which exists once


class OfSimple(enum.EnumMeta):
    """The class of these enums, which pickle finds by their enum of Simple."""


class FromSimple:
    """A member of the enum of Simple stands for its integer: `Levels(Level.High)`."""

    @classmethod
    def _missing_(cls, value: Any) -> Any:
        if isinstance(value, source_of(cls)):
            return cls(value.value)  # type: ignore[call-arg]
        return super()._missing_(value)  # type: ignore[misc]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), (self._value_,)  # type: ignore[attr-defined]


class IntEnum(FromSimple, enum.IntEnum, metaclass=OfSimple):
    """The base of enums with integers."""


class IntFlag(FromSimple, enum.IntFlag, metaclass=OfSimple):
    """The base of enums whose members are combined."""


def int_enum(of: Any) -> type[enum.IntEnum]:
    """Return the enum.IntEnum with the names and values of an enum: the same one at each call.

    Raises:
        TypeError: `of` is no enum, or a variant has no integer.
    """
    return made(of, IntEnum)


def int_flag(of: Any) -> type[enum.IntFlag]:
    """Return the enum.IntFlag with the names and values of an enum: the same one at each call.

    Raises:
        TypeError: `of` is no enum, or a variant has no integer.
    """
    return made(of, IntFlag)


def made(of: Any, base: Any) -> Any:
    values = integers(of)
    key = (of, base.__name__)
    if key not in _made:
        _made[key] = (of, base(of.__name__, values, module="simple_torch"))
    return _made[key][1]


def source_of(enum_type: type) -> Any:
    """The enum of Simple from which Python's was made."""
    return next(of for of, found in _made.values() if found is enum_type)


def reduced_type(enum_type: type) -> tuple[Any, ...]:
    return (int_flag if issubclass(enum_type, IntFlag) else int_enum), (source_of(enum_type),)


copyreg.pickle(OfSimple, reduced_type)  # type: ignore[arg-type]


def is_of_simple(of: Any) -> bool:
    return isinstance(of, type) and "__simple__" in of.__dict__


def integers(of: Any) -> dict[str, int]:
    """Return the integers of an enum's variants by name."""
    members = getattr(of, "__members__", None)
    if members is None:
        raise TypeError(f"expected an enum, got {of!r}")
    values = {name: getattr(member, "value", None) for name, member in members.items()}
    for name, value in values.items():
        if type(value) is not int:
            raise TypeError(f"{of.__name__}.{name} has no integer: write {name} = 1")
    for name, has_values, *_ in of.__simple__.__ask__("variants") if is_of_simple(of) else ():
        if has_values:
            raise TypeError(f"{of.__name__}.{name} has values, so it is no integer")
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
