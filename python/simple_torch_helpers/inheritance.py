"""Classes of Python that inherit from classes of Simple.

Their objects are objects of Simple, which stores the fields and the attributes that Python adds. Simple's calls of a
method that the class of Python overrides or adds call Python's.
"""

from __future__ import annotations

import abc
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

from simple_torch_helpers import instances, subclasses, views

_bases: dict[int, type] = {}  # by the identity of the class of Simple
ALIASES = {"len": "__len__"}  # Python's names of methods of Simple
PROTOCOLS = {"__call__", "__len__", "__getitem__", "__setitem__", "__contains__"}  # which Simple has, too
KEYWORDS = {  # of Simple, but not of Python
    *("fn", "me", "val", "var", "let", "const", "static", "struct", "enum", "trait", "impl", "mixin", "extern", "use"),
    *("export", "mod", "pub", "type", "alias", "loop", "match", "case", "xor", "true", "false", "nil", "self", "super"),
    *("spawn", "defer", "unsafe", "move", "mut", "where"),
}
OF_SIMPLE = {"init", "new", "drop"}  # which Simple calls at the beginning and the end of an object


class SimpleMeta(abc.ABCMeta):
    """The metaclass: objects have no attributes of their own outside Simple.

    Other parents may add a dict to the objects. It stays empty, and `__dict__` is the view of Simple's attributes.
    """

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **keywords: Any) -> Any:
        namespace.setdefault("__slots__", ())
        if any(base.__dictoffset__ != 0 for base in bases):
            namespace.setdefault("__dict__", property(lambda self: views.view(self, "__dict__")))
        return super().__new__(mcs, name, bases, namespace, **keywords)


def base_for(parent: Any) -> type:
    """The class of Python that stands for a class of Simple among the parents of a class.

    Args:
        parent: the bridge's object of the class.

    Raises:
        TypeError: `parent` is a struct, an enum or a trait.
    """
    ask = type(parent).__ask__
    kind = type(parent).__name__
    if kind != "class":
        article = "an" if kind == "enum" else "a"
        shown = ask(parent, "representation")
        raise TypeError(f"a class of Python cannot inherit from {shown}, {article} {kind} of Simple")
    identity = ask(parent, "identity")
    if identity not in _bases:
        _bases[identity] = new_base(parent, ask)
    return _bases[identity]


def new_base(parent: Any, ask: Callable[..., Any]) -> type:
    virtuals = {name: kind for name, kind in ask(parent, "virtuals")}
    namespace: dict[str, Any] = {
        "__slots__": (),
        "__module__": "simple_torch",
        "__doc__": ask(parent, "documentation") or None,
    }
    namespace |= {"__lineage__": frozenset(ask(parent, "lineage")), "__virtuals__": virtuals, "__parent__": parent}
    namespace |= instances.protocols_of(ask, set(ask(parent, "hooks")))
    for name, kind in virtuals.items():
        method = base_property(ask, parent, name) if kind == "property" else base_method(ask, parent, name)
        namespace[ALIASES.get(name, name)] = namespace[name] = method
    for name, function, kind in ask(parent, "class_functions"):
        if name not in OF_SIMPLE and not name.startswith("__"):
            namespace[name] = subclasses.DECORATORS[kind](function)
    namespace |= {"__new__": new_object, "__init__": initializer(ask, parent), "__setattr__": set_attribute}

    def inherited(cls: Any, /, **keywords: Any) -> None:
        super(made, cls).__init_subclass__(**keywords)
        if "__record__" not in cls.__dict__:  # another parent of Simple may have done it
            register(cls)

    namespace |= {"__init_subclass__": classmethod(inherited), "__reduce_ex__": reduced}
    made: Any = SimpleMeta(ask(parent, "name"), (type(parent).__base__,), namespace)
    return made


def base_method(ask: Callable[..., Any], parent: Any, name: str) -> Callable[..., Any]:
    def method(self: Any, /, *values: Any, **named: Any) -> Any:
        return ask(self, "base", parent, name, *values, **named)

    method.__name__ = method.__qualname__ = name
    method.__signature__ = inspect.signature(ask(parent, "get", name))  # type: ignore[attr-defined]
    return method


def base_property(ask: Callable[..., Any], parent: Any, name: str) -> property:
    return property(lambda self: ask(self, "base", parent, name))


