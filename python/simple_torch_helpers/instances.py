"""Objects of the Simple program in Python: attributes, calls and operators become requests to the program."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from types import FunctionType, MethodType
from typing import Any
from weakref import WeakValueDictionary, getweakrefcount, ref

from simple_torch_helpers import views
from simple_torch_helpers.asynchronous import result_of
from simple_torch_helpers.declared_types import ConstructorFits, Fit, Misfit, OutOfRange, type_of
from simple_torch_helpers.functions import constructor_fits

_known: WeakValueDictionary[int, Any] = WeakValueDictionary()
_kept: dict[int, Any] = {}  # by their ids
_classes: dict[str, type] = {}
types: dict[int, type] = {}  # of Simple's classes, structs, traits and enums, by their identities
_fields: dict[type, dict[str, Fit]] = {}
_operands: dict[tuple[type, str], tuple[Fit | None, bool]] = {}
_constructors: dict[int, tuple[ref[Any], ConstructorFits | None]] = {}  # by the id of the class


def forgetting(table: dict[int, Any], number: int) -> Callable[[Any], None]:
    """A callback of a weak reference. The bridge knows `forget`: it raises an interrupt after it."""

    def forget(_: Any) -> None:
        table.pop(number, None)

    return forget


def known(identity: int) -> Any:
    """The object of Python for one of Simple, while Python holds it; else None."""
    return _known.get(identity)


def add_class(instance: Any, key: str, name: str, hooks: list[str], lineage: list[int]) -> None:
    """Create the Python class of a Simple class.

    Args:
        instance: an object as the bridge created it.
        key: names the class.
        name: the class's name in Simple.
        hooks: Simple's methods whose names begin and end with two underscores, and what else decides about Python's
            protocols: len, iter, next, close, and the type of a value that is no object, such as "generator".
        lineage: the identities of Simple's class and of its parents.
    """
    is_type = bool(TYPES.intersection(hooks))
    if lineage and not is_type:
        _classes[key] = instance.__ask__("class")
        return
    base = type(instance).__base__
    namespace = {"__slots__": (), "__module__": "simple_torch", "__doc__": f"A {name} of the Simple program."}
    namespace |= {} if is_type else protocols_of(base.__ask__, set(hooks))  # type: ignore[attr-defined]
    _classes[key] = type(name, (base,), namespace)


def of_class(instance: Any, key: str, identity: int) -> Any:
    """Make `instance`, which the bridge created, an object of its class, and remember it. A class of Simple becomes a
    type."""
    of = _classes[key]
    if of.__dictoffset__ == 0:
        instance.__class__ = of
    else:
        instance = instance.__as_type__(of)
    if key in TYPES:
        from simple_torch_helpers.class_types import type_for  # which imports this module

        instance = type_for(instance)
    if identity != 0:
        _known[identity] = instance
    return instance


def method_of(function: FunctionType, instance: Any) -> Any:
    """The bound method."""
    return MethodType(function, instance)


def keep(instance: Any) -> None:
    """Keep what Python has released but refers to weakly, while Simple holds the object.

    Python's collector then looks for objects that Simple has released, too.
    """
    if not instance.__ask__("is_held"):
        return
    if release_unheld not in gc.callbacks:
        gc.callbacks.append(release_unheld)
    _kept[id(instance)] = instance


def release_unheld(phase: str, info: object) -> None:
    """A callback of the collector. The bridge raises an interrupt after it, as after forget()."""
    if phase == "start":
        for number, instance in list(_kept.items()):
            if not instance.__ask__("is_held"):
                del _kept[number]


def require_name(name: str) -> None:
    """Raise an AttributeError for a name that Simple's strings cannot hold."""
    if "\0" in name:
        raise AttributeError(f"{name!r} contains a NUL character, which no name in Simple has")


def member_of(instance: Any, ask: Callable[..., Any], name: str) -> Any:
    if name == "__dict__" and ask(instance, "has_attributes"):
        return views.view(instance, name)
    if name == "__signature__" and is_callable_object(instance, ask):
        from inspect import signature  # importing it takes long

        return signature(ask(instance, "get", "__call__"))
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(name)  # Python looks up its protocols on the type
    require_name(name)
    return ask(instance, "get", name)


def is_callable_object(instance: Any, ask: Callable[..., Any]) -> bool:
    """Whether the object has Simple's `__call__`. A class of Python that inherits shows the signature itself."""
    of = type(instance)
    return callable(instance) and not hasattr(of, "__virtuals__") and ask(instance, "has", "__call__")


