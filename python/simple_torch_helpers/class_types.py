"""Classes, structs, traits and enums of Simple as types of Python.

`__simple__` of a type is the bridge's object, which performs the requests: the bridge passes it in place of the type.
"""

from __future__ import annotations

import copyreg
import inspect
import types
from collections.abc import Callable, Iterator
from types import FunctionType, GenericAlias, MappingProxyType, MethodType
from typing import Any

from simple_torch_helpers import instances
from simple_torch_helpers.functions import annotations_of_fields, signature_of
from simple_torch_helpers.inheritance import SimpleMeta, base_for
from simple_torch_helpers.subclasses import DECORATORS

_hooks: dict[type, frozenset[str]] = {}


def type_for(handle: Any) -> type:
    """The type for the bridge's object of a class, struct, trait or enum: the same one at each call."""
    identity = handle.__ask__("identity")
    if identity not in instances.types:
        made = new_type(handle)
        if instances.types.setdefault(identity, made) is made:  # another thread may have been faster
            add_functions(made, handle)
    return instances.types[identity]


def new_type(handle: Any) -> type:
    """Create the type, whose methods are Simple's. Default values of parameters may be objects of the type, so that its
    functions come later."""
    parents, methods, fields, hooks, variants = handle.__ask__("shape")
    bases: tuple[type, ...] = tuple(parents) or (type(handle).__base__,)
    all_hooks = frozenset(hooks).union(*(_hooks.get(base, ()) for base in bases))
    namespace = described(handle, fields, bases)
    members = (*methods, *(field for field, _ in fields), *variants)
    namespace |= {name: Member(name) for name in members if not is_special(name)}
    if hooks or len(bases) > 1:  # some protocols depend on several methods
        namespace |= instances.protocols_of(type(handle).__ask__, set(all_hooks))
    namespace |= {"__new__": new_object, "__init__": initializer(handle)}
    made = create(EnumType if type(handle).__name__ == "enum" else SimpleType, handle.__ask__("name"), bases, namespace)
    _hooks[made] = all_hooks
    return made


def add_functions(made: Any, handle: Any) -> None:
    """Replace the methods by functions, which Python binds and describes."""
    for name, method in methods_of(handle.__ask__("methods"), type(handle).__name__).items():
        if is_special(name):  # Python calls those of protocols_of(), and of the base
            document(made.__dict__.get(name), method)
        else:
            type.__setattr__(made, name, method)
    parts = handle.__ask__("signature") if type(handle).__name__ in ("class", "struct") else None
    if parts is not None:
        made.__init__.__signature__ = with_self(signature_of(*parts))


