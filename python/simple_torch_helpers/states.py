"""States of Simple's modules in Python."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any


class SharedState(OrderedDict):
    """What `state_dict()` of a module of Simple's gives: the same tensors by name, in the module's order.

    It is an ordered dict, so that all that takes Python's states takes it: load_state_dict(), torch.save(). An entry
    that Python sets or takes out is changed in the program's own state, too, as hooks of states want it. Copies
    are apart from the program's, and pickles are plain ordered dicts.
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

    # Python's own go past __delitem__.
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
            return super().popitem()  # which tells it
        name = next(reversed(self) if last else iter(self))
        return name, self.pop(name)

    def __reduce__(self) -> tuple:
        return OrderedDict, (list(self.items()),)


def shared(entries: Iterable[tuple[str, Any]], put: Callable, remove: Callable) -> SharedState:
    """A state in Python; `put(name, value)` and `remove(name)` change the program's.

    >>> shared([("weight", 1)], print, print)["weight"]
    1
    """
    state = SharedState(entries)
    state._put, state._remove = put, remove
    return state
