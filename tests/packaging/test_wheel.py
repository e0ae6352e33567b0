"""bin/simple wheel: its parts, and a wheel in a new environment. It packs the build under test, or with
SIMPLE_LONG_TESTS=1 builds its own."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

import wheel
from console import SetupError
from layout import DEFAULT_TORCH, REQUIREMENTS, ROOT, SUPPORTED_TORCH, TORCH_VERSIONS, WHEEL_VERSIONS
from programs import is_sanitized

LONG = os.environ.get("SIMPLE_LONG_TESTS") == "1"
needs_wheel = pytest.mark.skipif(os.environ.get("SIMPLE_TORCH") == "off" or is_sanitized(), reason="no wheel of this")


def test_a_wheel_can_have_a_backend_for_each_supported_torch():
    assert list(WHEEL_VERSIONS) == SUPPORTED_TORCH


@pytest.mark.parametrize("minor", sorted(SUPPORTED_TORCH[1:-1]))
def test_a_lock_file_for_the_wheel_has_torch_alone(minor):
    if minor in TORCH_VERSIONS:
        pytest.skip("it has an environment")
    text = (REQUIREMENTS / f"backend-{minor}.lock").read_text()
    assert [line.split("==")[0] for line in text.splitlines() if line[0] not in "# "] == ["torch"]
    assert (REQUIREMENTS / f"backend-{minor}.in").read_text().startswith(f"torch=={minor}.")


@pytest.mark.parametrize("minor", WHEEL_VERSIONS)
def test_only_torch_is_needed_to_build(minor):
    lines = wheel.torch_requirement(wheel.lock_with_torch(minor).read_text()).splitlines()
    assert lines[0].startswith(f"torch=={minor}.")
    assert len(lines) > 1
    assert all(line.strip().startswith("--hash=sha256:") for line in lines[1:])


def test_a_lock_without_torch_is_an_error():
    with pytest.raises(SetupError, match="has no torch"):
        wheel.torch_requirement("numpy==2.0\n    --hash=sha256:0\n")


def test_the_default_torch_is_first():
    assert wheel.ordered(sorted(WHEEL_VERSIONS))[0] == DEFAULT_TORCH


def test_one_wheel_is_expected(tmp_path):
    with pytest.raises(SetupError, match=r"expected one wheel in .*, found 0"):
        wheel.single(tmp_path)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that bin/simple wheel builds; in the short tests that of the build under test."""
    out = tmp_path_factory.mktemp("dist")
    minor = ".".join(importlib.metadata.version("torch").split(".")[:2])  # that of `environment`
    build = os.environ.get("SIMPLE_BUILD", ROOT / "build" / "release")
    call = f"build_wheel(('{minor}',), Path('{out}'))" if LONG else f"wheel_of_build(Path('{build}'), Path('{out}'))"
    program = f"import wheel; from pathlib import Path; print(wheel.{call})"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(ROOT / "tools" / "setup")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return Path(done.stdout.splitlines()[-1])


@pytest.fixture(scope="session")
def environment(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel, and with the torch of the tests."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    (site,) = folder.glob("lib/python3*/site-packages")
    with zipfile.ZipFile(built) as archive:
        for library in ("curl", "pcre2-8", "crypto", "sqlite3"):
            assert any(name.startswith(f"simple_torch.libs/lib{library}-") for name in archive.namelist()), library
        assert not any("libtorch" in Path(name).name or "libpython" in name for name in archive.namelist())
    uv = ROOT / ".simple" / "tools" / "bin" / "uv"
    subprocess.run([uv, "pip", "install", "-q", "--no-deps", "--python", folder / "bin" / "python", built], check=True)
    torch_site = next(path for path in sys.path if path.endswith("site-packages"))
    (site / "torch-of-the-tests.pth").write_text(f"{torch_site}\n")
    return folder


def output_of(*command: str | Path, **variables: str) -> str:
    """What a user's command prints: without the settings of the tests, which may name the source tree."""
    is_ours = ("SIMPLE_", "PYTHONPATH")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(is_ours)}
    done = subprocess.run(command, env={**inherited, **variables}, capture_output=True, text=True, check=False, cwd="/")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@needs_wheel
def test_the_wheel_is_tagged_and_small(built):
    assert "-manylinux_2_" in built.name
    assert built.stat().st_size < 40e6


@needs_wheel
def test_the_installed_package_is_small(environment):
    files = [
        file for folder in environment.glob("lib/python3*/site-packages/simple_torch*") for file in folder.rglob("*")
    ]
    assert sum(file.stat().st_size for file in files if file.is_file()) < 60e6


@needs_wheel
def test_the_installed_command_runs_examples_and_is_without_fault(environment):
    names = output_of(environment / "bin" / "simple", "examples").split()
    assert "torch/training/xor.spl" in names
    assert output_of(environment / "bin" / "simple", "examples", "xor")


@needs_wheel
def test_std_modules_run_where_the_system_has_no_libraries(environment, hidden, url):
    program = Path(__file__).parent / "bundled_program.spl"
    found = output_of(environment / "bin" / "simple", program, url, LD_PRELOAD=hidden)
    assert found.splitlines() == re.findall(r"# expect: (.*)", program.read_text())


@needs_wheel
def test_python_and_ipython_import_the_package(environment):
    code = "import simple_torch; print(simple_torch.run('fn twice(x): x * 2').twice(4))"
    assert output_of(environment / "bin" / "python", "-c", code) == "8\n"
    magic = 'get_ipython().run_cell_magic("simple", "", "use torch; print torch.ones([2]).tolist()")'
    shown = output_of(environment / "bin" / "python", "-m", "IPython", "-c", f"%load_ext simple_torch\n{magic}")
    assert shown == "[1.0, 1.0]\n"
    kernels = environment / "share" / "jupyter" / "kernels" / "simple" / "kernel.json"
    assert kernels.exists()
    assert (environment / "share" / "jupyter" / "labextensions" / "simple-torch" / "package.json").exists()
