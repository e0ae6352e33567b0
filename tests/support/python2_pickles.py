"""Pickles in the format of Python 2: its str, which is bytes here, as BINSTRING and SHORT_BINSTRING."""

from __future__ import annotations

import io
import pickle
import struct
from typing import ClassVar


class Python2Pickler(pickle._Pickler):
    """Writes protocol 2. The C pickler's types cannot be changed, so this extends the one in Python."""

    dispatch: ClassVar = dict(pickle._Pickler.dispatch)

    def save_python2_str(self, content: bytes) -> None:
        head = b"U" + bytes([len(content)]) if len(content) < 256 else b"T" + struct.pack("<i", len(content))
        self.write(head + content)
        self.memoize(content)

    dispatch[bytes] = save_python2_str


def python2_pickle(value: object) -> bytes:
    """The value as Python 2's cPickle.dumps(value, 2) writes it, with bytes as its str."""
    stream = io.BytesIO()
    Python2Pickler(stream, protocol=2, fix_imports=True).dump(value)
    return stream.getvalue()
