"""bin/simple setup: from a machine with git and python3 to a project that runs."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import system
from building import build
from console import Refusal, ask, say, step
from environments import make
from layout import (
    DEFAULT_TORCH,
    NO_TORCH,
    STATE,
    TORCH_SIZES,
    WITHOUT_TORCH,
    Build,
    Environment,
    complete_environments,
    environment,
)

# Measured on Debian 12, x86-64.
_DOWNLOAD_GB = 3.6
_PACKAGES_GB = 0.5
_BUILD_GB = 0.2


def set_up(torch: str | None, tree: Build, *, assume_yes: bool) -> None:
    """Installs what is missing for `torch` ("none": nothing of Python; None: as last time), and builds.

    Every step looks first and does only what is missing, so it can be interrupted and started again.
    """
    with _one_at_a_time():
        if torch is None:
            torch = NO_TORCH if WITHOUT_TORCH.exists() else DEFAULT_TORCH
        wanted = None if torch == NO_TORCH else environment(torch)
        machine = system.look_at_machine()
        plan = system.plan(machine, with_python=wanted is not None)
        missing = wanted if wanted and not wanted.complete() else None
        if missing or plan.packages:
            _announce(missing, plan, machine, assume_yes)
        if plan.packages:
            with step("System packages"):
                system.install(plan.packages, is_root=machine.is_root)
        if missing:
            make(missing, plan.python)
        if wanted:
            WITHOUT_TORCH.unlink(missing_ok=True)
        else:
            WITHOUT_TORCH.touch()
        build(tree, complete_environments() if wanted else [])


def _announce(missing: Environment | None, plan: system.Plan, machine: system.Machine, assume_yes: bool) -> None:
    """Says what will be installed and asks; refuses when the answer is no or the disk is too small."""
    free = shutil.disk_usage(STATE).free / 1e9
    for line in describe(missing, plan, free):
        say(line)
    if free < needed_gb(missing):
        raise Refusal(f"the disk has only {free:.1f} GB free")
    may_install = machine.is_root or not plan.packages  # otherwise comes the line to type, and the end
    if may_install and not ask("Go on?", assume_yes=assume_yes):
        raise Refusal("nothing was installed")


def needed_gb(missing: Environment | None) -> float:
    return _BUILD_GB + (TORCH_SIZES[missing.torch]["environment_gb"] if missing else 0)


def describe(missing: Environment | None, plan: system.Plan, free_gb: float) -> list[str]:
    """What will be installed, where, and how large it is."""
    lines = ["Set-up will install:"]
    if plan.packages:
        lines.append(f"  system packages (up to {_PACKAGES_GB} GB): {' '.join(plan.packages)}")
    if missing:
        lines += [
            f"  Python packages ({TORCH_SIZES[missing.torch]['environment_gb']} GB on disk, {_DOWNLOAD_GB} GB to download):",
            f"    torch {missing.torch} with its CUDA libraries (about {TORCH_SIZES[missing.torch]['torch_gb']} GB), torchvision,",
            f"    and what the examples and tests use; only into {missing.folder}, on {plan.python}",
        ]
    lines.append(f"and build in this folder; {needed_gb(missing):.1f} GB of the {free_gb:.0f} GB free on this disk.")
    return lines


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Two starts at once: the second waits for the first, then finds all done."""
    STATE.mkdir(exist_ok=True)
    with open(STATE / "lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another set-up or build of this project is running; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