def fields_of(instance: Any) -> dict[str, Fit]:
    """What converts the values that are assigned to the fields of an object, by their names."""
    of = type(instance)
    if of not in _fields:
        found = [(name, type_of(declared)) for name, declared in instance.__ask__("fields")]
        _fields[of] = {name: Fit(f"{of.__name__}.{name}", kind, []) for name, kind in found if kind is not None}
    return _fields[of]


def set_member(instance: Any, name: str, value: Any) -> None:
    require_name(name)
    fit = fields_of(instance).get(name)
    instance.__ask__("set", name, value if fit is None else fit(value))


def set_class(key: str, of: type) -> None:
    """Set the class of Python for the objects of a class of Simple."""
    _classes[key] = of


def instance_type(base: type) -> type:
    """Create the class of objects as the bridge creates them: a subclass of its type, whose `__ask__` sends a request.

    It has all protocols, because the bridge does not know the program's class. of_class() replaces it.
    """
    request = base.__ask__  # type: ignore[attr-defined]
    count, is_finalizing = getweakrefcount, sys.is_finalizing  # at exit, the names of this module are None

    class Instance(base):  # type: ignore[misc, valid-type]
        """An object of the Simple program."""

        __slots__ = ()
        __module__ = "simple_torch"
        __qualname__ = "Instance"

        def __getattr__(self, name: str) -> Any:
            return member_of(self, request, name)

        def __setattr__(self, name: str, value: Any) -> None:
            if name == "__class__":
                return object.__setattr__(self, name, value)
            return set_member(self, name, value)

        def __delattr__(self, name: str) -> None:
            require_name(name)
            request(self, "delete", name)

        def __dir__(self) -> list[str]:
            return sorted({*object.__dir__(self), *request(self, "members")})

        @property
        def __origin__(self) -> Any:  # help() describes it in place of an object that is no class
            if type(self).__name__ != "module":
                raise AttributeError("__origin__")
            from simple_torch_helpers.module_descriptions import description_of  # help() alone needs it

            return description_of(self)

        def __repr__(self) -> str:
            return request(self, "representation")

        def __bool__(self) -> bool:
            return not hasattr(type(self), "__len__") or len(self) != 0

        def __eq__(self, other: object) -> Any:
            if isinstance(other, base):
                return request(self, "same", other)
            found = request(self, "equals", other) if request(self, "has", "__eq__") else None
            return NotImplemented if found is None else found

        def __hash__(self) -> int:
            return hash(request(self, "hash"))

        def __del__(self) -> None:
            if count(self) > 1 and not is_finalizing():  # one is that of _known
                keep(self)

        def __copy__(self) -> Any:
            return request(self, "copy")

        def __deepcopy__(self, memo: dict[int, Any]) -> Any:
            return request(self, "deepcopy", memo)

        def __getstate__(self) -> list[Any]:
            return request(self, "state")

        def __setstate__(self, state: list[Any]) -> None:
            request(self, "restore", state)

        def __reduce_ex__(self, protocol: Any) -> Any:
            from simple_torch.simple import reduced  # a Simple program does not need it earlier

            request(self, "serve")
            return reduced(self)

    any_class = {"__slots__": (), "__module__": "simple_torch", "__doc__": Instance.__doc__}
    any_class |= {"__bool__": lambda self: True}
    return type("Instance", (Instance,), any_class | protocols_of(request, ALL_PROTOCOLS, has_declarations=False))


def protocols_of(ask: Callable[..., Any], hooks: set[str], *, has_declarations: bool = True) -> dict[str, Any]:
    """Python's special methods of a class that has these methods of Simple.

    Args:
        has_declarations: `ask` knows the declared types of operands. Programs in C need not.
    """
    found: dict[str, Any] = {}
    for hook in hooks:
        if hook in AWAITED:
            found[hook] = _awaited_hook(ask, hook)
        elif hook.startswith("__") and hook not in OWN_METHODS:
            found[PYTHON_NAMES.get(hook, hook)] = _hook(ask, hook)
    for name, question, needed in REQUESTS:
        if needed & hooks:
            found[name] = _request(ask, question)
    for symbol, (name, hook) in OPERATORS.items():
        if f"__{hook}__" in hooks:
            mirrored = MIRRORED.get(name, f"__r{name}__")
            method = f"__{hook}__" if has_declarations else ""
            found[f"__{name}__"] = _operator(ask, "operate", symbol, method, mirrored)
        if f"__r{hook}__" in hooks:
            method = f"__r{hook}__" if has_declarations else ""
            found[f"__r{name}__"] = _operator(ask, "reflected", symbol, method, "")
    if hooks & ITERABLE:
        found["__iter__"] = _iter(ask, is_iterator=bool(hooks & ITERATORS))
    if hooks & ITERATORS:
        found["__next__"] = _next(ask)
    if hooks & {"__enter__", "__exit__", "close"}:
        found |= {"__enter__": _request(ask, "enter"), "__exit__": _exit(ask)}
    if "generator" in hooks:
        found |= generator_methods(ask)
    if "future" in hooks:
        found |= {"__await__": _await(ask)} | coroutine_methods()
    return found


