"""Formats exceptions as strings, so that the bridge keeps no Python object of an error."""

from __future__ import annotations

import sys
from traceback import TracebackException

SIMPLE_FILES: set[str] = set()  # the paths of files with functions that Python has received
CALLS = "  stack (most recent call first):\n"  # the host's heading


def format_exception(error: BaseException, max_frames: int = 40) -> str:
    """Format the exception as Python prints it, with causes, notes and groups, without a trailing newline.

    Args:
        error: the exception; no reference to it is kept.
        max_frames: the number of innermost frames to include per exception.

    >>> format_exception(ValueError("bad shape"))
    'ValueError: bad shape'
    """
    summary = TracebackException.from_exception(error, limit=-max_frames, compact=True)
    remove_simple_frames(summary)
    text = "".join(summary.format())
    if sys.version_info < (3, 11):  # prints no notes
        text += "".join(f"{note}\n" for note in getattr(error, "__notes__", ()))
    return text.rstrip("\n")


def remove_simple_frames(summary: TracebackException | None) -> None:
    """Remove the frames that stand for Simple functions: the host lists these calls itself."""
    if summary is None:
        return
    summary.stack[:] = [frame for frame in summary.stack if frame.filename not in SIMPLE_FILES]
    for other in (summary.__cause__, summary.__context__, *(getattr(summary, "exceptions", None) or ())):
        remove_simple_frames(other)


def note_calls(error: BaseException, note: str) -> None:
    """Add a note with the Simple calls that the exception passed through; it replaces the call list of an earlier note.

    Python before 3.11 does not print notes; tools read them from the same attribute.

    Args:
        note: the line that failed, then all calls so far, including those of the earlier note.

    >>> error = ValueError("bad")
    >>> note_calls(error, "  inner line\\n" + CALLS + "    inner\\n")
    >>> note_calls(error, "  outer line\\n" + CALLS + "    inner\\n    outer\\n")
    >>> print(*error.__notes__, end="")
      inner line
      stack (most recent call first):
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
