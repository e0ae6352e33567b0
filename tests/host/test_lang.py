"""Runs every tests/host/lang/*.spl and holds its output against the comments beside the statements.

`# expect: TEXT` is one line of standard output, in the file's order. `# expect error: TEXT` marks the line at which
the program must stop: the first line of standard error is then `FILE:LINE: error: MESSAGE` with TEXT in the message
(a syntax error names the column too), and the exit code is 1.

SIMPLE_HOST names the host's executable. The C compiler builds the library that externs.spl calls.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "lang"
OUTPUT = re.compile(r"# expect: ?(.*)$")
ERROR = re.compile(r"# expect error: (.*)$")
TIME_LIMIT_S = 60


def host() -> str:
    """The host's executable."""
    path = os.environ.get("SIMPLE_HOST")
    if not path:
        pytest.fail("SIMPLE_HOST does not name the host's executable")
    return path


@pytest.fixture(scope="session", autouse=True)
def native_library(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Builds lang/externs.c into libspl_probe.so and lets the host find it."""
    folder = tmp_path_factory.mktemp("native")
    headers = FOLDER.parents[2] / "abi" / "include"
    command = [os.environ.get("CC", "cc"), "-std=c99", "-shared", "-fPIC", f"-I{headers}"]
    subprocess.run([*command, "-o", str(folder / "libspl_probe.so"), str(FOLDER / "externs.c")], check=True)
    os.environ["SIMPLE_SFFI_PATH"] = str(folder)


def run(file: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs one program, with `words` before its name."""
    return subprocess.run(
        [host(), *words, str(file)], capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False
    )


def expectations(file: Path) -> tuple[list[str], tuple[int, str] | None]:
    """The lines that `file` should print, and where and how it should stop."""
    lines: list[str] = []
    error = None
    for number, line in enumerate(file.read_text().splitlines(), start=1):
        if found := ERROR.search(line):
            error = (number, found[1].strip())
        elif found := OUTPUT.search(line):
            lines.append(found[1].rstrip())
    return lines, error


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.spl")), ids=lambda file: file.stem)
def test_program(file: Path) -> None:
    lines, error = expectations(file)
    assert lines or error, "the file expects nothing"
    result = run(file)
    assert [line.rstrip() for line in result.stdout.splitlines()] == lines, result.stderr
    if error is None:
        assert (result.returncode, result.stderr) == (0, "")
        return
    number, message = error
    first = result.stderr.splitlines()[0] if result.stderr else ""
    assert re.match(rf"{re.escape(str(file))}:{number}:(\d+:)? error: ", first), result.stderr
    assert message in first
    assert result.returncode == 1


@pytest.mark.parametrize(
    ("code", "status", "output"),
    [
        ('print "hi"', 0, "hi\n"),
        ("val a = 2; print a + 3", 0, "5\n"),
        ("exit(7)", 7, ""),
        ("fn main() -> i64: 9", 9, ""),
    ],
)
def test_code_on_the_command_line(code: str, status: int, output: str) -> None:
    result = subprocess.run([host(), "-e", code], capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False)
    assert (result.returncode, result.stdout) == (status, output), result.stderr


def test_verbose_shows_the_source_line_and_the_calls(tmp_path: Path) -> None:
    file = tmp_path / "deep.spl"
    file.write_text("fn inner(): panic(\"broken\")\nfn outer():\n    inner()\nouter()\n")
    plain, verbose = run(file), run(file, "--verbose")
    assert plain.stderr == f"{file}:1: error: broken\n"
    assert verbose.stderr.startswith(plain.stderr)
    assert "fn inner(): panic" in verbose.stderr
    assert "outer" in verbose.stderr


def test_a_missing_file_is_one_clear_line(tmp_path: Path) -> None:
    result = run(tmp_path / "absent.spl")
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1
    assert "absent.spl" in result.stderr


def test_specs_are_summed_over_files(tmp_path: Path) -> None:
    (tmp_path / "good_spec.spl").write_text(
        'describe "numbers":\n    it "adds":\n        expect(1 + 1).to_equal(2)\n'
        '    it "waits":\n        skip("no hardware")\n'
    )
    (tmp_path / "bad_spec.spl").write_text('describe "numbers":\n    it "fails":\n        expect(1).to_equal(2)\n')
    (tmp_path / "broken_spec.spl").write_text("fn (\n")
    result = subprocess.run(
        [host(), "test", str(tmp_path)], capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False
    )
    assert result.stdout.splitlines()[-1] == "1 passed, 2 failed, 1 skipped"
    assert result.returncode == 1
    assert "expected 1 to equal 2" in result.stdout
