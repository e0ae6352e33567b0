"""Classes of the Simple program that inherit from Python's."""

from __future__ import annotations

import copy
import enum
import sys
import types
from collections.abc import Callable
from typing import Any

import simple_torch  # noqa: F401 (the module of the classes, which typing looks up in sys.modules)

from simple_torch_helpers.functions import annotations_of_fields

Field = tuple[str, Any, bool, Any, Callable[[], Any] | None]
PLAIN = (bool, int, float, str, tuple, set, type(None))
DECORATORS: dict[str, Callable[[Any], Any]] = {
    "method": lambda function: function,
    "static": staticmethod,
    "class": classmethod,
    "property": property,
}


def new_class(
    name: str,
    doc: str,
    key: int,
    module: str,
    bases: list[Any],
    methods: list[tuple[str, Any, str]],
    fields: list[Field],
) -> type:
    """Create the class.

    Args:
        key: that of the class statement, for Super.
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
    namespace["__simple_class__"] = key
    if annotations := annotations_of_fields([(field, of) for field, of, *_ in fields if of is not None]):
        namespace["__annotations__"] = annotations
    for field, _, has_value, value, make in fields:
        if has_value:
            add_field(namespace, own_fields, field, make() if make else value, make)
    keep_fields_from_class(bases, namespace, own_fields)
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


def add_field(
    namespace: dict[str, Any], own: dict[str, Callable[[], Any] | None], name: str, value: Any, make: Any
) -> None:
    """Add a class attribute, and what creates the value of each object. A function stays a value: no method."""
    namespace[name] = staticmethod(value) if isinstance(value, types.FunctionType) else value
    own[name] = None if name.startswith("__") else copies_of(value, make)


def keep_fields_from_class(bases: list[Any], namespace: dict[str, Any], own: dict[str, Any]) -> None:
    """For parents that store attributes elsewhere, such as torch.nn.Module its modules: an attribute of the class would
    hide what __init__ assigns to a field without a value of its own."""
    if all(getattr(base, "__setattr__", None) is object.__setattr__ for base in bases):
        return
    for name in own:
        if own[name] or namespace[name] is None:
            own[name] = own[name] or (lambda: None)
            del namespace[name]


def copies_of(value: Any, make: Callable[[], Any] | None) -> Callable[[], Any] | None:
    """Return what creates the value of each object; None for a value that all objects share."""
    if isinstance(value, list | dict):
        return lambda: copy.deepcopy(value)
    tensor = getattr(sys.modules.get("torch"), "Tensor", ())
    is_own = isinstance(value, (*PLAIN, tensor) if tensor else PLAIN) or hasattr(type(value), "__ask__")
    return make if make and is_own else None


def constructor_of(created: type) -> Any:
    """Return `__new__`, which sets the fields that each object has for itself before __init__ runs."""

    def __new__(cls: Any, /, *values: Any, **named: Any) -> Any:
        create = super(created, cls).__new__
        takes_none = create is object.__new__
        if takes_none and cls.__init__ is object.__init__ and (values or named):
            raise TypeError(f"{cls.__name__}() takes no arguments")
        instance = create(cls) if takes_none else create(cls, *values, **named)
        if not isinstance(instance, cls) or not hasattr(instance, "__dict__"):
            return instance
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
    """Python's super() for the methods of one class statement: each method, also __init__, receives `self`.

    The class is found in the order of self's class: its name may have another value by now.
    """

    __slots__ = ("key",)

    def __init__(self, key: int) -> None:
        self.key = key

    def __getattribute__(self, name: str) -> Any:
        key = object.__getattribute__(self, "key")

        def method(self_: Any, /, *values: Any, **named: Any) -> Any:
            of = next(one for one in type(self_).__mro__ if one.__dict__.get("__simple_class__") == key)
            return getattr(super(of, self_), name)(*values, **named)

        return method
