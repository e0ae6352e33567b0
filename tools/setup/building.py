"""Configures and builds with CMake."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from console import log, run, step
from layout import ROOT, SUPPORTED_TORCH, Build, Environment

_TORCH_AND_PYTHON = """
import importlib.metadata, sys
try: torch = importlib.metadata.version("torch")
except ImportError: sys.exit(1)
print(".".join(torch.split(".")[:2]), "%d.%d" % sys.version_info[:2])
"""

RUNTIME_TARGET = "simple_torch_runtime"  # what programs need; the rest is for tests

_BYTES_PER_COMPILER = 2 << 30  # peak memory of one compiler on a file with LibTorch's headers


def build(tree: Build, environments: Sequence[Environment], *, everything: bool) -> None:
    """Builds the host, the front, and a backend and a bridge for each environment; `everything` adds the tests."""
    pythons = ";".join(pythons_to_build_for(environments, os.environ))
    started = time.time()
    with step(f"Build ({tree.preset})"):
        tree.ready.unlink(missing_ok=True)
        run(["cmake", "--preset", tree.preset, "-Wno-dev", "--log-level=NOTICE", f"-DSIMPLE_TORCH_PYTHONS={pythons}"],
            cwd=ROOT)  # fmt: skip
        targets = [] if everything else ["--target", RUNTIME_TARGET]
        parallel = str(jobs(os.cpu_count() or 1, _memory_bytes()))
        run(["cmake", "--build", tree.folder, *targets, "--parallel", parallel])
        # The stamp has the time of the start: a file that changes during the build is built next time.
        tree.ready.touch()
        os.utime(tree.ready, (started, started))


def pythons_to_build_for(environments: Sequence[Environment], variables: Mapping[str, str]) -> list[str]:
    """The Pythons of the environments and, if PyTorch is used, the one that SIMPLE_PYTHON names.

    That one needs a bridge if it has the torch of an environment, and a backend too if it has another supported
    torch. Without a supported torch it is ignored, and programs that use it get an error with the reason.
    """
    pythons = [str(env.python) for env in environments]
    named = variables.get("SIMPLE_PYTHON", "")
    if not pythons or not named or any(Path(named).absolute() == Path(python).absolute() for python in pythons):
        return pythons
    torch, minor = _torch_and_python(named)
    if torch not in SUPPORTED_TORCH:
        fault = f"has torch {torch}" if torch else "does not run or has no torch"
        log(f"SIMPLE_PYTHON={named} is ignored: it {fault}; supported versions: {', '.join(SUPPORTED_TORCH)}")
        return pythons
    is_there = (torch, minor) in map(_torch_and_python, pythons)
    return pythons if is_there else [*pythons, named]


def _torch_and_python(python: str) -> tuple[str, str]:
    try:
        done = subprocess.run([python, "-I", "-c", _TORCH_AND_PYTHON], capture_output=True, text=True, check=False)
    except OSError:
        return "", ""
    torch, _, minor = done.stdout.strip().partition(" ")
    return torch, minor


def jobs(cores: int, memory_bytes: int) -> int:
    """One compiler for each core, fewer if memory is short."""
    return max(1, min(cores, memory_bytes // _BYTES_PER_COMPILER))


def _memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
