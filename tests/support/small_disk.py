"""A disk that is soon full: a tmpfs of a few bytes."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """Mounts one of that size (as mount has it: 64k, 2m) in a new folder; skips where this process may not."""
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("this process may not mount a tmpfs")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)
