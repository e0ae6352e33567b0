"""Shutdown of a Python that was started inside another program."""

from __future__ import annotations

import gc
import io
import sys
import threading
from contextlib import suppress


def finish_threads() -> None:
    """Join all non-daemon threads after stopping executors, as Python's finalization does.

    Unlike there, the calling thread need not be the one that started Python. `threading` would then also wait for
    the starting thread, which never ends, and for the caller itself.
    """
    locks = getattr(threading, "_shutdown_locks", None)  # until Python 3.12
    main = threading.main_thread()
    if locks is not None and main.ident != threading.get_ident():
        locks.discard(main._tstate_lock)
        locks.discard(threading.current_thread()._tstate_lock)
    threading._shutdown()


def finish_files() -> None:
    """Flush the buffers of all files that are still open.

    Python's finalization does this by destroying all objects. Here objects stay, as tensors of the program may be
    part of them.
    """
    streams = (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)
    objects = gc.get_objects()
    layers = {type_: layer for type_ in {type(found) for found in objects} if (layer := _layer(type_)) is not None}
    files = [(layers[type(found)], found) for found in objects if type(found) in layers and found not in streams]
    for layer, file in sorted(files, key=lambda pair: pair[0]):
        with suppress(Exception):  # closed, or its disk is full or gone: nothing can report it
            file.close() if layer == _COMPRESSED else file.flush()  # close() writes the trailer


_TEXT, _COMPRESSED, _BUFFERED = range(3)  # each layer writes into the next
_COMPRESSORS = {"gzip": "GzipFile", "bz2": "BZ2File", "lzma": "LZMAFile", "zipfile": "ZipFile"}


def _layer(type_: type) -> int | None:
    """The position of a file type in the flush order; None for other types."""
    if issubclass(type_, io.TextIOWrapper):
        return _TEXT
    if issubclass(type_, (io.BufferedWriter, io.BufferedRandom)):
        return _BUFFERED
    loaded = [getattr(sys.modules[module], name) for module, name in _COMPRESSORS.items() if module in sys.modules]
    return _COMPRESSED if issubclass(type_, tuple(loaded)) else None
