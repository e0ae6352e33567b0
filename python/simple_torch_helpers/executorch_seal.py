"""A digest at the end of a `.pte` file, by which damage is found before ExecuTorch's runtime reads the file.

The runtime reads only the offsets that the file's header names, so that it ignores what follows. XNNPACK verifies few
of its own settings: a damaged file without a digest may end the process.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

MARK = b"SHA-256:"
SIZE = len(MARK) + hashlib.sha256().digest_size


def write(program, path: str) -> None:
    """Write an ExecutorchProgramManager to a file, followed by its digest."""
    with Path(path).open("w+b") as file:
        program.write_to_file(file)
        file.seek(0)
        digest = hashlib.file_digest(file, "sha256").digest()
        file.seek(0, os.SEEK_END)
        file.write(MARK + digest)


def state(path: str) -> str:
    """Return "intact" or "damaged", or "unknown" for a file without a digest."""
    content = Path(path).read_bytes()
    body, seal = content[:-SIZE], content[-SIZE:]
    if not seal.startswith(MARK) or len(seal) < SIZE:
        return "unknown"
    return "intact" if hashlib.sha256(body).digest() == seal[len(MARK) :] else "damaged"
