"""Exceptions as text, so that the bridge keeps no Python object of a failure."""

from __future__ import annotations

import sys
from traceback import TracebackException

CALLS = "  calls, innermost first:\n"  # as the host heads them


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


def note_calls(error: BaseException, note: str) -> None:
    """Notes which calls of Simple the exception came through; a later note keeps the head of an earlier one.

    Before Python 3.11 nothing prints notes; tools look for them in the same place.

    Args:
        note: the line that failed, then all calls so far, those of the earlier note among them.

    >>> error = ValueError("bad")
    >>> note_calls(error, "  inner line\\n" + CALLS + "    inner\\n")
    >>> note_calls(error, "  outer line\\n" + CALLS + "    inner\\n    outer\\n")
    >>> print(*error.__notes__, end="")
      inner line
      calls, innermost first:
        inner
        outer
    """
    notes = getattr(error, "__notes__", None)
    if not isinstance(notes, list):
        notes = error.__notes__ = []
    for i, earlier in enumerate(notes):
        if isinstance(earlier, str) and CALLS in earlier and CALLS in note:
            notes[i] = earlier[: earlier.index(CALLS)] + note[note.index(CALLS) :]
            return
    notes.append(note)
