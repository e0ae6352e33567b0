"""Prints Python's warnings in the host's format, on the same stream."""

from __future__ import annotations

import warnings


def formatted(message: object, category: type, filename: str, lineno: int, line: str | None = None) -> str:
    """Format a warning as one line, as the host does.

    >>> formatted("careful", UserWarning, "a.py", 3)
    'a.py:3: warning: careful (UserWarning)\\n'
    >>> formatted("careful", UserWarning, "sys", 1)
    'warning: careful (UserWarning)\\n'
    """
    location = "" if (filename, lineno) == ("sys", 1) else f"{filename}:{lineno}: "  # Python's location without a frame
    return f"{location}warning: {message} ({category.__name__})\n"


def install() -> None:
    """Install the format; Python's filters still decide which warnings are shown."""
    warnings.formatwarning = formatted
