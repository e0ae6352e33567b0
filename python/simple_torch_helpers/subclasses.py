"""Classes of the Simple program that inherit from Python's."""

from __future__ import annotations

import copy
import enum
import sys
import types
from collections.abc import Callable
from typing import Any

from simple_torch_helpers.functions import annotations_of_fields

Field = tuple[str, Any, bool, Any, Callable[[], Any] | None]
DECORATORS: dict[str, Callable[[Any], Any]] = {
    "method": lambda function: function,
    "static": staticmethod,
    "class": classmethod,
    "property": property,
}


def new_class(
    name: str, doc: str, module: str, bases: list[Any], methods: list[tuple[str, Any, str]], fields: list[Field]
) -> type:
    """Create the class.

    Args:
        module: its `__module__`; "" for a class that no other process can import.
        bases: its parents, in order; the metaclass follows from them.
        methods: name, function, and the key of DECORATORS.
        fields: name, declared type, whether there is a value, the value, and the function that computes it, or None.

    Raises:
        TypeError: a parent is no class, or cannot have subclasses.
    """
    for base in bases:
        check_base(name, base)
    own_fields: dict[str, Callable[[], Any] | None] = {}
    namespace: dict[str, Any] = {"__module__": module or "simple_torch", "__doc__": doc or None}
    namespace["__simple_fields__"] = own_fields
    if annotations := annotations_of_fields([(field, of) for field, of, *_ in fields if of is not None]):
        namespace["__annotations__"] = annotations
    for field, _, has_value, value, make in fields:
        if has_value:
            namespace[field] = make() if make else value
            own_fields[field] = copies_of(namespace[field], make)
    namespace |= {method: DECORATORS[kind](function) for method, function, kind in methods}
    created = types.new_class(name, tuple(bases), {}, lambda body: body.update(namespace))
    if any(fields_of(created).values()) and "__new__" not in namespace:
        created.__new__ = constructor_of(created)  # type: ignore[method-assign]
    return created


def check_base(name: str, base: Any) -> None:
    if not isinstance(base, type) and not hasattr(base, "__mro_entries__"):
        raise TypeError(f"class {name}: a parent must be a class, got {base!r}")
    if isinstance(base, enum.EnumMeta):
        raise TypeError(f"class {name} cannot inherit from {base.__qualname__}: declare an enum of Simple instead")


def copies_of(value: Any, make: Callable[[], Any] | None) -> Callable[[], Any] | None:
    """Return what creates the value of each object; None for a value that all objects share."""
    if isinstance(value, list | dict):
        return lambda: copy.deepcopy(value)
    tensor = getattr(sys.modules.get("torch"), "Tensor", ())
    return make if make and (isinstance(value, tensor) or hasattr(type(value), "__ask__")) else None


def constructor_of(created: type) -> Any:
    """Return `__new__`, which sets the fields that each object has for itself before __init__ runs."""

    def __new__(cls: Any, /, *values: Any, **named: Any) -> Any:
        create = super(created, cls).__new__
        takes_none = create is object.__new__
        if takes_none and cls.__init__ is object.__init__ and (values or named):
            raise TypeError(f"{cls.__name__}() takes no arguments")
        instance = create(cls) if takes_none else create(cls, *values, **named)
        for field, make in fields_of(cls).items():
            if make and field not in instance.__dict__:
                instance.__dict__[field] = make()
        return instance

    __new__.__wrapped__ = created.__init__  # type: ignore[attr-defined, misc] (for inspect.signature)
    return staticmethod(__new__)


def fields_of(created: type) -> dict[str, Callable[[], Any] | None]:
    """Return the fields of a class and its bases; those of a class replace its bases'."""
    found: dict[str, Callable[[], Any] | None] = {}
    for base in reversed(created.__mro__):
        found |= base.__dict__.get("__simple_fields__", {})
    return found


class Super:
    """Python's super() for methods of one class: each method, also __init__, receives `self`."""

    __slots__ = ("of",)

    def __init__(self, of: type) -> None:
        self.of = of

    def __getattribute__(self, name: str) -> Any:
        of = object.__getattribute__(self, "of")
        return lambda self_, /, *values, **named: getattr(super(of, self_), name)(*values, **named)
