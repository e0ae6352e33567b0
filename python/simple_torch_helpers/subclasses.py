"""Classes of the Simple program that inherit from Python's."""

from __future__ import annotations

import copy
import enum
import types
from collections.abc import Callable
from typing import Any

DECORATORS: dict[str, Callable[[Any], Any]] = {
    "method": lambda function: function,
    "static": staticmethod,
    "class": classmethod,
    "property": property,
}


def new_class(
    name: str,
    bases: list[Any],
    methods: list[tuple[str, Any, str]],
    fields: list[tuple[str, Any, Callable[[], Any] | None]],
) -> type:
    """Create the class.

    Args:
        bases: its parents, in order; the metaclass follows from them.
        methods: name, function, and the key of DECORATORS.
        fields: name, value, and the function that computes the value of each object, or None.

    Raises:
        TypeError: a parent is no class, or cannot have subclasses.
    """
    for base in bases:
        check_base(name, base)
    namespace: dict[str, Any] = {"__module__": "simple_torch", "__doc__": None}
    computed = [(field, make or copies_of(value)) for field, value, make in fields if make or is_mutable(value)]
    namespace |= {field: value for field, value, make in fields if not make and not is_mutable(value)}
    namespace |= {method: DECORATORS[kind](function) for method, function, kind in methods}
    created = types.new_class(name, tuple(bases), {}, lambda body: body.update(namespace))
    if computed:
        set_fields_first(created, computed)
    return created


def is_mutable(value: Any) -> bool:
    return isinstance(value, list | dict)


def copies_of(value: Any) -> Callable[[], Any]:
    return lambda: copy.deepcopy(value)


def check_base(name: str, base: Any) -> None:
    if not isinstance(base, type) and not hasattr(base, "__mro_entries__"):
        raise TypeError(f"class {name}: a parent must be a class, got {base!r}")
    if isinstance(base, enum.EnumMeta):
        raise TypeError(f"class {name} cannot inherit from {base.__qualname__}: declare an enum of Simple instead")


def set_fields_first(created: type, computed: list[tuple[str, Callable[[], Any]]]) -> None:
    """Let __init__ set the computed fields before it does anything else."""
    initialize = created.__init__  # type: ignore[misc]

    def __init__(self: Any, /, *values: Any, **named: Any) -> None:
        for field, make in computed:
            setattr(self, field, make())
        initialize(self, *values, **named)

    __init__.__wrapped__ = initialize  # type: ignore[attr-defined]
    __init__.__qualname__ = f"{created.__qualname__}.__init__"
    created.__init__ = __init__  # type: ignore[misc]


def has_class_named(value: Any, name: str) -> bool:
    """Whether a class of the object, its own or a base, has the name."""
    return any(one.__name__ == name for one in type(value).__mro__)
