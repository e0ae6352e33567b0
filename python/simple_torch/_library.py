"""Finds and starts the library in a process that is Python already."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

_NAME = "libspl_torch.so"


def candidates() -> list[Path]:
    """Where the library may lie: beside the folder that this file was installed to, or in a build of the sources."""
    here = Path(__file__).parents[1]
    folders = [here.parents[1] / "lib", here.parent / "build" / "release" / "lib"]
    build = os.environ.get("SIMPLE_BUILD")
    return [folder / _NAME for folder in ([Path(build) / "lib"] if build else []) + folders]


def folder_of_library() -> Path:
    """The folder that the library lies in.

    Raises:
        ImportError: it is nowhere; the message says what to do.
    """
    found = next((path for path in candidates() if path.exists()), None)
    if found is None:
        looked = ", ".join(str(path) for path in candidates())
        raise ImportError(f"{_NAME} was not found ({looked}); build it: bin/simple build")
    return found.parent


def start() -> None:
    """Opens the library and lets it attach to this Python.

    Raises:
        ImportError: it is nowhere, or refuses this Python; the message says why and what to do.
    """
    library = ctypes.PyDLL(str(folder_of_library() / _NAME))
    library.spt_last_error_message.restype = ctypes.c_char_p
    if library.spt_py_start() != 0:
        raise ImportError(library.spt_last_error_message().decode())
