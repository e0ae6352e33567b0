"""The options of an optimizer of Simple as a dict, which reads and changes them in the optimizer itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn


def reject_changes(*methods: str) -> Callable[[type], type]:
    """Decorate a class: these methods raise a TypeError with the class's `rule`."""

    def rejected(self: Any, *_values: Any, **_named: Any) -> NoReturn:
        raise TypeError(self.rule)

    def decorated(of: type) -> type:
        for method in methods:
            setattr(of, method, rejected)
        return of

    return decorated


@reject_changes("__delitem__", "pop", "popitem", "clear")
class OptionGroup(dict):  # type: ignore[type-arg]
    """A group of parameters. Each read returns the optimizer's value, and each assignment changes it there."""

    rule = "options of an optimizer of Simple cannot be removed"

    def __init__(
        self,
        optimizer: str,
        index: int,
        group: Callable[[int], tuple[list[Any], dict[str, Any]] | None],
        set_option: Callable[[int, str, Any], None],
    ) -> None:
        super().__init__()
        self._optimizer, self._index, self._group, self._set_option = optimizer, index, group, set_option

    def _read(self) -> OptionGroup:
        """Take over the optimizer's values; a list of the same parameters stays the same list."""
        found = self._group(self._index)
        if found is not None:
            params, options = found
            known = dict.get(self, "params", ())
            if len(known) != len(params) or any(a is not b for a, b in zip(known, params, strict=True)):
                dict.__setitem__(self, "params", params)
            dict.update(self, options)
        return self

    def __setitem__(self, name: str, value: Any) -> None:
        if name == "params":
            raise TypeError("the parameters of an optimizer of Simple are added by add_param_group()")
        self._set_option(self._index, name, self._checked(name, value))

    def _checked(self, name: str, value: Any) -> Any:
        value = value.item() if type(value).__module__ == "numpy" and getattr(value, "shape", None) == () else value
        if not is_option(value):
            raise TypeError(
                f"the option {name!r} of {self._optimizer}, an optimizer of Simple, cannot be a value of type "
                f"{type(value).__name__}; expected None, a bool, a number, a str, a tensor, or a list or tuple of these"
            )
        return value

    def update(self, *others: Any, **named: Any) -> None:
        for name, value in dict(*others, **named).items():
            self[name] = value

    def __ior__(self, other: Any) -> OptionGroup:  # type: ignore[override, misc]
        self.update(other)
        return self

    def setdefault(self, name: str, value: Any = None) -> Any:
        if name not in self:
            self[name] = value
        return self[name]

    # Reading, also by dict(group) and {**group}, which use keys() because of __iter__.
    def __getitem__(self, name: str) -> Any:
        return dict.__getitem__(self._read(), name)

    def get(self, name: str, default: Any = None) -> Any:
        return dict.get(self._read(), name, default)

    def __contains__(self, name: object) -> bool:
        return dict.__contains__(self._read(), name)

    def __iter__(self) -> Iterator[str]:
        return dict.__iter__(self._read())

    def __len__(self) -> int:
        return dict.__len__(self._read())

    def __eq__(self, other: object) -> bool:
        return dict.__eq__(self._read(), other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return dict.__repr__(self._read())

    def keys(self) -> Any:
        return dict.keys(self._read())

    def values(self) -> Any:
        return dict.values(self._read())

    def items(self) -> Any:
        return dict.items(self._read())

    def copy(self) -> dict[str, Any]:
        return dict(self.items())

    def __reduce_ex__(self, protocol: Any) -> Any:
        return dict, (self.copy(),)


def is_option(value: Any) -> bool:
    """Whether an optimizer of Simple can hold the value."""
    if isinstance(value, list | tuple):
        return all(is_option(item) for item in value)
    return value is None or isinstance(value, bool | int | float | complex | str) or hasattr(value, "requires_grad")