def create(metaclass: Any, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> Any:
    try:
        return SimpleMeta.__new__(metaclass, name, bases, namespace)
    except TypeError:  # Python has no order for these parents
        return SimpleMeta.__new__(metaclass, name, bases[:1], namespace)


def described(handle: Any, fields: list[Any], bases: tuple[type, ...]) -> dict[str, Any]:
    """What describes the type."""
    declared = [(name, of) for name, of in fields if of]
    inherited = [name for base in bases for name in getattr(base, "__match_args__", ())]
    return {
        "__slots__": (),
        "__module__": handle.__ask__("module") or "simple_torch",
        "__doc__": handle.__ask__("documentation") or None,
        "__simple__": handle,
        "__lineage__": frozenset(handle.__ask__("lineage")),
        "__annotations__": annotations_of_fields(declared),
        "__match_args__": tuple(dict.fromkeys([*inherited, *(name for name, _ in fields)])),
    }


def methods_of(methods: list[Any], kind: str) -> dict[str, Any]:
    """The methods that the type declares. Several of one name are left to Simple, which chooses by the arguments."""
    found: dict[str, Any] = {}
    for name, function, decorator in methods:
        if name in found or not isinstance(function, FunctionType):
            found[name] = Member(name)
        elif decorator == "method" and kind != "class":
            found[name] = Method(name, function)
        else:
            found[name] = DECORATORS[decorator](function)
    return found


def document(protocol: Any, method: Any) -> None:
    """Set the documentation and the signature of a special method to those of Simple's."""
    own = method.function if isinstance(method, Method) else method
    if isinstance(protocol, FunctionType) and isinstance(own, FunctionType):
        protocol.__doc__ = own.__doc__
        protocol.__wrapped__ = own  # type: ignore[attr-defined]


class Member:
    """A field, class variable or variant: of the object, or of the type."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        target = owner.__simple__ if instance is None else instance
        return instances.member_of(target, type(target).__ask__, self.name)


class Method(Member):
    """A method of a struct, enum or trait. A struct is a value: its methods change the one that the object contains."""

    def __init__(self, name: str, function: FunctionType) -> None:
        super().__init__(name)
        self.function = function
        self.__doc__ = function.__doc__

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self.function
        is_class = type(getattr(type(instance), "__simple__", None)).__name__ == "class"
        return MethodType(self.function, instance) if is_class else super().__get__(instance, owner)


def new_object(cls: Any, /, *values: Any, **named: Any) -> Any:
    return cls(*values, **named)


def initializer(handle: Any) -> Callable[..., None]:
    """`__init__`, for the classes of Python that inherit and for those that look at its signature."""

    def __init__(self: Any, /, *values: Any, **named: Any) -> None:
        base_for(handle).__init__(self, *values, **named)  # type: ignore[misc]

    return __init__


def with_self(signature: inspect.Signature) -> inspect.Signature:
    parameters = list(signature.parameters.values())
    first = parameters[0].kind if parameters else inspect.Parameter.POSITIONAL_OR_KEYWORD
    is_first = first is inspect.Parameter.POSITIONAL_ONLY
    own = inspect.Parameter("self", first if is_first else inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return signature.replace(parameters=[own, *parameters])


def handle_of(of: Any) -> Any:
    """The bridge's object of a type."""
    return of.__dict__["__simple__"]


def ask(of: Any, request: str, *values: Any, **named: Any) -> Any:
    return handle_of(of).__ask__(request, *values, **named)


def is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


class SimpleType(SimpleMeta):
    """The metaclass: calls, class variables and checks are Simple's. It is no base of Python's own classes."""

    __module__ = "simple_torch"

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **keywords: Any) -> Any:
        """Create a class of Python that inherits from classes of Simple."""
        parents = tuple(base_for(handle_of(base)) if isinstance(base, SimpleType) else base for base in bases)
        return types.new_class(name, parents, keywords, lambda body: body.update(namespace))

    def __call__(cls, /, *values: Any, **named: Any) -> Any:
        handle = handle_of(cls)
        if fits := instances.fits_of(handle, type(handle).__ask__):
            values, named = fits.converted(values, named)
        return handle.__ask__("call", *values, **named)

    def __instancecheck__(cls, instance: Any) -> bool:
        is_own = hasattr(type(instance), "__ask__") and ask(cls, "made", instance)
        return is_own or super().__instancecheck__(instance)

    def __subclasscheck__(cls, other: Any) -> bool:
        lineage = getattr(other, "__lineage__", ()) if isinstance(other, type) else ()
        return ask(cls, "identity") in lineage or super().__subclasscheck__(other)

    def __getattr__(cls, name: str) -> Any:
        if any(name in one.__dict__ for one in cls.__mro__):  # inspect asks for the attributes of the metaclass
            raise AttributeError(f"type {cls.__name__} has no attribute {name}")
        handle = handle_of(cls)
        return instances.member_of(handle, type(handle).__ask__, name)

    def __setattr__(cls, name: str, value: Any) -> None:
        if is_special(name) or name.startswith("_abc_"):
            super().__setattr__(name, value)
        else:
            instances.require_name(name)
            ask(cls, "set", name, value)

    def __dir__(cls) -> list[str]:
        declared = {name for one in cls.__mro__ if isinstance(one, SimpleType) for name in one.__dict__}
        return sorted({"__class__", *ask(cls, "members"), *declared - HIDDEN})

    def __repr__(cls) -> str:
        return ask(cls, "representation")

    @property
    def __signature__(cls) -> inspect.Signature:
        parts = ask(cls, "signature")
        if parts is None:
            raise AttributeError("__signature__")
        return signature_of(*parts)

    def __getitem__(cls, item: Any) -> Any:
        return GenericAlias(cls, item)


HIDDEN = {"__simple__", "__lineage__", "__slots__", "__new__", "__dict__", "_abc_impl", "__abstractmethods__"}
HIDDEN |= {"__match_args__"}


class EnumType(SimpleType):
    """What Python's enums have. The members are the variants without values."""

    __module__ = "simple_torch"

    @property
    def __members__(cls) -> MappingProxyType[str, Any]:
        return MappingProxyType({name: one for name, has_values, _, one in ask(cls, "variants") if not has_values})

    def __iter__(cls) -> Iterator[Any]:
        return iter(cls.__members__.values())

    def __reversed__(cls) -> Iterator[Any]:
        return reversed(cls.__members__.values())

    def __len__(cls) -> int:
        return len(cls.__members__)

    def __bool__(cls) -> bool:
        return True

    def __getitem__(cls, name: str) -> Any:
        found = cls.__members__
        if name not in found:
            raise KeyError(name)
        return found[name]

    def __contains__(cls, value: Any) -> bool:
        return isinstance(value, cls)

    def __call__(cls, value: Any) -> Any:
        if isinstance(value, cls):
            return value
        for _, has_values, assigned, single in ask(cls, "variants"):
            if not has_values and assigned is not None and assigned == value:
                return single
        raise ValueError(f"{value!r} is not a valid {cls.__name__}")


def reduced(of: Any) -> tuple[Any, ...]:
    return handle_of(of).__reduce_ex__(2)


copyreg.pickle(SimpleType, reduced)  # type: ignore[arg-type]
copyreg.pickle(EnumType, reduced)  # type: ignore[arg-type]
