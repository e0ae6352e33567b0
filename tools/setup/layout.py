"""Where everything of the project lies, and which versions of torch it supports."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STATE = ROOT / ".simple"  # everything that set-up makes besides the build
TOOLS = STATE / "tools"
WITHOUT_TORCH = STATE / "without-torch"  # there after `setup --torch none`, so that later builds ask for none
REQUIREMENTS = ROOT / "requirements"

MIN_PYTHON = (3, 11)  # torch 2.15 and numpy demand it
DEFAULT_TORCH = "2.15"
TORCH_VERSIONS = (DEFAULT_TORCH, "2.11")
NO_TORCH = "none"


@dataclass(frozen=True)
class Build:
    """A build tree, named by its CMake preset."""

    preset: str = "release"

    @property
    def folder(self) -> Path:
        return ROOT / "build" / self.preset

    @property
    def host(self) -> Path:
        return self.folder / "bin" / "simple-host"

    @property
    def lib(self) -> Path:
        return self.folder / "lib"

    @property
    def ready(self) -> Path:
        """Newer than all that bin/simple looks at: nothing to build."""
        return self.folder / "ready"


PRESETS = ("release", "debug", "asan", "tsan")


@dataclass(frozen=True)
class Environment:
    """A private virtual environment that holds one torch."""

    torch: str
    folder: Path
    locks: tuple[Path, ...]

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def stamp(self) -> Path:
        return self.folder / "simple-locks"

    def fingerprint(self) -> str:
        """Names what the lock files demand; kept in the stamp once it is installed."""
        return hashlib.sha256(b"".join(lock.read_bytes() for lock in self.locks)).hexdigest()

    def complete(self) -> bool:
        return self.python.exists() and self.stamp.is_file() and self.stamp.read_text() == self.fingerprint()


def environment(torch: str, *, state: Path = STATE, requirements: Path = REQUIREMENTS) -> Environment:
    locks = (requirements / f"torch-{torch}.lock", requirements / "models.lock")
    return Environment(torch, state / f"torch-{torch}", locks)


def complete_environments() -> list[Environment]:
    """The default one first: it becomes the one that programs use."""
    return [env for env in map(environment, TORCH_VERSIONS) if env.complete()]
