"""Python's warnings in the form of the host's own, on the same stream."""

from __future__ import annotations

import warnings


def formatted(message: object, category: type, filename: str, lineno: int, line: str | None = None) -> str:
    """One line on standard error, as the host writes it.

    >>> formatted("careful", UserWarning, "a.py", 3)
    'a.py:3: warning: careful (UserWarning)\\n'
    >>> formatted("careful", UserWarning, "sys", 1)
    'warning: careful (UserWarning)\\n'
    """
    place = "" if (filename, lineno) == ("sys", 1) else f"{filename}:{lineno}: "  # Python's name for no frame at all
    return f"{place}warning: {message} ({category.__name__})\n"


def install() -> None:
    """What shows, and how often, stays with Python's filters."""
    warnings.formatwarning = formatted
