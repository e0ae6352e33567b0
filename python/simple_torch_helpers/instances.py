"""Objects of the Simple program in Python: attributes, calls and operators are questions to the program."""

from __future__ import annotations

from typing import Any


def instance_type(function: type) -> type:
    """The type of such objects, on the bridge's type of functions, whose call asks the program."""
    ask = function.__call__

    class Instance(function):  # type: ignore[misc, valid-type]
        """An object of the Simple program."""

        __slots__ = ()
        __module__ = "simple_torch"
        __qualname__ = "Instance"

        def __getattr__(self, name: str) -> Any:
            if name.startswith("__") and name.endswith("__"):
                raise AttributeError(name)  # Python's own protocols, which Python looks for in the type
            return ask(self, "get", name)

        def __setattr__(self, name: str, value: Any) -> None:
            ask(self, "set", name, value)

        def __call__(self, *values: Any, **named: Any) -> Any:
            return ask(self, "call", *values, **named)

        def __dir__(self) -> list[str]:
            return sorted({*object.__dir__(self), *ask(self, "members")})

        def __repr__(self) -> str:
            return ask(self, "text")

        def __len__(self) -> int:
            return ask(self, "length")

        def __getitem__(self, key: Any) -> Any:
            return ask(self, "item", key)

        def __setitem__(self, key: Any, value: Any) -> None:
            ask(self, "put", key, value)

        def __iter__(self) -> Any:
            return iter(ask(self, "items"))

        def __bool__(self) -> bool:
            return True

        def __eq__(self, other: object) -> Any:
            return ask(self, "operate", "==", other) if isinstance(other, function) else NotImplemented

        def __hash__(self) -> int:
            return ask(self, "hash")

    for symbol, name in OPERATORS.items():
        setattr(Instance, f"__{name}__", _asking(ask, symbol))
    return Instance


OPERATORS = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "truediv",
    "@": "matmul",
    "<": "lt",
    "<=": "le",
    ">": "gt",
    ">=": "ge",
}


def _asking(ask: Any, symbol: str) -> Any:
    def operate(self: Any, other: Any) -> Any:
        return ask(self, "operate", symbol, other)

    return operate
