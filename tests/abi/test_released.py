"""The C ABI keeps what the last release promised: the table by a comparison of headers, the library by abidiff."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from abi_generator.released import broken_promises, flat_header, functions, released_header, stub_source

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("SIMPLE_BUILD", ROOT / "build" / "release"))
COMPILER = os.environ.get("CXX", "c++")
FRONT = ("front/convert.cpp", "front/environment.cpp", "front/errors.cpp", "front/loader.cpp",
         "front/spl_runtime_weak.cpp", "generated/front.cpp", "generated/simple_spellings.cpp", "utf8.cpp")  # fmt: skip


@pytest.fixture(scope="module")
def released() -> str:
    return released_header(ROOT).read_text()


def test_the_headers_keep_every_function_number_and_type_of_the_last_release(released):
    assert broken_promises(released, flat_header(ROOT)) == []


def test_the_released_header_declares_every_symbol_of_the_library(released):
    listed = (ROOT / "abi" / "generated" / "symbols.txt").read_text().split()
    assert set(functions(released)) <= set(listed)
    assert set(functions(flat_header(ROOT))) == set(listed)


def test_the_released_header_is_c99(released, tmp_path):
    (tmp_path / "released.h").write_text(released)
    (tmp_path / "user.c").write_text('#include "released.h"\n')
    compiler = os.environ.get("CC", "cc")
    subprocess.run([compiler, "-std=c99", "-Wall", "-Werror", "-fsyntax-only", tmp_path / "user.c"], check=True)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("int32_t spt_neg(int64_t a, int64_t* out);", "", "function spt_neg is missing"),
        (
            "int32_t spt_neg(int64_t a, int64_t* out);",
            "int32_t spt_neg(int32_t a, int64_t* out);",
            "function spt_neg was int32_t(int64_t, int64_t*), is int32_t(int32_t, int64_t*)",
        ),
        ("  SPT_TORCH = 13,", "  SPT_TORCH = 14,", "number SPT_TORCH was 13, is 14"),
        ("  int64_t len;\n", "", "type struct SplArray was {"),
        ("(int64_t key, int64_t argument)", "(int64_t key)", "type SptAutogradCall was"),
    ],
)
def test_a_change_is_found(released, old, new, message):
    assert old in released
    found = broken_promises(released, released.replace(old, new))
    assert len(found) == 1
    assert found[0].startswith(message)


def test_an_addition_and_another_name_of_a_parameter_are_no_change(released):
    grown = released.replace(
        "int32_t spt_neg(int64_t a,", "int32_t spt_new_one(void);\nint32_t spt_neg(int64_t tensor,"
    )
    assert functions(grown)["spt_new_one"] == "int32_t(void)"
    assert broken_promises(released, grown) == []


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The front with the types of its functions: the debug information that the release build omits."""
    library = tmp_path_factory.mktemp("front") / "libspl_torch.so"
    include = ["-I", ROOT, "-I", ROOT / "abi" / "include", "-I", BUILD / "abi" / "configured"]
    script = f"-Wl,--version-script={ROOT / 'abi' / 'generated' / 'front.map'}"
    sources = [ROOT / "abi" / name for name in FRONT]
    listed = re.findall(r"^  ((?:front|generated)/\w+\.cpp|utf8\.cpp)", (ROOT / "abi/CMakeLists.txt").read_text(), re.M)
    assert set(listed) == set(FRONT)
    compile_ = [COMPILER, "-std=c++20", "-g", "-O0", "-fPIC", "-shared", "-Wl,-soname,libspl_torch.so.0", script]
    subprocess.run([*compile_, *include, *sources, "-o", library, "-ldl"], check=True)
    return library


def abidiff(old: Path, new: Path) -> subprocess.CompletedProcess[str]:
    if shutil.which("abidiff") is None:
        pytest.fail("abidiff is missing (Debian: abigail-tools)")
    # The library may have more symbols.
    command = ["abidiff", "--no-added-syms", "--no-show-locs", old, new]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def stub(header: str, folder: Path) -> Path:
    """A library with the functions of a header."""
    (folder / "released.h").write_text(header)
    (folder / "stub.cpp").write_text(stub_source(header, "released.h"))
    library = folder / "libspl_torch.so"
    command = [COMPILER, "-g", "-O0", "-fPIC", "-shared", "-Wl,-soname,libspl_torch.so.0", folder / "stub.cpp"]
    subprocess.run([*command, "-o", library], check=True)
    return library


def test_abidiff_finds_no_change_of_the_library(front, released, tmp_path):
    done = abidiff(stub(released, tmp_path), front)
    assert done.returncode == 0, done.stdout + done.stderr


def test_abidiff_finds_a_type_that_changed(front, released, tmp_path):
    changed = released.replace("spt_add_scalar(int64_t a, double value,", "spt_add_scalar(int64_t a, float value,")
    assert changed != released
    done = abidiff(stub(changed, tmp_path), front)
    assert done.returncode & 4, done.stdout + done.stderr
    assert "spt_add_scalar" in done.stdout
