"""A disk with little space: a small tmpfs."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """Mounts a tmpfs of that size (64k, 2m) in a new folder; skips without the permission to mount."""
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("this process may not mount a tmpfs")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)
