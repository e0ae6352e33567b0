"""Objects of the Simple program in Python: attributes, calls and operators become requests to the program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from simple_torch_helpers.asynchronous import result_of


def require_name(name: str) -> None:
    """Raise an AttributeError for a name that Simple's strings cannot hold."""
    if "\0" in name:
        raise AttributeError(f"{name!r} contains a NUL character, which no name in Simple has")


def instance_type(function: type) -> type:
    """Create the type of such objects: a subclass of the bridge's function type, whose call sends a request."""
    ask = function.__call__

    class Instance(function):  # type: ignore[misc, valid-type]
        """An object of the Simple program."""

        __slots__ = ()
        __module__ = "simple_torch"
        __qualname__ = "Instance"

        def __getattr__(self, name: str) -> Any:
            if name.startswith("__") and name.endswith("__"):
                raise AttributeError(name)  # Python looks up its protocols on the type
            require_name(name)
            return ask(self, "get", name)

        def __setattr__(self, name: str, value: Any) -> None:
            require_name(name)
            ask(self, "set", name, value)

        def __dir__(self) -> list[str]:
            return sorted({*object.__dir__(self), *ask(self, "members")})

        def __iter__(self) -> Iterator[Any]:
            step = ask(self, "steps")
            while found := step():
                yield found[0]

        def __await__(self) -> Iterator[Any]:
            return result_of(lambda: ask(self, "await")).__await__()

        def __bool__(self) -> bool:
            return ask(self, "truth") if ask(self, "has", "__bool__") else True

        def __eq__(self, other: object) -> Any:
            if isinstance(other, function):
                return ask(self, "same", other)
            found = ask(self, "equals", other) if ask(self, "has", "__eq__") else None
            return NotImplemented if found is None else found

        def __instancecheck__(self, instance: object) -> bool:
            return isinstance(instance, function) and ask(self, "made", instance)

        def __hash__(self) -> int:
            return hash(ask(self, "hash"))

        def __reduce_ex__(self, protocol: Any) -> Any:
            from simple_torch.simple import reduced  # a Simple program does not need it earlier

            return reduced(self)

        def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
            if error is None:
                return ask(self, "exit")

            def raise_again() -> None:
                raise error

            return ask(self, "exit", raise_again)

    for method, question in REQUESTS.items():
        setattr(Instance, method, _request(ask, question))
    for symbol, (name, hook) in OPERATORS.items():
        setattr(Instance, f"__{name}__", _operator(ask, "operate", symbol, f"__{hook}__"))
        if symbol not in COMPARISONS:  # Python reflects comparisons itself
            setattr(Instance, f"__r{name}__", _operator(ask, "reflected", symbol, f"__r{hook}__"))
    return Instance


REQUESTS = {  # Python's method: the request that it becomes
    "__call__": "call",
    "__repr__": "text",
    "__len__": "length",
    "__getitem__": "item",
    "__setitem__": "put",
    "__contains__": "contains",
    "__neg__": "negative",
    "__enter__": "enter",
}
OPERATORS = {  # symbol: (Python's name, Simple's name)
    "+": ("add", "add"),
    "-": ("sub", "sub"),
    "*": ("mul", "mul"),
    "/": ("truediv", "div"),
    "%": ("mod", "mod"),
    "**": ("pow", "pow"),
    "@": ("matmul", "matmul"),
    "<": ("lt", "lt"),
    "<=": ("le", "le"),
    ">": ("gt", "gt"),
    ">=": ("ge", "ge"),
}
COMPARISONS = ("<", "<=", ">", ">=")


def _request(ask: Any, question: str) -> Any:
    """Return a method that sends its arguments with the request."""

    def request(self: Any, /, *values: Any, **named: Any) -> Any:
        return ask(self, question, *values, **named)

    return request


def _operator(ask: Any, question: str, symbol: str, hook: str) -> Any:
    """Return NotImplemented when the Simple class lacks the method, so that Python tries the other operand."""

    def operate(self: Any, other: Any) -> Any:
        return ask(self, question, symbol, other) if ask(self, "has", hook) else NotImplemented

    return operate
