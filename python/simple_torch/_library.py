"""Finds and loads the library in a Python process."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from simple_torch_command.installation import FREE_THREADED, choice_of_python, find_torch, is_free_threaded

_NAME = "libspl_torch.so"


def candidates() -> list[Path]:
    """Return the possible paths of the library: that of an installed package, an installation, or a build."""
    here = Path(__file__).parents[1]
    folders = [Path(__file__).parent / "lib", here.parents[1] / "lib", here.parent / "build" / "release" / "lib"]
    build = os.environ.get("SIMPLE_BUILD")
    return [folder / _NAME for folder in ([Path(build) / "lib"] if build else []) + folders]


def folder_of_library() -> Path:
    """Return the folder that contains the library.

    Raises:
        ImportError: the library was not found; the message states what to do.
    """
    found = next((path for path in candidates() if path.exists()), None)
    if found is None:
        searched = ", ".join(str(path) for path in candidates())
        raise ImportError(f"{_NAME} not found in ({searched}); build it: bin/simple build")
    return found.parent


def start() -> None:
    """Load the library and attach it to this Python.

    Raises:
        ImportError: the library was not found or does not support this Python; the message states what to do.
    """
    if is_free_threaded():
        raise ImportError(f"simple_torch: {FREE_THREADED}")
    library = ctypes.PyDLL(str(folder_of_library() / _NAME))
    library.spt_last_error_message.restype = ctypes.c_char_p
    with _running_python():
        if library.spt_py_start() != 0:
            raise ImportError(library.spt_last_error_message().decode())


@contextmanager
def _running_python() -> Iterator[None]:
    """Select this Python, whose torch the process uses, unless the user names another.

    An environment need not be active for that. Child processes do not inherit the choice.
    """
    chosen = choice_of_python(find_torch())
    os.environ.update(chosen)
    try:
        yield
    finally:
        for name in chosen:
            del os.environ[name]
