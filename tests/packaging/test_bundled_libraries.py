"""The libraries that a wheel brings for std modules: they are opened where the system has none."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PROGRAM = HERE / "bundled_program.spl"
FILES = {"curl": "curl", "pcre2": "pcre2-8", "crypto": "crypto", "sqlite3": "sqlite3"}  # BundledLibraries.cmake


@pytest.fixture
def bundled(site: Path) -> Iterator[None]:
    """The libraries without code, as CMake builds them for a wheel."""
    lib = site / "simple_torch" / "lib"
    made = [lib / f"libsimple_torch_{name}.so" for name in FILES]
    source = HERE.parents[1] / "cmake" / "bundled_library.c"
    for file, name in zip(made, FILES.values()):
        command = ["cc", "-shared", "-fPIC", "-Wl,--no-as-needed", "-o", file, source, f"-l{name}"]
        subprocess.run(command, check=True)
    yield
    for file in made:
        file.unlink()


def expected() -> list[str]:
    return re.findall(r"# expect: (.*)", PROGRAM.read_text())


@pytest.mark.usefixtures("bundled")
def test_std_modules_use_the_libraries_of_the_package(simple, hidden, url):
    done = simple(str(PROGRAM), url, LD_PRELOAD=hidden)
    assert (done.stdout.splitlines(), done.stderr, done.returncode) == (expected(), "", 0)


def test_the_systems_libraries_suffice(simple, url):
    done = simple(str(PROGRAM), url)
    assert (done.stdout.splitlines(), done.stderr, done.returncode) == (expected(), "", 0)


@pytest.mark.parametrize(
    ("code", "needed"),
    [
        ('use std.regex; regex.compile("a")', "a regular expression needs PCRE2 (libpcre2-8.so.0"),
        ('use std.hash; hash.md5("")', "std.hash needs OpenSSL (libcrypto.so.3"),
        ('use std.sqlite; sqlite.connect(":memory:")', "std.sqlite needs SQLite (libsqlite3.so.0"),
        ('use std.http; http.get("http://127.0.0.1:1/")', "std.http needs libcurl (libcurl.so.4"),
    ],
)
def test_without_a_library_the_error_names_it(simple, hidden, code, needed):
    done = simple("-e", code, LD_PRELOAD=hidden)
    assert (done.stdout, done.returncode) == ("", 1)
    assert needed in done.stderr and "a-library-that-this-system-does-not-have.so" in done.stderr


def test_the_build_bundles_what_the_host_opens():
    """Each name in C++ is one of CMake's."""
    root = HERE.parents[1]
    sources = [*(root / "host").rglob("*.cpp"), *(root / "core_libtorch").rglob("*.cpp")]
    opened = {name for file in sources for name in re.findall(r'"libsimple_torch_(\w+)\.so"', file.read_text())}
    (pairs,) = re.findall(r"foreach\(_pair (.*)\)", (root / "cmake" / "BundledLibraries.cmake").read_text())
    assert dict(pair.split(":") for pair in pairs.split()) == FILES
    assert opened >= FILES.keys() and opened - FILES.keys() <= {"events"}