# Special methods of every object, or of Simple's own protocols.
OWN_METHODS = {
    *("__init__", "__new__", "__getattr__", "__setattr__", "__getattribute__", "__eq__"),
    *("__ne__", "__hash__", "__str__", "__repr__", "__enter__", "__exit__"),
    *("__iter__", "__next__", "__await__", "__call__", "__len__", "__getitem__"),
    *("__setitem__", "__contains__", "__bool__", "__copy__", "__deepcopy__", "__class__"),
    *("__del__", "__doc__", "__reduce__", "__reduce_ex__", "__init_subclass__", "__slots__"),
    *("__dict__", "__dir__", "__is__", "__drop__", "__unpack__", "__sequence__"),
    *("__native__", "__as_declared__", "__on_replace__", "__order__", "__python__", "__to_python__", "__member__"),
}
PROTOCOL_NAMES = {"__call__", "__len__", "len", "__getitem__", "__setitem__", "__contains__", "iter", "next", "close"}
AWAITED = {"__aenter__", "__aexit__", "__anext__"}
PYTHON_NAMES = {
    "__div__": "__truediv__",
    "__rdiv__": "__rtruediv__",
    "__idiv__": "__itruediv__",
}
TYPES = {"class", "struct", "enum", "trait"}
ITERATORS = {"__next__", "next", "generator", "iterator"}
ITERABLE = {"__iter__", "iter", *ITERATORS}
REQUESTS = [  # Python's method, the request that it becomes, and Simple's methods that it needs
    ("__call__", "call", {"__call__"}),
    ("__len__", "length", {"__len__", "len"}),
    ("__getitem__", "item", {"__getitem__"}),
    ("__setitem__", "put", {"__setitem__"}),
    ("__contains__", "contains", {"__contains__"}),
    ("__bool__", "truth", {"__bool__"}),
    ("__str__", "text", {"__str__"}),
]
OPERATORS = {  # symbol: (Python's name, Simple's name)
    "+": ("add", "add"),
    "-": ("sub", "sub"),
    "*": ("mul", "mul"),
    "/": ("truediv", "div"),
    "%": ("mod", "mod"),
    "//": ("floordiv", "floordiv"),
    "**": ("pow", "pow"),
    "@": ("matmul", "matmul"),
    "<": ("lt", "lt"),
    "<=": ("le", "le"),
    ">": ("gt", "gt"),
    ">=": ("ge", "ge"),
}
MIRRORED = {"lt": "__gt__", "le": "__ge__", "gt": "__lt__", "ge": "__le__"}  # of a comparison with swapped operands
ALL_PROTOCOLS = {
    *("__call__", "__len__", "__getitem__", "__setitem__", "__contains__", "__iter__", "__enter__"),
    *(f"__{hook}__" for _, hook in OPERATORS.values()),
    *(f"__r{hook}__" for _, hook in OPERATORS.values()),
}


def _request(ask: Any, question: str) -> Any:
    """Return a method that sends its arguments with the request."""

    def request(self: Any, /, *values: Any, **named: Any) -> Any:
        return ask(self, question, *values, **named)

    return request


def _hook(ask: Any, name: str) -> Any:
    """Return a method that calls Simple's method of that name."""

    def hook(self: Any, /, *values: Any, **named: Any) -> Any:
        return ask(self, "hook", name, *values, **named)

    hook.__name__ = hook.__qualname__ = name
    return hook


def _awaited_hook(ask: Any, name: str) -> Any:
    """Return a method that returns what Python awaits: the coroutine of Simple's async method."""

    def hook(self: Any, /, *values: Any) -> Any:
        return ask(self, "get", name)(*values)

    return hook


def _operator(ask: Any, question: str, symbol: str, method: str, mirrored: str) -> Any:
    """Return a binary operator, which leaves an operand that Simple's method does not accept to the operand's class.

    Args:
        method: Simple's method; "" if its declaration is not known.
        mirrored: the method of the operand's class that Python calls then; "" if it has called it.
    """

    def operate(self: Any, other: Any) -> Any:
        fit, is_record = _operand_of(self, ask, method)
        if fit is not None:
            try:
                other = fit.type.convert(other)
            except OutOfRange as misfit:
                raise fit.error(misfit) from None
            except Misfit:
                return NotImplemented
            if is_record and mirrored and not hasattr(type(other), "__ask__") and defines(type(other), mirrored):
                return NotImplemented
        return ask(self, question, symbol, other)

    return operate


