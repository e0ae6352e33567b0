"""The paths of the project, and the versions of torch and Python that it supports."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STATE = ROOT / ".simple"  # everything that set-up creates, except the build
TOOLS = STATE / "tools"
WITHOUT_TORCH = STATE / "without-torch"  # exists after `setup --torch none`, so that later builds need no torch
REQUIREMENTS = ROOT / "requirements"


def version_key(minor: str) -> tuple[int, ...]:
    """Orders "2.9" before "2.11"."""
    return tuple(map(int, minor.split(".")))


_VERSIONS = json.loads((REQUIREMENTS / "versions.json").read_text())
MIN_PYTHON = version_key(_VERSIONS["setup_python"])  # torch's wheels and numpy require it
DEFAULT_TORCH: str = _VERSIONS["default_torch"]
SUPPORTED_TORCH = sorted(_VERSIONS["torch"], key=version_key)
SUPPORTED_PYTHON = sorted(_VERSIONS["python"], key=version_key)
TORCH_SIZES: dict[str, dict[str, float]] = _VERSIONS["torch"]  # measured on Debian 12, x86-64
# Those that set-up can install, the default one first.
TORCH_VERSIONS = tuple(
    sorted(
        (minor for minor in SUPPORTED_TORCH if (REQUIREMENTS / f"torch-{minor}.lock").exists()),
        key=lambda minor: (minor != DEFAULT_TORCH, [-part for part in version_key(minor)]),
    )
)
# Those for which a wheel can have a backend. Of those that set-up does not install, the build installs torch alone.
WHEEL_VERSIONS = tuple(
    minor for minor in SUPPORTED_TORCH if minor in TORCH_VERSIONS or (REQUIREMENTS / f"backend-{minor}.lock").exists()
)
NO_TORCH = "none"
# Those for which tests/packages has a lock file.
PACKAGES_VERSIONS = tuple(minor for minor in TORCH_VERSIONS if (REQUIREMENTS / f"packages-{minor}.lock").exists())
# Those for which bin/simple notebook has one.
NOTEBOOK_VERSIONS = tuple(minor for minor in TORCH_VERSIONS if (REQUIREMENTS / f"notebook-{minor}.lock").exists())


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
        """A stamp: if it is newer than every file that bin/simple compares, nothing has to be built."""
        return self.folder / "ready"


PRESETS = ("release", "dev", "debug", "asan", "tsan")
SANITIZED = ("asan", "tsan")


@dataclass(frozen=True)
class Environment:
    """A private virtual environment with one torch."""

    torch: str
    folder: Path
    locks: tuple[Path, ...]
    content: str = "the packages of the tests"
    size: str = "environment_gb"  # its key in versions.json

    @property
    def size_gb(self) -> float:
        return TORCH_SIZES[self.torch][self.size]

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def stamp(self) -> Path:
        return self.folder / "simple-locks"

    def fingerprint(self) -> str:
        """A digest of the lock files, written to the stamp when they are installed."""
        return hashlib.sha256(b"".join(lock.read_bytes() for lock in self.locks)).hexdigest()

    def complete(self) -> bool:
        return self.python.exists() and self.stamp.is_file() and self.stamp.read_text() == self.fingerprint()


def environment(torch: str, *, state: Path = STATE, requirements: Path = REQUIREMENTS) -> Environment:
    """The environment that programs use: that of the tests, which has more packages, if it is complete."""
    tested = full_environment(torch, state=state, requirements=requirements)
    return tested if tested.complete() else runtime_environment(torch, state=state, requirements=requirements)


def runtime_environment(torch: str, *, state: Path = STATE, requirements: Path = REQUIREMENTS) -> Environment:
    """What programs need. The first run installs it."""
    locks = (requirements / f"runtime-{torch}.lock", requirements / "models.lock")
    content = "NumPy, Pillow, scikit-image and the weights of the examples"
    return Environment(torch, state / f"runtime-{torch}", locks, content, "runtime_gb")


def full_environment(torch: str, *, state: Path = STATE, requirements: Path = REQUIREMENTS) -> Environment:
    """What the tests, the benchmarks and all examples need."""
    names = (f"torch-{torch}.lock", "models.lock", f"deployment-{torch}.lock")
    return Environment(torch, state / f"torch-{torch}", tuple(requirements / name for name in names))


def packages_environment(torch: str, *, state: Path = STATE, requirements: Path = REQUIREMENTS) -> Environment:
    """The environment of tests/packages, with the same torch. Programs of users do not use it."""
    # transformers imports torchao where it is installed, which takes seconds: programs of users do without.
    names = (f"packages-{torch}.lock", "models.lock", f"quantization-{torch}.lock")
    locks = tuple(requirements / name for name in names)
    return Environment(torch, state / f"packages-{torch}", locks, "the packages of tests/packages", "packages_gb")


def notebook_environment(torch: str, *, state: Path = STATE, requirements: Path = REQUIREMENTS) -> Environment:
    """The environment of bin/simple notebook: that of programs, and JupyterLab with what its tests need."""
    names = (f"torch-{torch}.lock", "models.lock", f"notebook-{torch}.lock")
    locks = tuple(requirements / name for name in names)
    return Environment(torch, state / f"notebook-{torch}", locks, "JupyterLab and what notebooks use", "notebook_gb")


def complete_environments() -> list[Environment]:
    """The complete environments, the default first: programs use the first."""
    return [env for env in map(environment, TORCH_VERSIONS) if env.complete()]
