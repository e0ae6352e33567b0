"""Context managers around functions of the program."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager


def within(manager: AbstractContextManager, body: Callable[[object], object]) -> None:
    """Run the body in the context manager, which receives the body's exception and may suppress it.

    >>> from contextlib import suppress
    >>> within(suppress(ZeroDivisionError), lambda entered: 1 / 0)
    """
    with manager as entered:
        body(entered)


def leave(manager: AbstractContextManager, fail: Callable[[], object]) -> bool:
    """Pass the exception that `fail` raises to the manager, and return whether the manager suppresses it."""
    try:
        fail()
    except BaseException as error:
        return bool(type(manager).__exit__(manager, type(error), error, error.__traceback__))
    return False
