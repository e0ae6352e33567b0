"""bin/simple setup: installs and builds everything on a machine with git and python3."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import system
from building import build, host_build
from console import SetupError, ask, log, step
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
    full_environment,
    notebook_environment,
    packages_environment,
)

# Measured on Debian 12, x86-64.
_PACKAGES_GB = 0.5
_BUILD_GB = 0.2


def set_up(
    torch: str | None,
    tree: Build,
    *,
    assume_yes: bool,
    everything: bool = False,
    full: bool = False,
    packages: bool = False,
    notebooks: bool = False,
) -> None:
    """Installs what is missing for `torch` ("none": no Python packages; None: as last time), and builds.

    Each step does only what is missing, so that an interrupted set-up can be run again. `everything` builds the
    test programs too and installs the packages of the tests; `full` only installs these. `packages` also makes the
    environment of tests/packages, and `notebooks` that of notebooks.
    """
    with _one_at_a_time():
        if torch is None:
            torch = NO_TORCH if WITHOUT_TORCH.exists() else DEFAULT_TORCH
        choose = full_environment if everything or full else environment
        chosen = None if torch == NO_TORCH else choose(torch)
        machine = system.inspect_machine(for_tests=everything)
        plan = system.plan(machine, with_python=chosen is not None)
        wanted = [chosen] if chosen else []
        if packages:
            wanted.append(packages_environment(torch))
        if notebooks:
            wanted.append(notebook_environment(torch))
        missing = [env for env in wanted if not env.complete()]
        if missing or plan.packages:
            _announce(missing, plan, machine, assume_yes)
        if plan.packages:
            with step("System packages"):
                system.install(plan.packages, is_root=machine.is_root)
        with host_build(tree, wanted=bool(missing)):
            for env in missing:
                make(env, plan.python)
        if chosen:
            WITHOUT_TORCH.unlink(missing_ok=True)
        else:
            WITHOUT_TORCH.touch()
        build(tree, complete_environments() if chosen else [], everything=everything)


def _announce(missing: Sequence[Environment], plan: system.Plan, machine: system.Machine, assume_yes: bool) -> None:
    """Prints what will be installed and asks. Raises SetupError on "no", or if the disk is too small."""
    free = shutil.disk_usage(STATE).free / 1e9
    for line in describe(missing, plan, free):
        log(line)
    if free < needed_gb(missing):
        raise SetupError(f"not enough disk space: {needed_gb(missing):.1f} GB needed, {free:.1f} GB free")
    may_install = machine.is_root or not plan.packages  # otherwise install() prints the command to run
    if may_install and not ask("Continue?", assume_yes=assume_yes):
        raise SetupError("nothing was installed")


def needed_gb(missing: Sequence[Environment]) -> float:
    return _BUILD_GB + sum(env.size_gb for env in missing)


def describe(missing: Sequence[Environment], plan: system.Plan, free_gb: float) -> list[str]:
    """The lines that announce what will be installed, where, and its size."""
    lines = ["Set-up will install:"]
    if plan.packages:
        lines.append(f"  system packages (up to {_PACKAGES_GB} GB): {' '.join(plan.packages)}")
    for env in missing:
        torch_gb = TORCH_SIZES[env.torch]["torch_gb"]
        lines += [
            f"  Python packages ({env.size_gb} GB on disk, about half of it to download):",
            f"    torch {env.torch} with its CUDA libraries (about {torch_gb} GB), torchvision,",
            f"    and {env.content}; all in {env.folder}, based on {plan.python}",
        ]
    lines.append(
        f"  the build, in this folder; in total {needed_gb(missing):.1f} GB, free on this disk: {free_gb:.0f} GB"
    )
    return lines


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Serializes set-ups: a second one waits for the first, then finds everything done."""
    STATE.mkdir(exist_ok=True)
    with open(STATE / "lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log("waiting for another set-up or build of this project")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
