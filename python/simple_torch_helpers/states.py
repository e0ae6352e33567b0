"""State dicts of Simple modules in Python."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any


class SharedState(OrderedDict):
    """The `state_dict()` of a Simple module: the same tensors by name, in the module's order.

    An OrderedDict, which load_state_dict() and torch.save() accept. Setting or removing an entry also changes the
    program's state, as state dict hooks require. Copies are independent of the program's state; pickles are plain
    OrderedDicts.
    """

    _put: Callable | None = None
    _remove: Callable | None = None

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        if self._put is not None:
            self._put(name, value)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        if self._remove is not None:
            self._remove(name)

    # The inherited methods bypass __delitem__.
    def clear(self) -> None:
        for name in list(self):
            del self[name]

    def pop(self, name: str, *default: Any) -> Any:
        if default and name not in self:
            return default[0]
        value = self[name]
        del self[name]
        return value

    def popitem(self, last: bool = True) -> tuple[str, Any]:
        if not self:
            return super().popitem()  # raises KeyError
        name = next(reversed(self) if last else iter(self))
        return name, self.pop(name)

    def __reduce__(self) -> tuple:
        return OrderedDict, (list(self.items()),)


def shared(entries: Iterable[tuple[str, Any]], put: Callable, remove: Callable) -> SharedState:
    """Create a SharedState; `put(name, value)` and `remove(name)` change the program's state.

    >>> shared([("weight", 1)], print, print)["weight"]
    1
    """
    state = SharedState(entries)
    state._put, state._remove = put, remove
    return state
