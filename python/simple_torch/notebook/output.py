"""Output of C and C++ code in the order in which it was written, between that of Python and Simple."""

from __future__ import annotations

import atexit
import codecs
import ctypes
import os
import select
import sys
import threading
from collections.abc import Callable
from typing import Any

_CHUNK = 65536


class OrderedOutput:
    """Passes what is written to the file descriptors 1 and 2 to the notebook's streams.

    ipykernel does this with a thread that reads when it can, so that output of C++ may appear after what Python wrote
    later. Here each write and flush of a stream in a cell first reads what the descriptors have received.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._sources: list[_Source] = []
        self._depth = 0  # of cells that run cells

    def start(self) -> None:
        """Attach to sys.stdout and sys.stderr, if they are streams of ipykernel that watch their descriptors."""
        for descriptor, stream in ((1, sys.stdout), (2, sys.stderr)):
            if getattr(stream, "_should_watch", False):
                self._sources.append(_Source(descriptor, stream))
        if self._sources:
            atexit.register(self.stop)
            threading.Thread(target=self._read_while_idle, name="simple-notebook-output", daemon=True).start()

    def stop(self) -> None:
        """Detach. ipykernel's own threads then end as usual."""
        self.drain()
        with self._lock:
            sources, self._sources = self._sources, []
        for source in sources:
            source.close()
        atexit.unregister(self.stop)

    def begin_cell(self) -> None:
        """Order the output until the end of the cell.

        Only for that time, because IPython replaces and restores the write method of the streams in each cell, too.
        """
        self._depth += 1
        if self._depth == 1:
            for source in self._sources:
                source.wrap(self.drain)

    def end_cell(self) -> None:
        """Pass on what remains. The cell that made this object has not begun here."""
        self.drain()
        self._depth = max(0, self._depth - 1)
        if self._depth == 0:
            for source in self._sources:
                source.unwrap()

    def drain(self) -> None:
        """Pass on all that has been written to the descriptors so far."""
        if os.getpid() != self._process:
            return  # a forked child shares the pipe with its parent, which reads it
        with self._lock:
            if self._sources:
                _flush_c_streams()
            for source in self._sources:
                source.read()

    def _read_while_idle(self) -> None:
        """Read also while no Python code runs, so that a full pipe does not block native code."""
        while sources := self._sources:
            try:
                select.select([source.read_end for source in sources], [], [])
            except (OSError, ValueError):
                return  # stop() closed them
            with self._lock:
                for source in self._sources:
                    source.read()


class _Source:
    """A file descriptor that is redirected into a pipe, and the stream that receives its text."""

    def __init__(self, descriptor: int, stream: Any) -> None:
        self._descriptor, self._stream = descriptor, stream
        self._wrapped: tuple[Any, Any] | None = None  # the methods that a wrapper replaces
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._saved = os.dup(descriptor)
        self.read_end, write_end = os.pipe()
        os.set_blocking(self.read_end, False)
        os.dup2(write_end, descriptor)
        os.close(write_end)

    def wrap(self, before: Callable[[], None]) -> None:
        """Call `before` before each write and flush of the stream."""
        write, flush = self._wrapped = (self._stream.write, self._stream.flush)

        def ordered_write(text: str) -> Any:
            before()
            return write(text)

        def ordered_flush() -> None:
            before()
            flush()

        self._stream.write, self._stream.flush = ordered_write, ordered_flush

    def unwrap(self) -> None:
        if self._wrapped is not None:
            self._stream.write, self._stream.flush = self._wrapped
            self._wrapped = None

    def read(self) -> None:
        while True:
            try:
                content = os.read(self.read_end, _CHUNK)
            except OSError:
                return  # empty
            if not content:
                return
            write = self._wrapped[0] if self._wrapped else self._stream.write
            write(self._decoder.decode(content))
            os.write(self._stream.fileno(), content)  # and to the server's log, as ipykernel does

    def close(self) -> None:
        self.unwrap()
        os.dup2(self._saved, self._descriptor)
        os.close(self._saved)
        os.close(self.read_end)


_libc = ctypes.CDLL(None)


def _flush_c_streams() -> None:
    """Write what C's stdout buffers; stderr has no buffer."""
    _libc.fflush(ctypes.c_void_p.in_dll(_libc, "stdout"))
