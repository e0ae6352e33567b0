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
    WITHOUT_TORCH,
    Environment,
    complete_environments,
    environment,
)

# Measured on Debian 12, x86-64.
_ENVIRONMENT_GB = {"2.15": 5.5, "2.11": 6.0}
_TORCH_GB = 4.5
_PACKAGES_GB = 0.5
_BUILD_GB = 0.2


def set_up(torch: str | None, *, assume_yes: bool) -> None:
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
        if (missing or plan.packages) and not _agreed(missing, plan, machine, assume_yes):
            raise Refusal("nothing was installed")
        if plan.packages:
            with step("System packages"):
                system.install(plan.packages, is_root=machine.is_root)
        if missing:
            make(missing, plan.python)
        if wanted:
            WITHOUT_TORCH.unlink(missing_ok=True)
        else:
            WITHOUT_TORCH.touch()
        build(complete_environments() if wanted else [])


def _agreed(missing: Environment | None, plan: system.Plan, machine: system.Machine, assume_yes: bool) -> bool:
    for line in describe(missing, plan):
        say(line)
    if plan.packages and not machine.is_root:
        return True  # nothing will be installed: the line to type comes next
    return ask("Go on?", assume_yes=assume_yes)


def describe(missing: Environment | None, plan: system.Plan) -> list[str]:
    """What will be installed, where, and how large it is."""
    lines = ["Set-up will install:"]
    if plan.packages:
        lines.append(f"  system packages (up to {_PACKAGES_GB} GB): {' '.join(plan.packages)}")
    size = _BUILD_GB
    if missing:
        size += _ENVIRONMENT_GB[missing.torch]
        lines += [
            f"  Python packages ({_ENVIRONMENT_GB[missing.torch]} GB): torch {missing.torch} with its CUDA libraries"
            f" (about {_TORCH_GB} GB), torchvision,",
            f"    and what the examples and tests use; only into {missing.folder}",
            f"    on {plan.python}; nothing of your own Python is changed",
        ]
    lines.append(f"and build in build/release. On this disk: about {size:.1f} GB, {_free_gb():.0f} GB are free.")
    return lines


def _free_gb() -> float:
    return shutil.disk_usage(STATE.parent).free / 1e9


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
