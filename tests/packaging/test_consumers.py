"""Programs of other languages, built and run from an installed tree alone (examples/embedding)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "embedding"


@pytest.fixture(scope="session")
def sources(prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples as installed, outside the checkout."""
    (installed,) = prefix.glob("lib*/**/simple-torch/share/examples/embedding")
    return shutil.copytree(installed, tmp_path_factory.mktemp("embedding") / "sources")


@pytest.fixture(scope="session")
def run() -> Callable[..., str]:
    """Runs a program with this Python's torch, and returns its output. It must succeed and print no error."""

    def run(*command: str | Path, **variables: str) -> str:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("SIMPLE_")}
        done = subprocess.run(
            command,
            env={**inherited, "SIMPLE_PYTHON": sys.executable, **variables},
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def built(prefix: Path, sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs that CMake built by find_package(SimpleTorch)."""
    folder = tmp_path_factory.mktemp("build")
    configure = ["cmake", "-S", sources, "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_C_FLAGS=-Wall -Werror",
                 "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror"]  # fmt: skip
    for command in (configure, ["cmake", "--build", folder]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder


def needed(program: Path) -> set[str]:
    lines = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"\(NEEDED\).*\[(.+)\]", lines))


def test_c_links_the_library_by_find_package(built, run):
    assert run(built / "linked") == (
        "x = 1.0000, y = 3.0000\nmm: mat1 and mat2 shapes cannot be multiplied (2x1 and 2x2)\nreleased 4 handles\n"
    )
    assert needed(built / "linked") == {"libspl_torch.so.0", "libc.so.6"}


def test_cpp_trains_without_libtorch(built, run):
    assert run(built / "training") == (
        "0 xor 0 = 0\n0 xor 1 = 1\n1 xor 0 = 1\n1 xor 1 = 0\n"
        "shared by DLPack\n"
        "mm: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)\n"
    )
    assert {name for name in needed(built / "training") if "torch" in name or "c10" in name} == {"libspl_torch.so.0"}


def test_cpp_reports_that_pytorch_is_missing(built):
    variables = {**os.environ, "SIMPLE_TORCH": "off"}
    done = subprocess.run([built / "training"], env=variables, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("PyTorch is disabled by SIMPLE_TORCH=off")


def test_the_programs_of_the_document_run(prefix, tmp_path, run):
    document = (ROOT / "docs" / "embedding.md").read_text()
    blocks = re.findall(r"```(c|cpp)\n(.*?)```\n+prints\n+```\n(.*?)```", document, flags=re.DOTALL)
    assert {language for language, _, _ in blocks} == {"c", "cpp"}
    compilers = {"c": [os.environ.get("CC", "cc"), "-std=c99"], "cpp": [os.environ.get("CXX", "c++"), "-std=c++17"]}
    for number, (language, source, printed) in enumerate(blocks):
        file, program = tmp_path / f"{number}.{language}", tmp_path / f"{number}"
        file.write_text(source)
        flags = ["-Wall", "-Werror", f"-I{prefix / 'include'}", f"-L{prefix / 'lib'}", "-lspl_torch"]
        subprocess.run([*compilers[language], file, "-o", program, *flags], check=True)
        assert run(program, LD_LIBRARY_PATH=str(prefix / "lib")) == printed


def test_c_opens_the_library_at_run_time(built, prefix, run):
    library = prefix / "lib" / "libspl_torch.so.0"
    assert run(built / "loaded", library) == "1 + 2 + ... + 100 = 5050\n"
    assert "libspl_torch" not in "".join(needed(built / "loaded"))


def test_a_program_that_opens_the_library_runs_without_it_and_without_pytorch(built, prefix, run):
    assert run(built / "loaded", "/nowhere/libspl_torch.so.0").startswith("without PyTorch: /nowhere/libspl_torch.so.0")
    shown = run(built / "loaded", prefix / "lib" / "libspl_torch.so.0", SIMPLE_TORCH="off")
    assert shown.startswith("without PyTorch: PyTorch is disabled by SIMPLE_TORCH=off")


def test_pkg_config_names_the_flags(prefix, sources, tmp_path, run):
    pkg_config = ["pkg-config", "--cflags", "--libs", "simple-torch"]
    variables = {**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    flags = subprocess.run(pkg_config, env=variables, capture_output=True, text=True, check=True).stdout.split()
    program = tmp_path / "linked"
    compiler = os.environ.get("CC", "cc")
    subprocess.run([compiler, "-std=c99", "-pedantic-errors", sources / "linked.c", "-o", program, *flags], check=True)
    assert run(program, LD_LIBRARY_PATH=str(prefix / "lib")).startswith("x = 1.0000, y = 3.0000\n")


def test_python_uses_the_library_by_ctypes(prefix, sources, run):
    shown = run(sys.executable, sources / "from_ctypes.py", prefix / "lib" / "libspl_torch.so")
    assert shown == (
        "[7.0, 10.0, 15.0, 22.0]\n"
        "error 3: mm: mat1 and mat2 shapes cannot be multiplied (2x2 and 3x1)\n"
        "live handles: 0\n"
    )


def test_python_imports_the_package_of_an_installed_tree(prefix, run):
    packages = prefix / "lib" / "simple-torch" / "share" / "python"
    code = "import simple_torch; print(simple_torch.evaluate('1 + 1'))"
    assert run(sys.executable, "-c", code, PYTHONPATH=str(packages)) == "2\n"


def test_simple_declares_the_functions_of_the_library(prefix, sources, run):
    lines = run(prefix / "bin" / "simple-host", sources / "declared.spl").splitlines()
    assert lines[0] == "1 + 2 + 3 + 4 = 10.0"
    assert "handle" in lines[1]


def test_the_installed_host_runs_programs_with_torch_and_python(prefix, run):
    code = 'use torch; use python as py; print torch.ones([2]).tolist(), py.import("math").floor(2.5)'
    assert run(prefix / "bin" / "simple-host", "-e", code) == "[1.0, 1.0] 2\n"


def test_another_version_is_rejected(prefix, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(p LANGUAGES NONE)\nfind_package(SimpleTorch 1.0 REQUIRED)\n"
    )
    command = ["cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert re.search(r"version:\s+0\.1\.0", done.stderr), done.stderr


def test_the_installed_files_name_neither_the_build_nor_the_checkout(prefix):
    files = [file for file in prefix.rglob("*") if file.suffix in {".cmake", ".pc"}]
    assert len(files) == 3
    for file in files:
        assert str(ROOT) not in file.read_text()
