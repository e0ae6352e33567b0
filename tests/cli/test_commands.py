"""bin/simple as a user runs it: help and doctor, also without a build."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from layout import NO_TORCH, TORCH_VERSIONS
from programs import is_sanitized

ROOT = Path(__file__).resolve().parents[2]


def simple(root: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("SIMPLE_", "VIRTUAL_ENV"))}
    return subprocess.run(
        [root / "bin" / "simple", *arguments], env={**env, **variables}, capture_output=True, text=True, check=False
    )


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A checkout without an environment or a build."""
    for part in ("bin", "tools/setup", "requirements"):
        shutil.copytree(ROOT / part, tmp_path / part)
    return tmp_path


def test_help_names_every_command(bare):
    done = simple(bare, "--help")
    assert done.returncode == 0
    words = "FILE.spl run -e test --version setup build notebook doctor bench models new completion wheel docs"
    for command in words.split():
        assert f"bin/simple {command}" in done.stdout


def test_an_unknown_command_lists_the_commands(bare):
    done = simple(bare, "repl")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: no command or file named 'repl'\n\n" + simple(bare, "--help").stdout


def test_each_command_has_help(bare):
    for command in ("setup", "build", "test", "notebook", "bench", "doctor", "wheel", "docs", "completion"):
        done = simple(bare, command, "--help")
        assert done.returncode == 0, done.stderr
        assert f"bin/simple {command}" in done.stdout


def test_a_pytorch_without_cuda_is_rejected_with_what_installs_one(bare):
    done = simple(bare, "setup", "--cpu")
    assert done.returncode == 1
    assert done.stderr.startswith("bin/simple: --cpu: PyPI has no torch without CUDA for Linux x86-64;")
    assert "--index-url https://download.pytorch.org/whl/cpu torch==2.15.* torchvision && pip install ." in done.stderr
    assert not (bare / ".simple").exists()


def test_the_help_of_setup_states_the_sizes(bare):
    text = " ".join(simple(bare, "setup", "--help").stdout.split())
    assert "6.1 GB" in text
    assert "8.2 GB" in text


def test_doctor_reports_missing_parts_if_nothing_is_built(bare):
    done = simple(bare, "doctor")
    assert done.returncode == 1
    faults = [line.rpartition("; see ")[0] for line in done.stdout.splitlines() if line.startswith("FAULT: ")]
    assert f"FAULT: {bare}/.simple/runtime-2.15/bin/python does not run; fix: bin/simple setup" in faults
    assert "FAULT: libspl_torch.so is missing; fix: bin/simple setup" in faults
    assert "FAULT: simple-host is missing; fix: bin/simple setup" in faults
    assert done.stderr == ""


@pytest.mark.skipif(is_sanitized(), reason="the doctor looks at the release build")
def test_doctor_finds_no_error_in_this_environment():
    done = simple(ROOT, "doctor")
    assert done.returncode == 0, done.stdout
    for name in ("compiler", "CMake", "Python", "libpython", "torch", "LibTorch", "CUDA", "backend", "bridge", "host"):
        assert f"\n{name} " in done.stdout
    assert done.stdout.endswith("no faults found\n")


def test_doctor_skips_an_environment_without_torch(tmp_path):
    subprocess.run(["python3", "-m", "venv", "--without-pip", tmp_path / "mine"], check=True)
    done = simple(ROOT, "doctor", VIRTUAL_ENV=str(tmp_path / "mine"))
    assert f"the project's own; the active {tmp_path}/mine has no supported torch and is ignored" in done.stdout


def test_doctor_names_a_python_without_torch(tmp_path):
    subprocess.run(["python3", "-m", "venv", "--without-pip", tmp_path / "mine"], check=True)
    python = tmp_path / "mine" / "bin" / "python3"
    done = simple(ROOT, "doctor", SIMPLE_PYTHON=str(python))
    assert done.returncode == 1
    assert f"FAULT: {python} has no torch; fix: " in done.stdout


def test_unsupported_torch_is_rejected_by_name(bare):
    done = simple(bare, "setup", "--torch", "1.0")
    assert done.returncode == 2
    message = done.stderr.replace("'", "")  # newer Pythons omit the quotes
    assert f"invalid choice: 1.0 (choose from {', '.join((*TORCH_VERSIONS, NO_TORCH))})" in message


def test_arguments_reach_the_host_unchanged(bare):
    host = bare / "build" / "bin" / "simple-host"
    host.parent.mkdir(parents=True)
    host.write_text('#!/bin/sh\nprintf "[%s]" "$@"\n')
    host.chmod(0o755)
    done = simple(bare, "-e", 'print "a  b"', "*", "", SIMPLE_BUILD=str(bare / "build"))
    assert (done.returncode, done.stdout) == (0, '[-e][print "a  b"][*][]')
