"""Runs bin/simple as a user would, from the root of the repository."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Run:
    """The output and the exit code of one run of bin/simple."""

    code: int
    out: str
    err: str


@pytest.fixture
def simple():
    """A function that runs `bin/simple ARGS…`; the keyword `env` adds environment variables."""

    def run(*arguments: str | Path, env: dict[str, str] | None = None, timeout_s: float = 300) -> Run:
        done = subprocess.run(
            [str(ROOT / "bin" / "simple"), *map(str, arguments)],
            cwd=ROOT,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            timeout=timeout_s,
            stdin=subprocess.DEVNULL,
        )
        return Run(done.returncode, done.stdout, done.stderr)

    return run
