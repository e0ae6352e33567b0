"""The Python that a program uses, configured as in its environment: venv and uv, paths, the user site."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from python_environments import MAKERS, PACKAGES, run, uv, with_packages

HOST = os.environ.get("SIMPLE_HOST", "")
pytestmark = pytest.mark.skipif(not HOST, reason="SIMPLE_HOST is not set")
pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)

PROGRAM = """
use python as py
val sys = py.import("sys")
print sys.prefix.to_text()
print sys.executable.to_text()
print py.import("torch").__file__.to_text()
"""


def printed(tmp_path: Path, program: str, **variables: str) -> list[str]:
    done = run(tmp_path, program, **variables)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.fixture(params=MAKERS)
def environment(request, tmp_path) -> Path:
    if request.param == "uv" and uv() is None:
        pytest.fail("uv is not there, which setup installs")
    made = tmp_path / "env"
    subprocess.run(MAKERS[request.param](made), check=True, timeout=100)
    return with_packages(made)


@pytest.mark.parametrize("chosen_by", ["SIMPLE_PYTHON", "VIRTUAL_ENV", "CONDA_PREFIX"])
def test_the_chosen_environment_is_used(tmp_path, environment, chosen_by):
    value = environment / "bin/python" if chosen_by == "SIMPLE_PYTHON" else environment
    prefix, executable, torch = printed(tmp_path, PROGRAM, **{chosen_by: str(value)})
    assert prefix == str(environment)
    assert Path(executable).parent == environment / "bin"
    assert Path(torch).is_relative_to(environment)


def test_an_active_environment_without_torch_is_skipped_with_a_message(tmp_path):
    empty = tmp_path / "empty"
    subprocess.run(MAKERS["venv"](empty), check=True, timeout=100)
    done = run(tmp_path, PROGRAM, VIRTUAL_ENV=str(empty))
    assert done.returncode == 0
    assert done.stderr == f"simple: the active environment {empty} is ignored: it has no PyTorch\n"
    assert str(empty) not in done.stdout


def test_a_python_without_torch_is_rejected_with_the_install_command(tmp_path):
    empty = tmp_path / "empty"
    subprocess.run(MAKERS["venv"](empty), check=True, timeout=100)
    done = run(tmp_path, PROGRAM, SIMPLE_PYTHON=str(empty / "bin/python"))
    assert done.returncode == 1
    assert f"install it: uv pip install --python {empty}/bin/python torch\n" in done.stderr
    (next(empty.glob("lib/python3.*")) / "site-packages" / "pip").mkdir()
    done = run(tmp_path, PROGRAM, SIMPLE_PYTHON=str(empty / "bin/python"))
    assert f"install it: {empty}/bin/python -m pip install torch\n" in done.stderr


FINDS = """
use python as py
match py.try_import("only_there"):
    case Ok(module): print module.where.to_text()
    case Err(_): print "missing"
"""


def test_a_python_without_a_built_bridge_is_rejected_with_the_build_command(tmp_path):
    """Environments are found by their files: this one has another minor version, torch, and a libpython."""
    packages = tmp_path / "env" / "lib" / "python3.99" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "torch").symlink_to(PACKAGES / "torch")
    python = tmp_path / "env" / "bin" / "python"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    (tmp_path / "env" / "pyvenv.cfg").write_text(f"home = {tmp_path / 'base' / 'bin'}\nversion_info = 3.99.0\n")
    libpython = Path(sysconfig.get_config_var("LIBDIR")) / sysconfig.get_config_var("INSTSONAME")
    (tmp_path / "base" / "lib").mkdir(parents=True)
    (tmp_path / "base" / "lib" / "libpython3.99.so.1.0").symlink_to(libpython)
    done = run(tmp_path, 'use python as py\nprint py.eval("1")\n', SIMPLE_PYTHON=str(python))
    assert done.returncode == 1
    assert "and Python 3.99: " in done.stderr
    assert f"is missing; build it: SIMPLE_PYTHON={python} bin/simple build" in done.stderr


def test_packages_of_pythonpath_are_found(tmp_path):
    (tmp_path / "extra").mkdir()
    (tmp_path / "extra/only_there.py").write_text("where = 'PYTHONPATH'\n")
    assert printed(tmp_path, FINDS, SIMPLE_PYTHON=sys.executable) == ["missing"]
    assert printed(tmp_path, FINDS, SIMPLE_PYTHON=sys.executable, PYTHONPATH=str(tmp_path / "extra")) == ["PYTHONPATH"]


def test_the_user_site_is_enabled_as_in_the_environment(tmp_path, environment):
    """Enabled only with the system site packages; PYTHONNOUSERSITE always disables it."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    site = tmp_path / "user" / "lib" / version / "site-packages"
    site.mkdir(parents=True)
    (site / "only_there.py").write_text("where = 'user site'\n")
    chosen = {"SIMPLE_PYTHON": str(environment / "bin/python"), "PYTHONUSERBASE": str(tmp_path / "user")}
    assert printed(tmp_path, FINDS, **chosen) == ["missing"]
    settings = environment / "pyvenv.cfg"
    lines = [line for line in settings.read_text().splitlines() if not line.startswith("include-system")]
    settings.write_text("\n".join([*lines, "include-system-site-packages = true", ""]))
    assert printed(tmp_path, FINDS, **chosen) == ["user site"]
    assert printed(tmp_path, FINDS, **chosen, PYTHONNOUSERSITE="1") == ["missing"]
    assert printed(tmp_path, FINDS, **chosen, SIMPLE_PYTHON_ISOLATED="1") == ["missing"]


ISOLATED = """
use python as py
match py.try_import("only_there"):
    case Ok(module): print module.where.to_text()
    case Err(_): print "missing"
print py.import("sys").flags.isolated.to_int()
print py.import("sys").executable.to_text()
val pool = py.import("multiprocessing").get_context("spawn").Pool(1)
print pool.apply(py.eval("eval"), ["__import__('sys').flags.isolated"]).to_int()
pool.close()
pool.join()
"""


def test_an_isolated_python_ignores_variables(tmp_path):
    """As python -I, also in worker processes. The previous test covers the user site."""
    (tmp_path / "only_there.py").write_text("where = 'PYTHONPATH'\n")
    base = {"SIMPLE_PYTHON": sys.executable, "PYTHONPATH": str(tmp_path)}
    assert printed(tmp_path, ISOLATED, **base, SIMPLE_PYTHON_ISOLATED="0") == ["PYTHONPATH", "0", sys.executable, "0"]
    assert printed(tmp_path, ISOLATED, **base, SIMPLE_PYTHON_ISOLATED="1") == ["missing", "1", sys.executable, "1"]


def test_the_folder_of_the_program_is_not_on_pythons_path(tmp_path):
    """A random.py next to a program, or in its working directory, shadows no module."""
    (tmp_path / "only_there.py").write_text("where = 'next to the program'\n")
    (tmp_path / "program.spl").write_text(FINDS)
    done = subprocess.run([HOST, "program.spl"], capture_output=True, text=True, check=True, timeout=120, cwd=tmp_path)
    assert done.stdout == "missing\n"
