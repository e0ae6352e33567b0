"""py.require() installs what the environment of the program lacks, with pip or uv, without any network here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from python_environments import MAKERS, run, uv, with_packages

pytestmark = pytest.mark.skipif(not os.environ.get("SIMPLE_HOST"), reason="SIMPLE_HOST is not set")
pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)


def add_wheel(folder: Path, version: str, needs: str = "") -> None:
    """Write a wheel of the package `tiny-requirement`."""
    folder.mkdir(exist_ok=True)
    information = f"tiny_requirement-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: tiny-requirement\nVersion: {version}\n"
    with zipfile.ZipFile(folder / f"tiny_requirement-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny_requirement.py", f"VERSION = {version!r}\n")
        wheel.writestr(f"{information}/METADATA", metadata + (f"Requires-Dist: {needs}\n" if needs else ""))
        wheel.writestr(f"{information}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{information}/RECORD", "")


@pytest.fixture
def environment(tmp_path):
    if uv() is None:
        pytest.fail("uv is not there, which setup installs")
    made = tmp_path / "env"
    subprocess.run(MAKERS["venv"](made), check=True, timeout=100)
    return with_packages(made)


def printed(tmp_path, environment, program: str) -> tuple[list[str], str]:
    wheels = str(tmp_path / "wheels")
    settings = {"UV_OFFLINE": "1", "UV_NO_INDEX": "1", "UV_FIND_LINKS": wheels, "UV_CACHE_DIR": str(tmp_path / "cache")}
    path = os.pathsep.join([str(Path(uv()).parent), os.environ["PATH"]])
    done = run(
        tmp_path, "use python as py\n" + program, SIMPLE_PYTHON=str(environment / "bin/python"), PATH=path, **settings
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr


def test_a_missing_package_is_installed_once(tmp_path, environment):
    add_wheel(tmp_path / "wheels", "1.0")
    program = 'print py.require("tiny-requirement >= 1")\nprint py.import("tiny_requirement").VERSION\n'
    lines, messages = printed(tmp_path, environment, program)
    assert lines == ["[tiny-requirement >= 1]", "1.0"]
    assert messages == "py.require(): installing tiny-requirement >= 1\n"
    assert printed(tmp_path, environment, program) == (["[]", "1.0"], "")


def test_a_version_that_does_not_fit_is_replaced(tmp_path, environment):
    add_wheel(tmp_path / "wheels", "1.0")
    add_wheel(tmp_path / "wheels", "2.0")
    printed(tmp_path, environment, 'py.require("tiny-requirement < 2")')
    program = 'print py.require("tiny-requirement >= 2")\nprint py.import("tiny_requirement").VERSION\n'
    assert printed(tmp_path, environment, program)[0] == ["[tiny-requirement >= 2]", "2.0"]


def test_a_file_lists_requirements(tmp_path, environment):
    add_wheel(tmp_path / "wheels", "1.0")
    listed = tmp_path / "requirements.txt"
    listed.write_text("# of this project\ntiny-requirement==1.0  # a comment\n\nnumpy\nabsent; python_version < '3'\n")
    lines, _ = printed(tmp_path, environment, f'print py.require("{listed}")\n')
    assert lines == ["[tiny-requirement==1.0]"]


@pytest.mark.parametrize("columns", ["40", "200"])
def test_torch_is_not_replaced(tmp_path, environment, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)  # at which uv wraps its report
    add_wheel(tmp_path / "wheels", "1.0", needs="torch==1.0")
    program = 'print py.try_require("tiny-requirement").unwrap_err()'
    lines, _ = printed(tmp_path, environment, program)
    assert lines[0].startswith("ImportError: py.require(): cannot install tiny-requirement: ")
    assert "torch" in lines[0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ('"absent-package"', "ImportError: py.require(): cannot install absent-package: "),
        ('">= 3"', "ValueError: py.require(): expected a requirement such as 'rich >= 13', got '>= 3'"),
        ('"rich >>> 3"', "InvalidRequirement: "),
        ("3", "py.require(): expected requirements as strings, got a value of type i64"),
        ('"no_such_file.txt"', "FileNotFoundError: "),
        (
            '"{options}"',
            "ValueError: py.require(): {options} has the option '-r other', and may only have requirements",
        ),
    ],
)
def test_what_cannot_be_installed_is_an_error(tmp_path, environment, call, message):
    add_wheel(tmp_path / "wheels", "1.0")
    options = tmp_path / "options.txt"
    options.write_text("-r other\n")
    call, message = (one.replace("{options}", str(options)) for one in (call, message))
    lines, _ = printed(tmp_path, environment, f"print py.try_require({call}).unwrap_err().message()")
    assert lines[0].startswith(message)


def test_an_environment_without_an_installer_is_an_error(monkeypatch):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
    from simple_torch_helpers import packages, requirements

    monkeypatch.setattr(packages, "has_module", lambda name: False)
    monkeypatch.setattr(sys, "prefix", "/nowhere/env")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ImportError, match=r"/nowhere/env has no pip, and uv is not there; run .* -m ensurepip"):
        requirements.install_arguments()
    command = f"{sys.executable} -m ensurepip && {sys.executable} -m pip install opencv-python"
    assert packages.install_command("cv2") == command


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_the_command_that_the_error_of_a_missing_package_names_works(tmp_path, installer):
    wheels, made = tmp_path / "wheels", tmp_path / "env"
    add_wheel(wheels, "1.0")
    without = ["--without-pip"] if installer == "uv" else []
    subprocess.run([sys.executable, "-m", "venv", *without, made], check=True, timeout=100)
    with_packages(made)
    path = os.pathsep.join([str(Path(uv()).parent), os.environ["PATH"]])
    settings = {"SIMPLE_PYTHON": str(made / "bin/python"), "PATH": path}
    program = 'use python as py\nprint py.import("tiny_requirement").VERSION\n'
    errors = run(tmp_path, program, **settings).stderr
    command = re.search(r"install it: (.*tiny_requirement)", errors)[1]
    assert f" {installer} " in f" {command} ".replace("/uv ", " uv ").replace("uv pip", "uv"), command
    offline = {
        "UV_OFFLINE": "1",
        "UV_NO_INDEX": "1",
        "UV_FIND_LINKS": str(wheels),
        "UV_CACHE_DIR": str(tmp_path / "cache"),
    }
    offline |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels), "PIP_NO_CACHE_DIR": "1"}
    subprocess.run(command, shell=True, check=True, timeout=100, env={**os.environ, **settings, **offline})
    assert run(tmp_path, program, **settings).stdout == "1.0\n"
