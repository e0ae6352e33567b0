"""Output of the set-up and the commands it starts. Progress goes to stderr: stdout belongs to the program."""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path


class SetupError(Exception):
    """The set-up cannot continue; the message states why and what to do."""


def log(text: str = "") -> None:
    print(text, file=sys.stderr, flush=True)


@contextmanager
def step(title: str) -> Iterator[None]:
    """Prints the title of a step and, when it is done, its duration."""
    log(f"== {title}")
    start = time.monotonic()
    yield
    log(f"== {title}: done in {time.monotonic() - start:.0f} s")


def run(command: Sequence[str | Path], *, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> None:
    """Runs a command and passes its output through. Raises SetupError with the command line if it fails."""
    words = [str(word) for word in command]
    try:
        status = subprocess.run(words, cwd=cwd, env=env, stdout=sys.stderr, check=False).returncode
    except FileNotFoundError:
        raise SetupError(f"command not found: {words[0]}") from None
    if status != 0:
        raise SetupError(f"command failed with exit code {status}: {shlex.join(words)}")


def ask(question: str, *, assume_yes: bool) -> bool:
    """Asks on a terminal. Without a terminal, or with --yes, the answer is yes."""
    if assume_yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    print(f"{question} [Y/n] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("", "y", "yes")
