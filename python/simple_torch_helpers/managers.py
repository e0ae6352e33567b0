"""Context managers round functions of the program."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager


def within(manager: AbstractContextManager, body: Callable[[object], object]) -> None:
    """Run the body for what the manager gives; the manager hears of its exception, and may swallow it.

    >>> from contextlib import suppress
    >>> within(suppress(ZeroDivisionError), lambda entered: 1 / 0)
    """
    with manager as entered:
        body(entered)
