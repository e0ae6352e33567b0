"""The end of a Python that was started inside another program."""

from __future__ import annotations

import gc
import io
import sys
import threading
from contextlib import suppress


def finish_threads() -> None:
    """Wait for all threads that are no daemons, after telling executors to end theirs, as Python's own end does.

    Unlike there, the thread that calls this need not be the one that started Python. `threading` would then
    wait for that one too, which waits for nothing but the end of the process, and for the caller itself.
    """
    locks = getattr(threading, "_shutdown_locks", None)  # until Python 3.12
    main = threading.main_thread()
    if locks is not None and main.ident != threading.get_ident():
        locks.discard(main._tstate_lock)
        locks.discard(threading.current_thread()._tstate_lock)
    threading._shutdown()


def finish_files() -> None:
    """Write out what files that are still open have in their buffers.

    Python's own end does so by ending all objects; here they stay, as tensors of the program may live on in them.
    """
    streams = (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)
    objects = gc.get_objects()
    layers = {type_: layer for type_ in {type(found) for found in objects} if (layer := _layer(type_)) is not None}
    files = [(layers[type(found)], found) for found in objects if type(found) in layers and found not in streams]
    for layer, file in sorted(files, key=lambda pair: pair[0]):
        with suppress(Exception):  # closed, or its place is full or gone: nobody is left to hear of it
            file.close() if layer == _COMPRESSED else file.flush()  # the former writes how it ends


_TEXT, _COMPRESSED, _BUFFERED = range(3)  # as the one writes into the next
_COMPRESSORS = {"gzip": "GzipFile", "bz2": "BZ2File", "lzma": "LZMAFile", "zipfile": "ZipFile"}


def _layer(type_: type) -> int | None:
    """Where files of the type come in the order of writing; None of what is no file."""
    if issubclass(type_, io.TextIOWrapper):
        return _TEXT
    if issubclass(type_, (io.BufferedWriter, io.BufferedRandom)):
        return _BUFFERED
    loaded = [getattr(sys.modules[module], name) for module, name in _COMPRESSORS.items() if module in sys.modules]
    return _COMPRESSED if issubclass(type_, tuple(loaded)) else None
