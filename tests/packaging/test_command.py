"""The command `simple` of an installed package."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "python"))
from simple_torch_command.troubleshooting import entries

if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
torch = pytest.importorskip("torch")
ROOT = Path(__file__).resolve().parents[2]
MINOR = ".".join(torch.__version__.split(".")[:2])


def test_a_line_of_code_uses_torch_and_this_python(simple):
    done = simple("-e", 'use torch; use python as py; val t = torch.ones([2]) + 1; print t.tolist(), py.eval("1 + 1")')
    assert (done.stdout, done.stderr, done.returncode) == ("[2.0, 2.0] 2\n", "", 0)


def test_a_program_has_its_arguments_and_its_exit_code(simple, tmp_path):
    program = tmp_path / "p.spl"
    program.write_text("use std.process.{args}\nprint args()\nexit(3)\n")
    done = simple(str(program), "a", "b c")
    assert done.returncode == 3, done.stderr
    assert "b c" in done.stdout


def test_the_python_of_the_user_wins(simple):
    done = simple("-e", "use torch; print torch.ones([1])", SIMPLE_TORCH="off")
    assert done.returncode == 1
    assert "PyTorch is disabled by SIMPLE_TORCH=off" in done.stderr


def test_usage_names_the_commands(simple):
    for arguments in ((), ("--help",)):
        done = simple(*arguments)
        assert done.returncode == 0
        assert all(command in done.stdout for command in ("examples", "notebook", "doctor", "--version"))
    assert simple("--version").stdout.strip() == "simple-host 0.1.0"


def test_an_unknown_command_lists_the_commands(simple):
    done = simple("repl")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: no command or file named 'repl'\n\n" + simple("--help").stdout


def test_every_command_has_help(simple):
    for command in ("run", "test", "models", "examples", "doctor", "new", "completion"):
        done = simple(command, "--help")
        assert (done.returncode, done.stderr) == (0, "")
        assert command in done.stdout


def test_a_project_is_made_and_runs(simple, tmp_path):
    made = simple("new", "training", str(tmp_path / "mine"))
    assert (made.returncode, made.stderr) == (0, "")
    assert "\nsimple main.spl " in (tmp_path / "mine" / "README.md").read_text()
    assert simple("test", str(tmp_path / "mine")).stdout.endswith("2 passed, 0 failed, 0 skipped\n")


def test_the_completion_has_the_commands_of_the_package(simple):
    script = simple("completion", "bash").stdout
    assert "examples) words='--copy --help'" in script
    assert "setup" not in script


def test_examples_are_listed_run_and_copied(simple, site, tmp_path):
    names = simple("examples").stdout.split()
    assert "torch/training/xor.spl" in names
    assert simple("examples", "xor").returncode == 0
    missing = simple("examples", "none")
    assert (missing.returncode, missing.stderr) == (
        1,
        "simple: there is no example none; `simple examples` lists them\n",
    )
    copied = simple("examples", "--copy", str(tmp_path / "mine"))
    assert copied.returncode == 0
    assert (tmp_path / "mine" / "torch" / "training" / "xor.spl").exists()
    again = simple("examples", "--copy", str(tmp_path / "mine"))
    assert (again.returncode, again.stderr) == (1, f"simple: examples --copy: File exists: {tmp_path / 'mine'}\n")


def test_doctor_reports_what_is_used(simple, site):
    done = simple("doctor")
    assert done.returncode == 0, done.stdout
    assert f"torch {torch.__version__.split('+')[0]}" in done.stdout
    assert str(site / "simple_torch" / "lib") in done.stdout


def test_doctor_explains_an_entry(simple):
    page = (ROOT / "docs" / "troubleshooting.md").read_text()
    known = entries(page)
    assert len(known) == page.count("\n### ")
    for name in known:
        done = simple("doctor", name)
        assert (done.stdout, done.returncode) == (f"{known[name]}\n", 0)
    unknown = simple("doctor", "no-such-entry")
    assert (unknown.stdout, unknown.returncode) == ("", 2)
    assert unknown.stderr.startswith("simple doctor: no entry 'no-such-entry'; entries: missing-build-tools, ")
    assert simple("doctor", "no-gpu", "more").returncode == 2


def test_an_error_names_an_entry_that_the_doctor_explains(simple):
    done = simple("-e", "use torch; torch.ones([2]).sum().backward()")
    assert done.returncode == 1
    (entry,) = re.findall(r"hint: .*; see `simple doctor ([\w-]+)`\n", done.stderr)
    assert simple("doctor", entry).stdout.startswith("No gradient\n")


def faults_of(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The entries of the faults that a command reports."""
    return re.findall(r"(?:^fault|^simple): .*; see `simple doctor ([\w-]+)`$", done.stdout + done.stderr, re.M)


def test_a_torch_without_a_backend_is_rejected_by_name(simple, tmp_path):
    fake = tmp_path / "torch"
    fake.mkdir()
    (fake / "__init__.py").write_text("")
    (fake / "version.py").write_text("__version__ = '2.13.1'\n")
    for arguments in (("-e", "print 1"), ("doctor",)):
        done = simple(*arguments, paths=(tmp_path,))
        assert done.returncode == 1
        text = done.stdout + done.stderr
        assert f"PyTorch 2.13.1 in {fake} has no backend in this installation, which has those of" in text
        assert "-m pip install 'torch==" in text
        assert faults_of(done) == ["a-part-that-is-not-built"]


