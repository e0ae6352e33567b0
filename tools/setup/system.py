"""What set-up needs from the system: looks at the machine, plans what to install, and installs it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from console import Refusal, run
from layout import MIN_PYTHON

MIN_CMAKE = (3, 25)

# Asked of each Python that might become the base of the environments.
_PYTHON_QUERY = """
import importlib.util, json, os, sys, sysconfig
library = sysconfig.get_config_var("LDLIBRARY") or ""
folders = [sysconfig.get_config_var("LIBDIR") or "", os.path.join(sys.base_prefix, "lib")]
print(json.dumps({
    "version": sys.version_info[:3],
    "executable": os.path.realpath(sys.executable),
    "headers": os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")),
    "venv": all(importlib.util.find_spec(name) for name in ("venv", "ensurepip")),
    "shared": ".so" in library and any(os.path.exists(os.path.join(f, library)) for f in folders),
}))
"""


@dataclass(frozen=True)
class Python:
    """One Python interpreter of the machine and what it can be used for."""

    path: str
    version: tuple[int, ...]
    headers: bool
    venv: bool
    shared: bool

    def lacks(self) -> list[str]:
        """What keeps it from being the base of an environment, in words; empty when nothing does."""
        wanted = ".".join(map(str, MIN_PYTHON))
        faults = [] if self.version[:2] >= MIN_PYTHON else [f"is older than {wanted}"]
        faults += [] if self.headers else ["has no headers (Python.h)"]
        faults += [] if self.venv else ["has no venv module with ensurepip"]
        faults += [] if self.shared else ["has no shared libpython"]
        return faults


@dataclass(frozen=True)
class Tool:
    """Something that building needs: its name, Debian's package for it, and how to see that it is there."""

    name: str
    package: str
    present: Callable[[], bool]


@dataclass(frozen=True)
class Machine:
    """Facts that planning stands on."""

    pythons: tuple[Python, ...]  # in order of preference; the system's own first
    missing: tuple[Tool, ...]
    has_apt: bool
    is_root: bool


@dataclass(frozen=True)
class Plan:
    """What to install with the system's package manager, and the Python to build on afterwards."""

    packages: tuple[str, ...]
    python: str | None  # None: no environment is wanted


_PYTHON_PACKAGES = ("python3-dev", "python3-venv")
SYSTEM_PYTHON = "/usr/bin/python3"


def plan(machine: Machine, *, with_python: bool) -> Plan:
    """Chooses the base Python and the packages that are missing; refuses when there is no way.

    A Python that already has all it needs wins; else the system's own is completed by packages.
    """
    packages = [tool.package for tool in machine.missing]
    python = next((candidate for candidate in machine.pythons if not candidate.lacks()), None)
    if python is None and with_python:
        python = next((p for p in machine.pythons if _completed_by_packages(p, machine.has_apt)), None)
        if python is None:
            raise Refusal(_no_python(machine.pythons))
        packages += _PYTHON_PACKAGES
    if packages and not machine.has_apt:
        names = ", ".join(tool.name for tool in machine.missing)
        raise Refusal(f"please install with this system's own package manager, then start again: {names}")
    return Plan(tuple(packages), python.path if python and with_python else None)


def _completed_by_packages(python: Python, has_apt: bool) -> bool:
    return has_apt and python.path == SYSTEM_PYTHON and python.version[:2] >= MIN_PYTHON


def _no_python(pythons: Sequence[Python]) -> str:
    wanted = ".".join(map(str, MIN_PYTHON))
    lines = [f"no Python here can be built on: wanted is Python >= {wanted} with headers, venv and a shared libpython"]
    lines += [f"  {p.path} ({'.'.join(map(str, p.version))}) {', '.join(p.lacks())}" for p in pythons]
    return "\n".join(lines)


def install_line(packages: Sequence[str]) -> str:
    """What to type where we may not install it ourselves."""
    return f"sudo apt-get update && sudo apt-get install -y {' '.join(packages)}"


def install(packages: Sequence[str], *, is_root: bool) -> None:
    if not is_root:
        raise Refusal(f"system packages are missing; type this, then start again:\n  {install_line(packages)}")
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    apt = ["apt-get", "-q", "-y", "-o", "Dpkg::Use-Pty=0", "-o", "DPkg::Lock::Timeout=600"]
    run(["dpkg", "--configure", "-a"], env=env)  # in case an earlier run was interrupted
    run([*apt, "update"], env=env)
    run([*apt, "install", "--no-install-recommends", *packages], env=env)


def look_at_machine() -> Machine:
    pythons = [found for path in _python_paths() if (found := ask_python(path))]
    return Machine(
        pythons=tuple(pythons),
        missing=tuple(tool for tool in _TOOLS if not tool.present()),
        has_apt=shutil.which("apt-get") is not None,
        is_root=os.geteuid() == 0,
    )


def _python_paths() -> list[str]:
    on_path = [shutil.which("python3"), sys.executable]
    return list(dict.fromkeys(path for path in (SYSTEM_PYTHON, *on_path) if path and os.path.exists(path)))


def ask_python(path: str) -> Python | None:
    """Looks at one interpreter; None when it does not answer. A shim is followed to what it starts."""
    command = [path, "-I", "-c", _PYTHON_QUERY]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None
    facts = json.loads(done.stdout)
    name = path if path == SYSTEM_PYTHON else facts["executable"]
    return Python(name, tuple(facts["version"]), facts["headers"], facts["venv"], facts["shared"])


def compiler() -> str | None:
    return os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")


def version_of(command: Sequence[str]) -> str | None:
    """The first number with dots that the command prints."""
    if not command or shutil.which(command[0]) is None:
        return None
    done = subprocess.run(list(command), capture_output=True, text=True, check=False)
    found = re.search(r"\d+(\.\d+)+", done.stdout + done.stderr)
    return found.group() if found else None


def cmake_is_new_enough(version: str | None) -> bool:
    return version is not None and tuple(map(int, version.split(".")[:2])) >= MIN_CMAKE


def _has_header(name: str) -> bool:
    roots = [Path("/usr/include"), Path("/usr/local/include"), *Path("/usr/include").glob("*-linux-gnu")]
    return any((root / name).exists() for root in roots)


# What a build needs besides Python.
_TOOLS = (
    Tool("a C++20 compiler", "g++", lambda: compiler() is not None),
    Tool("CMake >= 3.25", "cmake", lambda: cmake_is_new_enough(version_of(["cmake", "--version"]))),
    Tool("Ninja", "ninja-build", lambda: shutil.which("ninja") is not None),
    Tool("libffi's headers", "libffi-dev", lambda: _has_header("ffi.h")),
    Tool("the JSON library's headers", "nlohmann-json3-dev", lambda: _has_header("nlohmann/json.hpp")),
    Tool("libcurl's headers", "libcurl4-openssl-dev", lambda: _has_header("curl/curl.h")),
    Tool("libjpeg-turbo's headers", "libjpeg-dev", lambda: _has_header("jpeglib.h")),
    Tool("libpng's headers", "libpng-dev", lambda: _has_header("png.h")),
    Tool("libprotobuf's headers", "libprotobuf-dev", lambda: _has_header("google/protobuf/message_lite.h")),
    Tool("protobuf's compiler", "protobuf-compiler", lambda: shutil.which("protoc") is not None),
    Tool("zlib's headers", "zlib1g-dev", lambda: _has_header("zlib.h")),
    Tool("GoogleTest", "libgtest-dev", lambda: _has_header("gtest/gtest.h")),
    Tool("GoogleMock", "libgmock-dev", lambda: _has_header("gmock/gmock.h")),
)
