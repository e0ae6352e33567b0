"""Configures and builds with CMake."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
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

_BYTES_PER_JOB = 2 << 30  # peak memory of one compiler on a file with LibTorch's headers


@contextmanager
def host_build(tree: Build, *, wanted: bool) -> Iterator[None]:
    """Builds the host and the front, which need no torch, while the body installs it.

    The build after it does the same with a message for each fault, so this one prints nothing and may fail. It runs
    when nothing is built yet, and the compilers that have begun finish before the body's end.
    """
    if not wanted or tree.folder.exists():
        yield
        return
    commands = (_configure(tree, ""), _compile(tree, ["--target", RUNTIME_TARGET]))
    started = subprocess.Popen(
        ["nice", "sh", "-c", " && exec ".join(map(shlex.join, commands))],
        cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    try:
        yield
        with step(f"Build of the host ({tree.preset}), begun with the installation"):
            started.wait()
    finally:
        if started.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(started.pid, signal.SIGINT)
            started.wait()


def _configure(tree: Build, pythons: str) -> list[str]:
    return ["cmake", "--preset", tree.preset, "-Wno-dev", "--log-level=NOTICE", f"-DSIMPLE_TORCH_PYTHONS={pythons}"]


def _compile(tree: Build, targets: Sequence[str]) -> list[str]:
    parallel = str(jobs(os.cpu_count() or 1, memory_bytes()))
    return ["cmake", "--build", str(tree.folder), *targets, "--parallel", parallel]


def build(tree: Build, environments: Sequence[Environment], *, everything: bool) -> None:
    """Builds the host, the front, and a backend and a bridge for each environment; `everything` adds the tests."""
    pythons = ";".join(pythons_to_build_for(environments, os.environ))
    started = time.time()
    with step(f"Build ({tree.preset})"):
        tree.ready.unlink(missing_ok=True)
        run(_configure(tree, pythons), cwd=ROOT)
        run(_compile(tree, [] if everything else ["--target", RUNTIME_TARGET]))
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


def jobs(cores: int, memory: int) -> int:
    """One compiler, or one process of tests, for each core; fewer if the memory in bytes is short."""
    return max(1, min(cores, memory // _BYTES_PER_JOB))


def memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
