"""Formats exceptions as strings, so that the bridge keeps no Python object of an error."""

from __future__ import annotations

import builtins
import sys
from traceback import TracebackException
from typing import Any

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


MOST_MEMBERS = 15  # of a group, as Python's traceback
DEEPEST = 10


def related(error: BaseException) -> list[str]:
    """Return the notes, the causes and the members of an exception as lines, without the notes of note_calls().

    >>> error = ValueError("bad")
    >>> error.__cause__ = KeyError("k")
    >>> related(error)
    ["caused by: KeyError: 'k'"]
    """
    lines: list[str] = []
    add_related(lines, error, "", {id(error)})
    return lines


def add_related(lines: list[str], error: BaseException, indent: str, seen: set[int]) -> None:
    notes = getattr(error, "__notes__", None)
    for note in notes if isinstance(notes, list) else ():
        if isinstance(note, str) and CALLS not in note:
            first, *more = note.splitlines() or [""]
            lines += [f"{indent}note: {first}", *(f"{indent}      {line}" for line in more)]
    members = getattr(error, "exceptions", None) if is_group(error) else None
    for number, member in enumerate(members[:MOST_MEMBERS] if members else (), 1):
        add_other(lines, f"{number} of {len(members)}", member, indent, seen)
    if members and len(members) > MOST_MEMBERS:
        lines.append(f"{indent}… {len(members) - MOST_MEMBERS} more")
    if error.__cause__ is not None:
        add_other(lines, "caused by", error.__cause__, indent, seen)
    elif error.__context__ is not None and not error.__suppress_context__:
        add_other(lines, "while handling", error.__context__, indent, seen)


def lines_of_cause(error: BaseException) -> list[str]:
    """Return the cause of an exception as lines, with what is related to it.

    >>> lines_of_cause(KeyError("k"))
    ["caused by: KeyError: 'k'"]
    """
    lines: list[str] = []
    add_other(lines, "caused by", error, "", set())
    return lines


def is_group(error: BaseException) -> bool:
    group = getattr(builtins, "BaseExceptionGroup", None)  # of Python 3.11
    return group is not None and isinstance(error, group)


def add_other(lines: list[str], label: str, error: BaseException, indent: str, seen: set[int]) -> None:
    """Add an exception with its place, and what is related to it, indented."""
    if id(error) in seen or len(indent) >= 2 * DEEPEST:
        return
    seen.add(id(error))
    summary = TracebackException.from_exception(error, limit=-1, compact=True)
    text = [line for part in summary.format_exception_only() for line in part.splitlines()]
    message = next((line for line in text if not line.startswith(" ")), type(error).__name__)
    place = summary.stack[-1] if summary.stack else None
    where = "" if place is None else f" ({place.name} ({place.filename}:{place.lineno}))"
    lines.append(f"{indent}{label}: {message}{where}")
    add_related(lines, error, indent + "  ", seen)


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


# ---- errors that no code can catch


def has_unraisable_hook() -> bool:
    """Whether code has replaced sys.unraisablehook, as pytest does."""
    return sys.unraisablehook is not sys.__unraisablehook__


def exception_of(name: str, message: str) -> BaseException:
    """Create an exception of the class with that full name; a RuntimeError if it needs more than a message."""
    module, _, of = name.rpartition(".")
    try:
        made = getattr(sys.modules[module], of)(message)
    except Exception:  # no such class, or one with other arguments
        return RuntimeError(message)
    return made if isinstance(made, BaseException) else RuntimeError(message)


def exception_from(name: str, arguments: tuple[Any, ...], cause: BaseException | None) -> BaseException:
    """Create an exception of the class with that full name, which `raise … from cause` raised.

    >>> exception_from("builtins.KeyError", ("k", 1), None)
    KeyError('k', 1)
    """
    module, _, of = name.rpartition(".")
    try:
        made = getattr(sys.modules[module], of)(*arguments)
    except Exception:  # no such class, or one with other arguments
        made = RuntimeError(*arguments)
    if cause is not None:
        made.__cause__ = made.__context__ = cause
    return made


class Place:
    """Stands for the code of Simple in which an error was ignored."""

    def __init__(self, name: str, error: BaseException) -> None:
        self.name = name
        self.error = error

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def __call__(self) -> None:
        raise self.error


def report_unraisable(error: BaseException, place: str, note: str) -> None:
    """Call sys.unraisablehook, as for an error in Python's `__del__`."""
    note_calls(error, note)
    type("Ignored", (), {"__del__": Place(place, error), "__slots__": ()})()


def note_last(error: BaseException) -> None:
    """Set what Python sets for an exception that it prints; pdb.pm() reads it."""
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    if sys.version_info >= (3, 12):
        sys.last_exc = error