def defines(of: type, method: str) -> bool:
    return getattr(of, method, None) is not getattr(object, method, None)


def _operand_of(instance: Any, ask: Any, method: str) -> tuple[Fit | None, bool]:
    """What converts the operand of an operator, and whether its type is a class or struct of Simple."""
    key = type(instance), method
    if key not in _operands:
        name, declared = (ask(instance, "operand", method) if method else None) or ("", None)
        of = type_of(declared)
        fit = None if of is None else Fit(f"{key[0].__name__}.{method}(): {name}", of, [])
        _operands[key] = fit, declared is not None and declared[0] == "record"
    return _operands[key]


def _iter(ask: Any, *, is_iterator: bool) -> Any:
    def iterate(self: Any) -> Iterator[Any]:
        step = ask(self, "steps")
        while found := step():
            yield found[0]

    return (lambda self: self) if is_iterator else iterate


def _next(ask: Any) -> Any:
    def following(self: Any) -> Any:
        found = ask(self, "next")
        if not found:
            raise StopIteration
        return found[0]

    return following


def generator_methods(ask: Any) -> dict[str, Any]:
    """The methods and the name of Python's generators."""

    def resume(self: Any, request: str, value: Any) -> Any:
        try:
            has_yielded, item = ask(self, request, value)
        except StopIteration as error:  # it would look like the end
            raise RuntimeError("generator raised StopIteration") from error
        if has_yielded:
            return item
        raise StopIteration(item)

    def throw(self: Any, kind: Any, value: Any = None, trace: Any = None) -> Any:
        return resume(self, "throw", _raises(exception_of(kind, value, trace)))

    def close(self: Any) -> Any:
        if sys.is_finalizing():
            return None  # the program has ended, with all its generators
        try:
            resume(self, "throw", _raises(GeneratorExit()))
        except StopIteration as end:
            return end.value if sys.version_info >= (3, 13) else None
        except GeneratorExit:
            return None
        raise RuntimeError("generator ignored GeneratorExit")

    return {
        "__next__": lambda self: resume(self, "send", None),
        "send": lambda self, value: resume(self, "send", value),
        "throw": throw,
        "close": close,
        "__name__": property(_request(ask, "function")),
    }


def exception_of(kind: Any, value: Any, trace: Any) -> BaseException:
    """The exception for the arguments of a generator's throw()."""
    if isinstance(kind, type) and issubclass(kind, BaseException):
        made = value if isinstance(value, kind) else kind() if value is None else kind(value)
    elif isinstance(kind, BaseException):
        made = kind
    else:
        raise TypeError(
            f"exceptions must be classes or instances deriving from BaseException, not {type(kind).__name__}"
        )
    return made if trace is None else made.with_traceback(trace)


def _raises(error: BaseException) -> Callable[[], None]:
    def raise_again() -> None:
        raise error

    return raise_again


def _exit(ask: Any) -> Any:
    def leave(self: Any, kind: object, error: BaseException | None, trace: object) -> bool:
        return ask(self, "exit") if error is None else ask(self, "exit", _raises(error))

    return leave


def _await(ask: Any) -> Any:
    def wait(self: Any) -> Iterator[Any]:
        return result_of(lambda: ask(self, "await")).__await__()

    return wait


_steps: dict[int, tuple[ref[Any], Iterator[Any]]] = {}  # of futures that a loop runs, by their ids


def coroutine_methods() -> dict[str, Any]:
    """The methods of coroutines, so that asyncio.run() and tasks accept a future."""

    def steps_of(self: Any) -> Any:
        known = _steps.get(id(self))
        if known is None or known[0]() is not self:
            number = id(self)
            known = (ref(self, forgetting(_steps, number)), self.__await__())
            _steps[number] = known
        return known[1]

    def close(self: Any) -> None:
        steps = _steps.pop(id(self), None)
        if steps is not None:
            steps[1].close()  # type: ignore[attr-defined]

    return {
        "send": lambda self, value: steps_of(self).send(value),
        "throw": lambda self, *error: steps_of(self).throw(*error),
        "close": close,
    }


def fits_of(of: Any, ask: Any) -> ConstructorFits | None:
    """What converts the arguments of the constructor of a class of Simple; None if nothing does."""
    known = _constructors.get(id(of))
    if known is not None and known[0]() is of:
        return known[1]
    parts = ask(of, "signature")
    fits = None if parts is None else constructor_fits(ask(of, "name"), *parts)
    number = id(of)
    _constructors[number] = (ref(of, forgetting(_constructors, number)), fits)
    return fits
