"""bin/simple doctor: reports what is used, with versions and paths, and every fault. Needs no build."""

from __future__ import annotations

import ctypes.util
import json
import os
import platform
import runpy
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import system
from layout import DEFAULT_TORCH, SUPPORTED_TORCH, Build, environment

_SETUP = "bin/simple setup"
_BUILD = Build()
_NOT_BUILT = "a-part-that-is-not-built"

# Runs in the Python that programs would use. It reads files and does not import torch.
_ENVIRONMENT_QUERY = """
import importlib.util, json, os, sys, sysconfig
spec = importlib.util.find_spec("torch")
name = sysconfig.get_config_var("INSTSONAME") or ""
folders = [sysconfig.get_config_var("LIBDIR") or "", os.path.join(sys.base_prefix, "lib")]
found = [path for f in folders if os.path.exists(path := os.path.join(f, name))]
print(json.dumps({
    "version": sys.version.split()[0], "minor": "%d%d" % sys.version_info[:2],
    "libpython": found[0] if ".so" in name and found else None,
    "torch": os.path.dirname(spec.origin) if spec and spec.origin else None,
}))
"""


@dataclass(frozen=True)
class Finding:
    """One line of the report. A fault comes with its fix and the place that describes it."""

    name: str
    value: str
    fault: str | None = None
    fix: str | None = None
    entry: str | None = None  # of docs/troubleshooting.md


def diagnose() -> int:
    findings = [*_build_tools(), *_runtime(os.environ), *_files_built()]
    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        print(f"{finding.name:<{width}}  {finding.value}")
    faults = [finding for finding in findings if finding.fault]
    for finding in faults:
        print(f"FAULT: {finding.fault}; fix: {finding.fix}; see docs/troubleshooting.md#{finding.entry}")
    if not faults:
        print("no faults found")
    return 1 if faults else 0


def choose_python(variables: Mapping[str, str], own: Path) -> tuple[str, str]:
    """Returns the Python that programs use, and why. The front chooses in the same way."""
    if named := variables.get("SIMPLE_PYTHON"):
        return named, "set by SIMPLE_PYTHON"
    ignored = ""
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if active := variables.get(variable):
            python = str(Path(active) / "bin" / "python")
            version, _ = _torch_version((_ask(python) or {}).get("torch"))
            if version and _supported(version):
                return python, "the active environment has a supported torch"
            ignored += f"; the active {active} has no supported torch and is ignored"
    return str(own), f"the project's own{ignored}"


def _build_tools() -> list[Finding]:
    compiler = system.compiler()
    cmake = system.version_of(["cmake", "--version"])
    ninja = system.version_of(["ninja", "--version"])
    return [
        Finding("system", f"{platform.system()} {platform.release()} {platform.machine()}"),
        _tool("compiler", system.version_of([compiler, "-dumpfullversion"]) if compiler else None, compiler),
        _tool("CMake", cmake if system.cmake_is_new_enough(cmake) else None, shutil.which("cmake")),
        _tool("Ninja", ninja, shutil.which("ninja")),
    ]


def _tool(name: str, version: str | None, path: str | None) -> Finding:
    if version:
        return Finding(name, f"{version}  {path}")
    return Finding(name, "missing or too old", f"no usable {name}", _SETUP, "missing-build-tools")


def _runtime(variables: Mapping[str, str]) -> list[Finding]:
    """Python, libpython, torch, LibTorch and CUDA as the next program will find them."""
    chosen, why = choose_python(variables, _own_python())
    facts = _ask(chosen)
    if facts is None:
        return [Finding("Python", f"{chosen} ({why})", f"{chosen} does not run", _SETUP, "a-python-that-does-not-run")]
    findings = [Finding("Python", f"{facts['version']}  {chosen} ({why})")]
    if facts["libpython"]:
        findings.append(Finding("libpython", facts["libpython"]))
    else:
        fault = f"{chosen} has no shared libpython, so it cannot be embedded"
        fix = "set SIMPLE_PYTHON to another, or install python3-dev"
        findings.append(Finding("libpython", "none", fault, fix, "no-shared-libpython"))
    return findings + _torch(variables, chosen, facts)


