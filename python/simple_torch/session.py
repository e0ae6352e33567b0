"""Simple code in cells that share their variables with a Python dict, such as the cells of a notebook."""

from __future__ import annotations

import threading
from collections.abc import Collection
from types import SimpleNamespace
from typing import Any

from simple_torch import simple
from simple_torch._core import share_names, stop_sharing_names
from simple_torch.copies import differs, snapshot

# Functions of Simple, which simple/python/sessions.spl defines: set at the start, also for a reloaded module.
_host: Any = globals().get("_host")

_ABSENT = object()


def connect(**functions: Any) -> None:
    """Set the functions by which this module operates on sessions; called by Simple."""
    global _host
    _host = SimpleNamespace(**functions)


class Session:
    """Simple code in cells with one namespace, which a Python dict shares by name in both directions.

    A variable that one language sets is visible to the other one. Tensors, NumPy arrays, functions, classes and objects
    are the same ones on both sides. Lists, dicts and sets of Simple are values: Python has a copy, and its changes of
    the copy are taken over when the next cell runs. A Python list that Simple received stays Python's.

    Names that a cell binds by `use` belong to the cells: they do not appear in the dict, and a Python variable of the
    same name does not replace them.

    Args:
        namespace: the dict; a new one if None.
        name: the name of the session in messages.
        hidden: names in the dict that the cells do not see. Names that start with "_" are always hidden, except "_".
    """

    def __init__(
        self, namespace: dict[str, Any] | None = None, *, name: str = "session", hidden: Collection[str] = ()
    ) -> None:
        simple.start()
        self.namespace: dict[str, Any] = {} if namespace is None else namespace
        self._hidden = hidden
        self._session = _host.new_session(name)
        self._seen: dict[str, Any] = {}  # what each name referred to when both sides were equal
        self._copies: dict[str, tuple[Any, Any]] = {}  # of the collections that Simple made
        self._mentions: list[str] = []
        self._synchronizing = threading.RLock()
        self._sharing = self._synchronize  # one object, by which close() ends the sharing
        share_names(self.namespace, self._sharing)

    def run(self, source: str, name: str = "cell") -> Any:
        """Run a cell and return the value of its last statement if that is an expression; otherwise None.

        Raises:
            SyntaxError: the cell cannot be compiled; the message shows each invalid line. Nothing has changed.
            RuntimeError: the cell failed; an exception from Python propagates unchanged. A note lists the Simple calls.
            SystemExit: the cell called exit().
            KeyboardInterrupt: SIGINT stopped it.
        """
        simple.require_text("source", source)
        simple.require_text("name", name)
        self._receive_all()
        try:
            return _host.run_cell(self._session, source, name)
        finally:
            self._mentions = _host.mentions(self._session)
            self._publish(all_of_them=True)

    def evaluate(self, expression: str) -> Any:
        """Evaluate an expression in the session's namespace."""
        return self.run(f"({expression}\n)", "expression")

    def names(self) -> list[str]:
        """Return the names that a cell can use: variables, functions, types, imported and built-in names."""
        self._receive_all()
        return sorted(set(_host.names(self._session)))

    def members(self, path: str) -> list[str]:
        """Return the members of the value that a dotted name refers to. Reads attributes and runs no other code."""
        self._receive_all()
        return sorted(set(_host.members(self._session, path.split("."))))

    def signature(self, path: str) -> list[Any] | None:
        """Return what a Simple function's source states of it, or None for other values.

        The list has the name, documentation, file, line, whether it is async, whether it is a generator, the type of
        the result, and the parameters.
        """
        self._receive_all()
        return _host.signature(self._session, path.split("."))

    def close(self) -> None:
        """End the sharing, which keeps the session alive. Functions of the cells remain usable."""
        stop_sharing_names(self._sharing)

    # ---- The two stores

    def _is_shared(self, name: Any) -> bool:
        return isinstance(name, str) and (name == "_" or not name.startswith("_")) and name not in self._hidden

    def _synchronize(self) -> None:
        """Copy the changes of both sides; where both changed a name, Simple's value remains."""
        with self._synchronizing:
            changed = self._publish(all_of_them=False)
            for name in self._mentions:
                if name not in changed:
                    self._receive(name)

    def _publish(self, all_of_them: bool) -> set[str]:
        """Copy what Simple changed to the dict. Returns the names."""
        with self._synchronizing:
            pairs = _host.changes(self._session, all_of_them, _ABSENT)
            names = pairs[::2]
            for name, value in zip(names, pairs[1::2], strict=True):
                self._seen.pop(name, None)
                self._copies.pop(name, None)
                if value is _ABSENT:
                    self.namespace.pop(name, None)
                    continue
                self.namespace[name] = self._seen[name] = value
                if isinstance(value, (list, dict, set)):
                    self._copies[name] = (value, snapshot(value))
            return set(names)

    def _receive_all(self) -> None:
        with self._synchronizing:
            for name in [*self.namespace, *self._seen]:
                self._receive(name)
            for name, (value, copied) in list(self._copies.items()):
                if self.namespace.get(name) is value and differs(value, copied):
                    self._copies[name] = (value, snapshot(value))
                    _host.define_plain(self._session, name, value)

    def _receive(self, name: Any) -> None:
        """Set Simple's variable if the dict's value is another one than before."""
        value = self.namespace.get(name, _ABSENT)
        if value is self._seen.get(name, _ABSENT) or not self._is_shared(name):
            return
        self._copies.pop(name, None)
        if value is _ABSENT:
            del self._seen[name]
            _host.remove(self._session, name)
        else:
            self._seen[name] = value
            _host.define(self._session, name, value)


__all__ = ["Session"]
