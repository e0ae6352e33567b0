"""Exceptions as text, so that the bridge keeps no Python object of a failure."""

from __future__ import annotations

import sys
from traceback import TracebackException


def format_exception(error: BaseException, max_frames: int = 40) -> str:
    """The exception as Python prints it, with causes, notes and groups, and without a line break at its end.

    Args:
        error: the exception that the bridge caught; no reference to it is kept.
        max_frames: innermost frames to show of each exception.

    >>> format_exception(ValueError("bad shape"))
    'ValueError: bad shape'
    """
    summary = TracebackException.from_exception(error, limit=-max_frames, compact=True)
    text = "".join(summary.format())
    if sys.version_info < (3, 11):  # which prints no notes
        text += "".join(f"{note}\n" for note in getattr(error, "__notes__", ()))
    return text.rstrip("\n")