def _torch(variables: Mapping[str, str], python: str, facts: dict) -> list[Finding]:
    named = variables.get("SIMPLE_TORCH")
    if named == "off":
        return [Finding("torch", "disabled by SIMPLE_TORCH=off")]
    fix = "set SIMPLE_TORCH to another folder, or unset it" if named else f"{_SETUP}, or set SIMPLE_PYTHON to another"
    folder = named or facts["torch"]
    version, cuda = _torch_version(folder)
    if not version:
        fault = f"{named} has no torch" if named else f"{python} has no torch"
        return [Finding("torch", "none", fault, fix, "no-pytorch")]
    minor = _minor(version)
    unsupported = f"torch {version} is not supported; supported versions: {SUPPORTED_TORCH[0]} to {SUPPORTED_TORCH[-1]}"
    libtorch = Path(folder) / "lib"
    incomplete = f"{libtorch} has no libtorch_cpu.so"
    findings = [
        Finding(
            "torch", f"{version}  {folder}", None if _supported(version) else unsupported, fix, "an-unsupported-pytorch"
        ),
        Finding(
            "LibTorch",
            str(libtorch),
            None if (libtorch / "libtorch_cpu.so").exists() else incomplete,
            fix,
            "an-incomplete-pytorch",
        ),
        _cuda(cuda),
    ]
    is_own = Path(python) == _own_python() and not named
    command = _setup_command(minor) if is_own else f"SIMPLE_PYTHON={python} bin/simple build"
    for part in (f"libsimple_torch_backend-{minor}.so", f"libsimple_torch_bridge-{minor}.cpython-{facts['minor']}.so"):
        findings.append(_built(part.split("-")[0].removeprefix("libsimple_torch_"), _BUILD.lib / part, command))
    return findings


def _torch_version(folder: str | None) -> tuple[str | None, str | None]:
    """Returns the versions of torch and of its CUDA, read from the package's version.py."""
    if not folder or not (file := Path(folder) / "version.py").exists():
        return None, None
    version = runpy.run_path(str(file))
    return version["__version__"], version["cuda"]


def _supported(version: str) -> bool:
    return _minor(version) in SUPPORTED_TORCH


def _cuda(wheel_version: str | None) -> Finding:
    driver = Path("/proc/driver/nvidia/version")
    if not wheel_version:
        return Finding("CUDA", "this torch is built without CUDA")
    if driver.exists():
        return Finding("CUDA", f"{wheel_version} in the wheel; driver: {driver.read_text().splitlines()[0]}")
    if ctypes.util.find_library("cuda"):
        return Finding("CUDA", f"{wheel_version} in the wheel; libcuda is present, its kernel driver is missing")
    return Finding("CUDA", f"{wheel_version} in the wheel; no driver on this machine: tensors live on the CPU")


def _files_built() -> list[Finding]:
    findings = [_built("front", _BUILD.lib / "libspl_torch.so")]
    host = _built("host", _BUILD.host)
    if not host.fault:
        version = system.version_of([str(_BUILD.host), "--version"])
        host = Finding("host", f"{version}  {_BUILD.host}") if version else Finding(
            "host", str(_BUILD.host), f"{_BUILD.host} does not start", "bin/simple build", _NOT_BUILT)  # fmt: skip
    return [*findings, host]


def _built(name: str, file: Path, command: str = _SETUP) -> Finding:
    if file.exists():
        return Finding(name, str(file))
    return Finding(name, "not built", f"{file.name} is missing", command, _NOT_BUILT)


def _setup_command(minor: str) -> str:
    return _SETUP if minor == DEFAULT_TORCH else f"{_SETUP} --torch {minor}"


def _own_python() -> Path:
    """The path that the build wrote next to the front; before a build, the path that it would write."""
    written = _BUILD.lib / "simple-torch-environment"
    return Path(written.read_text().strip()) if written.exists() else environment(DEFAULT_TORCH).python


def _ask(python: str) -> dict | None:
    try:
        command = [python, "-I", "-c", _ENVIRONMENT_QUERY]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return json.loads(done.stdout) if done.returncode == 0 else None


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])
