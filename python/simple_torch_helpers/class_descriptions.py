"""Classes and modules of Python that describe those of Simple to help(): methods, signatures and documentation."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

from simple_torch_helpers.functions import annotations_of_fields
from simple_torch_helpers.instances import TYPES
from simple_torch_helpers.subclasses import DECORATORS

_known: dict[int, type] = {}  # by the identity of the type of Simple


def description_of(of: Any) -> type:
    """Return the description of a class, struct, enum or trait. It is not the class of the objects."""
    identity = of.__ask__("identity")
    if identity not in _known:
        _known[identity] = new_description(of)
    return _known[identity]


def description_of_module(of: Any) -> ModuleType:
    described = ModuleType(repr(of).removeprefix("<module ").removesuffix(">"))
    names = of.__ask__("members")
    for name in names:
        value = getattr(of, name)
        is_type = hasattr(type(value), "__ask__") and type(value).__name__ in TYPES
        setattr(described, name, description_of(value) if is_type else value)
    described.__all__ = names  # type: ignore[attr-defined]
    return described


def new_description(of: Any) -> type:
    parents, methods, fields = of.__ask__("parts")
    namespace: dict[str, Any] = {"__doc__": of.__doc__, "__module__": of.__module__, "__slots__": ()}
    if annotations := annotations_of_fields([(name, declared) for name, declared, *_ in fields if declared]):
        namespace["__annotations__"] = annotations
    namespace |= {name: value for name, _, has_value, value, _ in fields if has_value}
    if type(of).__name__ == "enum":
        namespace |= of.__members__
    elif hasattr(of, "__signature__"):
        namespace["__init__"] = constructor(of.__signature__)
    namespace |= {name: DECORATORS[kind](function) for name, function, kind in methods}
    bases = tuple(description_of(parent) for parent in parents)
    try:
        return type(of.__name__, bases, namespace)
    except TypeError:  # Python has no order for these parents
        return type(of.__name__, bases[:1], namespace)


def constructor(signature: inspect.Signature) -> Any:
    """Return an __init__ that shows the signature of a class, with `self`."""

    def __init__() -> None:
        pass

    parameters = list(signature.parameters.values())
    kind = parameters[0].kind if parameters else inspect.Parameter.POSITIONAL_OR_KEYWORD
    is_first = kind is inspect.Parameter.POSITIONAL_ONLY
    own = inspect.Parameter("self", kind if is_first else inspect.Parameter.POSITIONAL_OR_KEYWORD)
    __init__.__signature__ = signature.replace(parameters=[own, *parameters])  # type: ignore[attr-defined]
    return __init__
