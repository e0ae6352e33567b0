"""Output of C and C++ code in the order in which it was written, between that of Python and Simple."""

from __future__ import annotations

import atexit
import codecs
import ctypes
import os
import select
import sys
import threading
from typing import Any

_CHUNK = 65536


class OrderedOutput:
    """Passes what is written to the file descriptors 1 and 2 to the notebook's streams.

    ipykernel does this with a thread that reads when it can, so that output of C++ may appear after what Python wrote
    later. Here each write and flush of a stream first reads what the descriptors have received.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._sources: list[_Source] = []

    def start(self) -> None:
        """Attach to sys.stdout and sys.stderr, if they are streams of ipykernel that watch their descriptors."""
        for descriptor, stream in ((1, sys.stdout), (2, sys.stderr)):
            if getattr(stream, "_should_watch", False):
                self._sources.append(_Source(descriptor, stream))
                self._wrap(stream)
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

    def drain(self) -> None:
        """Pass on all that has been written to the descriptors so far."""
        if os.getpid() != self._process:
            return  # a forked child shares the pipe with its parent, which reads it
        with self._lock:
            if self._sources:
                _flush_c_streams()
            for source in self._sources:
                source.read()

    def _wrap(self, stream: Any) -> None:
        write, flush = stream.write, stream.flush

        def ordered_write(text: str) -> Any:
            self.drain()
            return write(text)

        def ordered_flush() -> None:
            self.drain()
            flush()

        stream.write, stream.flush = ordered_write, ordered_flush

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
        self._descriptor = descriptor
        self._stream, self._write, self._flush = stream, stream.write, stream.flush
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._saved = os.dup(descriptor)
        self.read_end, write_end = os.pipe()
        os.set_blocking(self.read_end, False)
        os.dup2(write_end, descriptor)
        os.close(write_end)

    def read(self) -> None:
        while True:
            try:
                content = os.read(self.read_end, _CHUNK)
            except OSError:
                return  # empty
            if not content:
                return
            self._write(self._decoder.decode(content))
            os.write(self._stream.fileno(), content)  # and to the server's log, as ipykernel does

    def close(self) -> None:
        del self._stream.write, self._stream.flush
        os.dup2(self._saved, self._descriptor)
        os.close(self._saved)
        os.close(self.read_end)


_libc = ctypes.CDLL(None)


def _flush_c_streams() -> None:
    """Write what C's stdout buffers; stderr has no buffer."""
    _libc.fflush(ctypes.c_void_p.in_dll(_libc, "stdout"))
