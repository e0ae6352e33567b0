"""Simple in a Python process: runs source and files, whose functions and objects Python can call."""

from __future__ import annotations

import atexit
import ctypes
import os
import pickle
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from simple_torch._core import note_change_address, writer_address
from simple_torch._library import folder_of_library

_starting = threading.Lock()
# Simple functions that the library sets at the start: once, also when this module is reloaded.
_run: Any = globals().get("_run")
_run_file: Any = globals().get("_run_file")
_home: Any = globals().get("_home")
_parts: Any = globals().get("_parts")
_blank: Any = globals().get("_blank")
_program: str = globals().get("_program", "")  # the file of a process that started as a Simple program
_PROGRAM_VARIABLE = "SIMPLE_TORCH_PROGRAM"  # its file, for the workers of multiprocessing


def run(source: str, /, name: str | None = None, **values: Any) -> Any:
    """Run Simple source as a new module and return the module.

    Its definitions are attributes. Functions and classes are callable. Values become Python values where Python has
    such a type; tensors are the same torch.Tensor. Other Simple objects have their fields and methods as attributes.

    Args:
        source: the source of a module.
        name: the name of the module in error messages, by which later modules import it: `use name`. It comes before
            files, and the last module of a name counts. A module without a name cannot be imported.
        values: variables of the source: numbers, strings, lists, tensors, functions, any object.

    Raises:
        SyntaxError: the source cannot be compiled; the message shows each invalid line.
        RuntimeError: the source failed; an exception from Python propagates unchanged. A note lists the Simple calls.
        SystemExit: the source called exit().
        KeyboardInterrupt: SIGINT stopped it.
    """
    return _module(source, "source" if name is None else name, values, importable=name is not None)


def _module(source: str, name: str, values: dict[str, Any], importable: bool = False) -> Any:
    require_text("source", source)
    require_text("name", name)
    start()
    return _run(source, name, importable, *(part for pair in values.items() for part in pair))


def require_text(name: str, value: object) -> None:
    """Raise a TypeError, ValueError or UnicodeEncodeError for a value that is no string of Simple."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, not {type(value).__name__}")
    if "\0" in value:
        raise ValueError(f"{name} contains a NUL character")
    value.encode()


def run_file(path: str | os.PathLike[str]) -> Any:
    """Run a .spl file, once per process, and return its module; see `run`.

    Raises:
        OSError: the file cannot be read.
        SyntaxError: the file cannot be compiled.
    """
    with open(path, "rb"):
        pass  # raises Python's error for a missing file
    if _run_file is None:
        start()
    return _run_file(os.fspath(path))


def evaluate(expression: str, /, **values: Any) -> Any:
    """Evaluate a Simple expression with the variables `values`."""
    return _module(f"val it = {expression}", "expression", values).it


def serve(program: str, run_file: Any, home: Any, parts: Any, blank: Any) -> None:
    """Set the functions of Simple by which its files are modules. `program`: the file of a Simple program, or "".

    In a Simple program that calls run(), the program's own functions remain.
    """
    global _run_file, _home, _parts, _blank, _program
    if _program and not program:
        return
    _run_file, _home, _parts, _blank, _program = run_file, home, parts, blank, program
    if program:
        os.environ[_PROGRAM_VARIABLE] = program


def of_program(name: str) -> Any:
    """Return a definition of the Simple program's own file. A worker process of multiprocessing runs the file first.

    Raises:
        AttributeError: there is no program, or it has no such name.
    """
    worker = None if _program else _worker()
    path = _program or ("" if worker is None else os.environ.get(_PROGRAM_VARIABLE, ""))
    if not path or name.startswith("__"):
        raise AttributeError(f"module 'simple_torch' has no attribute {name!r}")
    if worker is None:
        return getattr(run_file(path), name)
    with _importing_main(worker):
        return getattr(run_file(path), name)


def _worker() -> Any:
    """The current process of multiprocessing, if another one started it."""
    process = sys.modules.get("multiprocessing.process")
    if process is None:
        return None
    current = process.current_process()
    is_worker = process.parent_process() is not None or getattr(current, "_inheriting", False)
    return current if is_worker else None


@contextmanager
def _importing_main(worker: Any) -> Iterator[None]:
    """While the statements of the program's file run again, multiprocessing rejects new workers, as for __main__."""
    before = getattr(worker, "_inheriting", False)
    worker._inheriting = True
    try:
        yield
    finally:
        worker._inheriting = before


def reduced(value: Any) -> tuple[Any, ...]:
    """Reduce a Simple module or class to its file and its name there, so that worker processes can load it; an object
    to its class and fields, and an enum value to its enum, variant and fields.

    Raises:
        pickle.PicklingError: no Simple file that this process ran defines it, such as a module created from a string.
    """
    location = () if _home is None else _home(value)
    if location:
        return _load, tuple(location)
    found = None if _parts is None else _parts(value)
    if found is None or not _home(found[0]):
        raise pickle.PicklingError(
            f"cannot pickle {value!r}: only Simple modules of files, the functions and classes that they define, and "
            "objects of these classes can be pickled"
        )
    of, variant = found
    if variant is not None:
        return _variant, (of, *variant)
    return _blank_object, (of,), value.__getstate__()


def _blank_object(of: Any) -> Any:
    return _blank(of)


def _variant(of: Any, name: str, *fields: Any) -> Any:
    return getattr(of, name)(*fields) if fields else getattr(of, name)


def _load(path: str, name: str | None = None) -> Any:
    module = run_file(path)
    return module if name is None else getattr(module, name)


def start() -> None:
    """Start the host in this process, once."""
    with _starting:
        if _run is None:
            _open()


def _open() -> None:
    folder = folder_of_library()
    host = ctypes.CDLL(str(folder / "libsimple_host.so"))
    host.spl_embedded_start.restype = ctypes.c_char_p
    host.spl_embedded_start.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    program = folder.parent / "share" / "simple" / "python" / "embedded.spl"
    problem = host.spl_embedded_start(os.fsencode(program), writer_address)
    if problem is not None:
        raise ImportError(f"cannot start Simple in this Python: {problem.decode(errors='replace')}")
    front = ctypes.CDLL(str(folder / "libspl_torch.so"))
    front.spt_py_on_interrupt(ctypes.cast(host.spl_embedded_interrupt, ctypes.c_void_p))
    front.spt_py_on_signal(ctypes.cast(host.spl_embedded_signal, ctypes.c_void_p))
    host.spl_embedded_on_session_change(ctypes.c_void_p(note_change_address))
    atexit.register(host.spl_embedded_end)


__all__ = ["evaluate", "run", "run_file"]