def test_a_python_without_torch_runs_programs_that_do_not_use_it(simple):
    python = next((path for path in ("/usr/bin/python3", "/usr/local/bin/python3") if Path(path).exists()), None)
    if (
        python is None
        or subprocess.run([python, "-c", "import torch"], capture_output=True, check=False).returncode == 0
    ):
        pytest.skip("there is no Python without torch")
    assert simple("-e", "print 1 + 1", python=python).stdout == "2\n"
    assert "has no PyTorch; install" in simple("-e", "use torch; print torch.ones([1])", python=python).stderr
    doctor = simple("doctor", python=python)
    assert (doctor.returncode, "has no PyTorch; install one of" in doctor.stdout) == (1, True)
    assert faults_of(doctor) == ["no-pytorch"]


def test_another_python_and_a_broken_host_are_faults_with_an_entry(simple, site, tmp_path):
    """In a copy of the installation, without its bridges, and with a host that does not start."""
    broken = tmp_path / "site" / "simple_torch"
    shutil.copytree(site / "simple_torch", broken, symlinks=True)
    (broken / "bin" / "simple-host").write_text("#!/bin/sh\nexit 1\n")
    started = simple("doctor", SIMPLE_BUILD=str(broken))
    assert f"{broken / 'bin' / 'simple-host'} does not run a program: exit code 1" in started.stdout
    (broken / "bin" / "simple-host").unlink()
    missing = simple("-e", "print 1", SIMPLE_BUILD=str(broken))
    assert f"{broken / 'bin' / 'simple-host'} is missing; install the package again" in missing.stderr
    for bridge in broken.glob("lib/libsimple_torch_bridge-*"):
        bridge.unlink()
    other = simple("doctor", SIMPLE_BUILD=str(broken))
    assert "this installation was built for another Python than 3." in other.stdout
    for done in (started, missing, other):
        assert (faults_of(done), done.returncode) == (["a-part-that-is-not-built"], 1)


def test_an_error_of_the_host_is_a_fault_with_the_entry_of_its_hint(simple, site, tmp_path):
    broken = tmp_path / "site" / "simple_torch"
    shutil.copytree(site / "simple_torch", broken, symlinks=True)
    error = "-e:1:1: error: python has no libpython3.11.so.1.0\n  use python\n  hint: see `simple doctor no-library`"
    (broken / "bin" / "simple-host").write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{error}\nEND\nexit 1\n")
    done = simple("doctor", SIMPLE_BUILD=str(broken))
    assert f"host      {broken / 'bin' / 'simple-host'}\n" in done.stdout
    assert "does not run a program: python has no libpython3.11.so.1.0; see" in done.stdout
    assert (faults_of(done), done.returncode) == (["no-library"], 1)


def test_a_new_environment_runs_programs_without_a_compiler(site, tmp_path):
    """Torch may be anywhere on Python's path: as with a .pth file, PYTHONPATH or a user's site-packages."""
    import venv

    venv.create(tmp_path, with_pip=False, symlinks=True)
    (packages,) = tmp_path.glob("lib/python3*/site-packages")
    (packages / "others.pth").write_text(f"{Path(torch.__file__).parents[1]}\n{site}\n")
    python = tmp_path / "bin" / "python"
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("SIMPLE_", "PYTHON"))}
    inherited["PATH"] = str(python.parent)  # neither a compiler nor CMake nor git
    magic = 'get_ipython().run_cell_magic("simple", "", "use torch; print torch.ones([1]).item()")'
    for arguments in (
        ["-m", "simple_torch_command", "-e", "use torch; print torch.ones([1]).item()"],
        ["-c", "import simple_torch; print(simple_torch.evaluate('1.0'))"],
        ["-m", "IPython", "-c", f"%load_ext simple_torch\n{magic}"],
    ):
        done = subprocess.run([python, *arguments], env=inherited, capture_output=True, text=True, check=False, cwd="/")
        assert (done.stdout, done.returncode) == ("1.0\n", 0), done.stderr
    command = [python, "-m", "simple_torch_command", "examples", "xor"]
    done = subprocess.run(command, env=inherited, capture_output=True, text=True, check=False, cwd="/")
    assert done.stdout.endswith(", goal 0.001: reached\n"), done.stderr


def test_python_imports_the_package(site):
    code = "import simple_torch; print(simple_torch.run('fn twice(x): x * 2').twice(4), simple_torch.__file__)"
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("SIMPLE_")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**inherited, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )
    assert done.stdout == f"8 {site / 'simple_torch' / '__init__.py'}\n", done.stderr


def test_the_library_names_its_backends(site, tmp_path):
    """Without the command, the library itself rejects a torch without a backend."""
    import shutil

    lib = shutil.copytree(site / "simple_torch", tmp_path / "moved") / "lib"
    (lib / f"libsimple_torch_backend-{MINOR}.so").rename(lib / "libsimple_torch_backend-2.12.so")
    done = subprocess.run(
        [lib.parent / "bin" / "simple-host", "-e", "use torch; print torch.ones([1])"],
        env={**os.environ, "SIMPLE_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "; this installation has backends for PyTorch 2.12" in done.stderr


def test_the_kernel_is_that_of_the_package(site):
    kernel = json.loads((site / "simple_torch_jupyter" / "kernel.json").read_text())
    assert kernel["argv"][:3] == ["python", "-m", "simple_torch.notebook"]  # Jupyter replaces `python` by its own
