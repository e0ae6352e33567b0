"""What the set-up says and how it starts other programs. Progress goes to stderr: stdout is the program's own."""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path


class Refusal(Exception):
    """The set-up cannot go on; the text says why and what to do."""


def say(text: str = "") -> None:
    print(text, file=sys.stderr, flush=True)


@contextmanager
def step(title: str) -> Iterator[None]:
    """Announces a step and how long it took."""
    say(f"== {title}")
    start = time.monotonic()
    yield
    say(f"== {title}: done in {time.monotonic() - start:.0f} s")


def run(command: Sequence[str | Path], *, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> None:
    """Runs a command with its output shown as it comes; a failure ends the set-up with the command's line."""
    words = [str(word) for word in command]
    try:
        status = subprocess.run(words, cwd=cwd, env=env, stdout=sys.stderr, check=False).returncode
    except FileNotFoundError:
        raise Refusal(f"not found: {words[0]}") from None
    if status != 0:
        raise Refusal(f"this failed (exit {status}): {shlex.join(words)}")


def ask(question: str, *, assume_yes: bool) -> bool:
    """Asks on a terminal; without one, or with --yes, the answer is yes."""
    if assume_yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    print(f"{question} [Y/n] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("", "y", "yes")
