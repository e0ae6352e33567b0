"""Simple in a Python process: its source and files run here, and their functions and objects are Python's to call."""

from __future__ import annotations

import atexit
import copyreg
import ctypes
import os
import pickle
import sys
import threading
from typing import Any

from simple_torch._library import folder_of_library

_Writer = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t)
_starting = threading.Lock()
# Functions of Simple's, which it sets when it starts: once, also where this module is loaded again.
_run: Any = globals().get("_run")
_run_file: Any = globals().get("_run_file")
_home: Any = globals().get("_home")


def run(source: str, /, name: str = "source", **values: Any) -> Any:
    """Runs Simple source as a module of its own, and gives the module.

    What it defines are attributes: functions and classes can be called, values are Python's own where Python has such
    (tensors are the same torch.Tensor), other objects of Simple have their fields and methods as attributes.

    Args:
        source: the text of a module.
        name: what errors call it.
        values: what the source finds under these names: numbers, text, lists, tensors, functions, any object.

    Raises:
        SyntaxError: the source cannot be compiled; the message shows each line that is wrong.
        RuntimeError: it failed; an exception that came out of Python comes out as itself. A note has Simple's calls.
        SystemExit, KeyboardInterrupt: it called exit(), or Ctrl-C stopped it.
    """
    return _module(source, name, values)


def _module(source: str, name: str, values: dict[str, Any]) -> Any:
    _start()
    return _run(source, name, *(part for pair in values.items() for part in pair))


def run_file(path: str | os.PathLike[str]) -> Any:
    """Runs a .spl file, once in a process, and gives its module; as `run`.

    Raises:
        OSError: it cannot be read.
        SyntaxError: it cannot be compiled.
    """
    with open(path, "rb"):
        pass  # Python's own error where there is no such file
    _start()
    return _run_file(os.fspath(path))


def evaluate(expression: str, /, **values: Any) -> Any:
    """The value of a Simple expression, which finds `values` under their names."""
    return _module(f"val it = {expression}", "expression", values).it


def reduced(value: Any) -> tuple[Any, ...]:
    """How a module, function or class of Simple is pickled: as the file that it is of, and its name there.

    So worker processes get them, by whatever way they are started.

    Raises:
        pickle.PicklingError: no file of Simple that this process ran defines it: objects, lambdas, modules of text.
    """
    home = () if _home is None else _home(value)
    if not home:
        raise pickle.PicklingError(
            f"{value!r} cannot be pickled: of Simple's only modules of files can be, as run_file() gives them, and the "
            "functions and classes that they define"
        )
    return _found, tuple(home)


def _found(path: str, name: str | None = None) -> Any:
    module = run_file(path)
    return module if name is None else getattr(module, name)


def _start() -> None:
    with _starting:
        if _run_file is None:
            _open()


def _open() -> None:
    folder = folder_of_library()
    host = ctypes.CDLL(str(folder / "libsimple_host.so"))
    host.spl_embedded_start.restype = ctypes.c_char_p
    host.spl_embedded_start.argtypes = [ctypes.c_char_p, _Writer]
    begin = folder.parent / "share" / "simple" / "python" / "embedded.spl"
    problem = host.spl_embedded_start(os.fsencode(begin), _write)
    if problem is not None:
        raise ImportError(f"Simple does not start in this Python: {problem.decode(errors='replace')}")
    copyreg.pickle(type(_run), reduced)
    front = ctypes.CDLL(str(folder / "libspl_torch.so"))
    front.spt_py_on_interrupt(ctypes.cast(host.spl_embedded_interrupt, ctypes.c_void_p))
    atexit.register(_end, host, _write)


def _end(host: ctypes.CDLL, writer: Any) -> None:
    """At Python's end. Until then this keeps the writer, which the host calls, though this module be loaded again."""
    host.spl_embedded_end()


@_Writer
def _write(stream: int, text: Any, size: int) -> int:
    out = sys.stdout if stream == 1 else sys.stderr
    try:
        if out is not None:
            out.write(ctypes.string_at(text, size).decode(errors="replace"))
    except (OSError, ValueError):  # a closed pipe or stream, a character that it has no code for
        return 1
    return 0


__all__ = ["evaluate", "run", "run_file"]
