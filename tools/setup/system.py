"""System packages: inspects the machine, plans what to install, and installs it."""

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

from console import SetupError, run
from layout import MIN_PYTHON

MIN_CMAKE = (3, 25)

# Runs in each Python that could become the base of the environments.
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
    """One Python interpreter of the machine and its features."""

    path: str
    version: tuple[int, ...]
    headers: bool
    venv: bool
    shared: bool

    def lacks(self) -> list[str]:
        """The reasons why it cannot be the base of an environment; empty if it can."""
        minimum = ".".join(map(str, MIN_PYTHON))
        faults = [] if self.version[:2] >= MIN_PYTHON else [f"is older than {minimum}"]
        faults += [] if self.headers else ["has no headers (Python.h)"]
        faults += [] if self.venv else ["has no venv module with ensurepip"]
        faults += [] if self.shared else ["has no shared libpython"]
        return faults


@dataclass(frozen=True)
class Tool:
    """A build dependency: its name, its Debian package, and a check that it is installed."""

    name: str
    package: str
    present: Callable[[], bool]


@dataclass(frozen=True)
class Machine:
    """The facts that the plan depends on."""

    pythons: tuple[Python, ...]  # in order of preference, the system's Python first
    missing: tuple[Tool, ...]
    has_apt: bool
    is_root: bool


@dataclass(frozen=True)
class Plan:
    """System packages to install, and the base Python of the environments."""

    packages: tuple[str, ...]
    python: str | None  # None: no environment is needed


_PYTHON_PACKAGES = ("python3-dev", "python3-venv")
SYSTEM_PYTHON = "/usr/bin/python3"


def plan(machine: Machine, *, with_python: bool) -> Plan:
    """Chooses the base Python and lists the missing packages. Raises SetupError if no Python can be used.

    A complete Python is preferred; otherwise packages complete the system's Python.
    """
    packages = [tool.package for tool in machine.missing]
    python = next((candidate for candidate in machine.pythons if not candidate.lacks()), None)
    if python is None and with_python:
        python = next((p for p in machine.pythons if _completed_by_packages(p, machine.has_apt)), None)
        if python is None:
            raise SetupError(_no_python(machine.pythons))
        packages += _PYTHON_PACKAGES
    if packages and not machine.has_apt:
        names = ", ".join(tool.name for tool in machine.missing)
        raise SetupError(f"install these with the system's package manager, then run this again: {names}")
    return Plan(tuple(packages), python.path if python and with_python else None)


def _completed_by_packages(python: Python, has_apt: bool) -> bool:
    return has_apt and python.path == SYSTEM_PYTHON and python.version[:2] >= MIN_PYTHON


def _no_python(pythons: Sequence[Python]) -> str:
    minimum = ".".join(map(str, MIN_PYTHON))
    lines = [f"no usable Python found: Python >= {minimum} with headers, venv and a shared libpython is required"]
    lines += [f"  {p.path} ({'.'.join(map(str, p.version))}) {', '.join(p.lacks())}" for p in pythons]
    return "\n".join(lines)


def install_line(packages: Sequence[str]) -> str:
    """The command for a user who has to install the packages by hand."""
    return f"sudo apt-get update && sudo apt-get install -y {' '.join(packages)}"


def install(packages: Sequence[str], *, is_root: bool) -> None:
    if not is_root:
        raise SetupError(f"system packages are missing; run this command, then try again:\n  {install_line(packages)}")
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    apt = ["apt-get", "-q", "-y", "-o", "Dpkg::Use-Pty=0", "-o", "DPkg::Lock::Timeout=600"]
    run(["dpkg", "--configure", "-a"], env=env)  # in case an earlier run was interrupted
    run([*apt, "update"], env=env)
    run([*apt, "install", "--no-install-recommends", *packages], env=env)


def inspect_machine(*, for_tests: bool = False) -> Machine:
    pythons = [found for path in _python_paths() if (found := ask_python(path))]
    return Machine(
        pythons=tuple(pythons),
        missing=tuple(tool for tool in (*_TOOLS, *(_TEST_TOOLS if for_tests else ())) if not tool.present()),
        has_apt=shutil.which("apt-get") is not None,
        is_root=os.geteuid() == 0,
    )


def _python_paths() -> list[str]:
    on_path = [shutil.which("python3"), sys.executable]
    return list(dict.fromkeys(path for path in (SYSTEM_PYTHON, *on_path) if path and os.path.exists(path)))


def ask_python(path: str) -> Python | None:
    """Queries one interpreter; None if it does not run. A shim is resolved to the interpreter that it starts."""
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
    """Returns the first dotted number that the command prints."""
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


# Build dependencies other than Python.
_TOOLS = (
    Tool("a C++20 compiler", "g++", lambda: compiler() is not None),
    Tool("CMake >= 3.25", "cmake", lambda: cmake_is_new_enough(version_of(["cmake", "--version"]))),
    Tool("Ninja", "ninja-build", lambda: shutil.which("ninja") is not None),
    Tool("libffi's headers", "libffi-dev", lambda: _has_header("ffi.h")),
    Tool("the JSON library's headers", "nlohmann-json3-dev", lambda: _has_header("nlohmann/json.hpp")),
    Tool("RapidJSON's headers", "rapidjson-dev", lambda: _has_header("rapidjson/reader.h")),
    Tool("libcurl's headers", "libcurl4-openssl-dev", lambda: _has_header("curl/curl.h")),
    Tool("libjpeg-turbo's headers", "libjpeg-dev", lambda: _has_header("jpeglib.h")),
    Tool("libpng's headers", "libpng-dev", lambda: _has_header("png.h")),
    Tool("libprotobuf's headers", "libprotobuf-dev", lambda: _has_header("google/protobuf/message_lite.h")),
    Tool("protobuf's compiler", "protobuf-compiler", lambda: shutil.which("protoc") is not None),
    Tool("PCRE2's headers", "libpcre2-dev", lambda: _has_header("pcre2.h")),
    Tool("utf8proc", "libutf8proc-dev", lambda: _has_header("utf8proc.h")),
    Tool("OpenSSL's headers", "libssl-dev", lambda: _has_header("openssl/evp.h")),
    Tool("SQLite's headers", "libsqlite3-dev", lambda: _has_header("sqlite3.h")),
    Tool("zlib's headers", "zlib1g-dev", lambda: _has_header("zlib.h")),
    Tool("GoogleTest", "libgtest-dev", lambda: _has_header("gtest/gtest.h")),
    Tool("GoogleMock", "libgmock-dev", lambda: _has_header("gmock/gmock.h")),
)

# What tests run, in addition.
_TEST_TOOLS = (
    Tool("abidiff", "abigail-tools", lambda: shutil.which("abidiff") is not None),
    Tool("pkg-config", "pkg-config", lambda: shutil.which("pkg-config") is not None),
)
