"""Configures and builds with CMake."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from console import run, step
from layout import ROOT, Build, Environment

_BYTES_PER_COMPILER = 2 << 30  # a file that includes LibTorch's headers takes up to this


def build(tree: Build, environments: Sequence[Environment]) -> None:
    """Builds the host and the front, and a backend and a bridge for each environment."""
    pythons = ";".join(str(env.python) for env in environments)
    started = time.time()
    with step(f"Build ({tree.preset})"):
        tree.ready.unlink(missing_ok=True)
        run(["cmake", "--preset", tree.preset, "-Wno-dev", "--log-level=NOTICE", f"-DSIMPLE_TORCH_PYTHONS={pythons}"],
            cwd=ROOT)  # fmt: skip
        run(["cmake", "--build", tree.folder, "--parallel", str(jobs(os.cpu_count() or 1, _memory_bytes()))])
        # Dated at the start: what changed during the build is built next time.
        tree.ready.touch()
        os.utime(tree.ready, (started, started))


def jobs(cores: int, memory_bytes: int) -> int:
    """One compiler for each core, fewer where memory is short."""
    return max(1, min(cores, memory_bytes // _BYTES_PER_COMPILER))


def _memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