def initializer(ask: Callable[..., Any], parent: Any) -> Callable[..., None]:
    def __init__(self: Any, /, *values: Any, **named: Any) -> None:
        if fits := instances.fits_of(parent, ask):
            values, named = fits.converted(values, named)
        ask(self, "initialize", parent, *values, **named)

    return __init__


def new_object(cls: Any, /, *_: Any, **__: Any) -> Any:
    """Create the object of Simple. Its fields have their default values until `__init__` runs."""
    record = cls.__dict__.get("__record__")
    if record is None:
        raise TypeError(f"{cls.__name__} is a class of Simple: call it by its name in Simple's module")
    return record.__ask__("call")


def set_attribute(self: Any, name: str, value: Any) -> None:
    """Assign a field, or an attribute that Python adds. A property of the class comes first."""
    for base in type(self).__mro__:
        found = base.__dict__.get(name)
        if hasattr(type(found), "__set__"):
            return type(found).__set__(found, self, value)
    return instances.set_member(self, name, value)


def register(cls: Any) -> None:
    """Create the class of Simple for a new class of Python."""
    bases = bases_of(cls)
    cls.__lineage__ = frozenset().union(*(base.__lineage__ for base in bases))
    first, *others = (base.__parent__ for base in bases)
    key, derived = first.__ask__("derive", cls.__name__, methods_of(cls), *others)
    cls.__record__ = derived.__simple__
    instances.set_class(key, cls)


def stands_for_simples(of: type) -> bool:
    return of.__dict__.get("__parent__") is not None


def bases_of(cls: type) -> list[Any]:
    """The classes that stand for those of Simple, without parents of others, in the order of methods."""
    found: list[Any] = [one for one in cls.__mro__ if stands_for_simples(one)]
    return [one for at, one in enumerate(found) if not any(is_parent(one, other) for other in found[:at])]


def is_parent(one: Any, other: Any) -> bool:
    """Whether a class of Simple is a parent of another one."""
    return one.__parent__.__ask__("subclass", other.__parent__)


def methods_of(cls: type) -> list[tuple[str, str]]:
    """What the classes of Python override or add: names in Simple, and "method" or "property"."""
    defined: dict[str, Any] = {}
    virtuals: dict[str, str] = {}
    for one in reversed(classes_of(cls)):
        if stands_for_simples(one):  # its methods come before those of the classes after it
            own = one.__virtuals__  # type: ignore[attr-defined]
            virtuals |= own
            defined = {n: value for n, value in defined.items() if n not in own and n not in map(ALIASES.get, own)}
        else:
            defined |= one.__dict__
    overrides = [(n, kind) for n, kind in virtuals.items() if n in defined or ALIASES.get(n) in defined]
    return overrides + [(n, kind) for n, value in defined.items() if n not in virtuals and (kind := kind_of(n, value))]


def classes_of(cls: type) -> tuple[type, ...]:
    """The class and its parents, up to the last one that stands for a class of Simple."""
    end = max(at for at, one in enumerate(cls.__mro__) if stands_for_simples(one))
    return cls.__mro__[: end + 1]


def kind_of(name: str, value: Any) -> str:
    """The kind of a method that Python adds; "" for one that Simple does not see."""
    if (name.startswith("_") and name not in PROTOCOLS) or name in KEYWORDS | OF_SIMPLE or not name.isascii():
        return ""
    return "property" if isinstance(value, property) else "method" if isinstance(value, FunctionType) else ""


def call_override(receiver: Any, name: str, /, *values: Any, **named: Any) -> Any:
    """Call the method of Python that overrides one of Simple."""
    alias = ALIASES.get(name)
    if alias is not None and any(alias in one.__dict__ for one in overriding(receiver)):
        name = alias
    return getattr(receiver, name)(*values, **named)


def overriding(receiver: Any) -> list[type]:
    """The classes of Python that inherit from the ones of Simple."""
    return [one for one in classes_of(type(receiver)) if not stands_for_simples(one)]


def read_override(receiver: Any, name: str) -> Any:
    """Read the property of Python that overrides one of Simple."""
    return getattr(receiver, name)


def reduced(self: Any, protocol: Any) -> tuple[Any, ...]:
    """Reduce an object to its class in Python and its fields."""
    return blank_object, (type(self),), self.__getstate__()


def blank_object(cls: Any) -> Any:
    return new_object(cls)
