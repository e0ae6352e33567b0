"""Classes of the Simple program that inherit from Python's."""

from __future__ import annotations

import copy
import enum
import functools
import sys
import types
from collections.abc import Callable
from typing import Any

import simple_torch  # noqa: F401 (the module of the classes, which typing looks up in sys.modules)

from simple_torch_helpers.functions import annotations_of_fields, subscripted

Field = tuple[str, Any, bool, Any, Callable[[], Any] | None]
PLAIN = (bool, int, float, str, tuple, set, type(None))


def new_class(
    name: str,
    doc: str,
    key: int,
    module: str,
    bases: list[Any],
    methods: list[tuple[str, Any, str, bool]],
    fields: list[Field],
    simple_parents: list[int],
    keywords: dict[str, Any],
) -> type:
    """Create the class.

    Args:
        key: that of the class statement, for Super.
        module: its `__module__`; "" for a class that no other process can import.
        bases: its parents, in order; the metaclass follows from them. A list is a class and its type arguments.
        methods: name, function, the key of DECORATORS, and whether that applies to what the program's decorators
            returned. The name `x.setter` is that of a function which completes the property `x`.
        fields: name, declared type, whether there is a value, the value, and the function that computes it, or None.
        simple_parents: the identities of its parents that are classes and traits of Simple.
        keywords: those of the class statement, which the metaclass and __init_subclass__ receive.

    Raises:
        TypeError: a parent is no class, or cannot have subclasses.
    """
    bases = [subscripted(*base) if isinstance(base, list) else base for base in bases]
    for base in bases:
        check_base(name, base)
    own_fields: dict[str, Callable[[], Any] | None] = {}
    namespace: dict[str, Any] = {"__module__": module or "simple_torch", "__doc__": doc or None}
    namespace["__simple_fields__"] = own_fields
    namespace["__simple_class__"] = key
    namespace["__simple_parents__"] = frozenset(simple_parents)
    if annotations := annotations_of_fields([(field, of) for field, of, *_ in fields if of is not None]):
        namespace["__annotations__"] = annotations
    for field, _, has_value, value, make in fields:
        if has_value:
            add_field(namespace, own_fields, field, make() if make else value, make)
    keep_fields_from_class(bases, namespace, own_fields)
    for method, function, kind, is_outermost in methods:
        add_method(namespace, method, function, kind, is_outermost)
    if isinstance(initialize := namespace.get("__init__"), types.FunctionType):
        namespace["__init__"] = keeping_arguments(initialize)
    created = types.new_class(name, tuple(bases), keywords, lambda body: body.update(namespace))
    leave_to_metaclass(created, namespace, own_fields)
    if any(fields_of(created).values()) and "__new__" not in namespace:
        created.__new__ = constructor_of(created)  # type: ignore[method-assign]
    return created


def add_method(namespace: dict[str, Any], name: str, function: Any, kind: str, is_outermost: bool) -> None:
    property_name, _, accessor = name.partition(".")
    if accessor:
        function.__name__ = function.__qualname__ = property_name
        namespace[property_name] = getattr(namespace[property_name], accessor)(function)
    elif is_outermost or isinstance(function, types.FunctionType):
        namespace[name] = DECORATORS[kind](function)
    else:
        namespace[name] = function


def as_static(function: Any) -> Any:
    """A static method, unless the decorators made another kind of attribute of the function."""
    is_other = isinstance(function, (staticmethod, classmethod, property)) or not callable(function)
    return function if is_other else staticmethod(function)


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
    hide what __init__ assigns to a field without a value of its own. A metaclass may read the attributes."""
    if all(getattr(base, "__setattr__", None) is object.__setattr__ or type(base) is not type for base in bases):
        return
    for name in own:
        if own[name] or namespace[name] is None:
            own[name] = own[name] or (lambda: None)
            del namespace[name]


def keeping_arguments(initialize: types.FunctionType) -> Callable[..., None]:
    """Return an __init__ after which an attribute with the name and the value of an argument is that object.

    Numbers and strings pass through Simple by value. scikit-learn's clone() requires the same objects.
    """
    code = initialize.__code__
    names = code.co_varnames[1 : code.co_argcount]

    @functools.wraps(initialize)
    def __init__(self: Any, /, *values: Any, **named: Any) -> None:
        initialize(self, *values, **named)
        stored = getattr(self, "__dict__", {})
        for name, value in (*zip(names, values), *named.items()):
            if type(value) in (int, float, str) and is_same_value(stored.get(name), value):
                stored[name] = value

    return __init__


def is_same_value(kept: Any, value: Any) -> bool:
    return type(kept) is type(value) and kept == value and repr(kept) == repr(value)  # 0.0 and -0.0 are equal


def leave_to_metaclass(created: type, namespace: dict[str, Any], own: dict[str, Any]) -> None:
    """A field that the metaclass took away, such as pydantic's, has values that the parent creates."""
    for name in own:
        if name in namespace and name not in created.__dict__:
            own[name] = None


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


DECORATORS: dict[str, Callable[[Any], Any]] = {
    "method": lambda function: function,
    "static": as_static,
    "class": classmethod,
    "property": property,
}


def has_parent(value: Any, identity: int) -> bool:
    """Whether a class of `value` has the class or trait of Simple as a parent."""
    return any(identity in base.__dict__.get("__simple_parents__", ()) for base in type(value).__mro__)


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
            return getattr(super_in(key, self_), name)(*values, **named)

        return method


def super_in(key: int, receiver: Any) -> Any:
    """Python's super() in a method that receives an object or, as `cls`, a class."""
    classes = [*type(receiver).__mro__, *(receiver.__mro__ if isinstance(receiver, type) else ())]
    return super(next(one for one in classes if one.__dict__.get("__simple_class__") == key), receiver)
