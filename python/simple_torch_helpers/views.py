"""Views of arrays, dicts and sets in the fields of Simple's objects: changes of a view change the field.

Arrays are values in Simple, so an attribute is a copy. A view reads and writes the field at each operation.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, MutableMapping, MutableSequence, MutableSet
from typing import Any

from simple_torch_helpers.declared_types import Fit, Misfit, converted, converted_key

_NO_KEY = object()


def view(owner: Any, name: str) -> ListView | DictView | SetView:
    """Return a live view of the array, dict or set in a field of an object of Simple.

    Raises:
        TypeError: the owner is no object of Simple, or the field has a value of another type.
        AttributeError: the object has no such field.
    """
    if not hasattr(type(owner), "__ask__"):
        raise TypeError(f"view(): owner must be an object of Simple, got {type(owner).__name__}")
    from simple_torch_helpers.instances import fields_of  # which imports this module

    kind = owner.__ask__("part", name, "kind")
    if kind not in VIEWS:
        raise TypeError(f"view(): {name} must be an array, a dict or a set, got {kind}")
    return VIEWS[kind](owner, name, fields_of(owner).get(name))


class View:
    """A field of an object of Simple. `fit` converts what is assigned to it; None without a declared type."""

    __slots__ = ("_fit", "_name", "_owner")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, owner: Any, name: str, fit: Fit | None) -> None:
        self._owner = owner
        self._name = name
        self._fit = fit

    def _ask(self, operation: str, *values: Any) -> Any:
        return self._owner.__ask__("part", self._name, operation, *values)

    def _replace(self, value: Any) -> None:
        self._ask("whole", value if self._fit is None else self._fit(value))

    def _fitted(self, value: Any, key: Any = _NO_KEY) -> Any:
        """The value of an item, converted to what the declared type of the field has inside."""
        if self._fit is None or not self._fit.type.parts:
            return value
        try:
            return converted(self._fit.type.parts[-1], value)
        except Misfit as misfit:
            if key is _NO_KEY:
                raise Fit(f"an item of {self._fit.place}", self._fit.type, []).error(misfit) from None
            raise self._fit.error(misfit.below(key)) from None

    def copy(self) -> Any:
        """Return the value of the field at this time."""
        return self._owner.__ask__("get", self._name)

    def __len__(self) -> int:
        return self._ask("length")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.copy()!r})"

    def __copy__(self) -> Any:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return view, (self._owner, self._name)


class ListView(View, MutableSequence):
    """An array as a list."""

    __slots__ = ()

    def _position(self, index: Any) -> int:
        number, length = operator.index(index), len(self)
        found = number + length if number < 0 else number
        if not 0 <= found < length:
            raise IndexError(f"list index {number} is out of range for length {length}")
        return found

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self.copy()[index]
        return self._ask("item", self._position(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            items = self.copy()
            items[index] = value
            self._replace(items)
        else:
            self._ask("put", self._position(index), self._fitted(value, index))

    def __delitem__(self, index: Any) -> None:
        if isinstance(index, slice):
            items = self.copy()
            del items[index]
            self._replace(items)
        else:
            self._ask("remove", self._position(index))

    def insert(self, index: Any, value: Any) -> None:
        """Insert a value before the index, as a list does."""
        number, length = operator.index(index), len(self)
        at = min(max(number + length if number < 0 else number, 0), length)
        self._ask("insert", at, self._fitted(value, at))

    def append(self, value: Any) -> None:
        """Add a value at the end."""
        self._ask("push", self._fitted(value))

    def extend(self, values: Iterable[Any]) -> None:
        """Add values at the end."""
        self._ask("extend", [self._fitted(value) for value in values])

    def __iadd__(self, values: Iterable[Any]) -> ListView:
        self.extend(values)
        return self

    def __add__(self, other: Iterable[Any]) -> list[Any]:
        return self.copy() + list(other)

    def __radd__(self, other: Iterable[Any]) -> list[Any]:
        return list(other) + self.copy()

    def clear(self) -> None:
        """Remove all items."""
        self._replace([])

    def sort(self, *, key: Any = None, reverse: bool = False) -> None:
        """Sort the items, as a list does."""
        self._replace(sorted(self.copy(), key=key, reverse=reverse))

    def reverse(self) -> None:
        """Reverse the order of the items."""
        self._replace(self.copy()[::-1])

    def __eq__(self, other: object) -> Any:
        return self.copy() == other if isinstance(other, (list, ListView)) else NotImplemented

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        import numpy  # type: ignore[import-not-found]

        return numpy.array(self.copy(), dtype=dtype)


class DictView(View, MutableMapping):
    """A dict as a dict."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        found = self._ask("found", key)
        if not found:
            raise KeyError(key)
        return found[0]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._ask("put", self._fitted_key(key), self._fitted(value, key))

    def _fitted_key(self, key: Any) -> Any:
        if self._fit is None or not self._fit.type.parts:
            return key
        try:
            return converted_key(self._fit.type.parts[0], key)
        except Misfit as misfit:
            raise self._fit.error(misfit) from None

    def __delitem__(self, key: Any) -> None:
        self[key]  # raises KeyError
        self._ask("remove", key)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.copy())

    def clear(self) -> None:
        """Remove all items."""
        self._replace({})


class SetView(View, MutableSet):
    """A set as a set."""

    __slots__ = ()

    def __contains__(self, value: object) -> bool:
        return value in self.copy()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.copy())

    def add(self, value: Any) -> None:
        """Add a value."""
        self._ask("add", self._fitted(value))

    def discard(self, value: Any) -> None:
        """Remove a value if it is there."""
        self._ask("discard", value)

    def clear(self) -> None:
        """Remove all values."""
        self._replace(set())

    @classmethod
    def _from_iterable(cls, values: Iterable[Any]) -> set[Any]:  # results of operators
        return set(values)


VIEWS = {"array": ListView, "dict": DictView, "Set": SetView}
