"""Where native functions are looked for, and what functions of Simple do that native code calls."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from programs import run

NEGATE = "extern fn rt_probe_negate(x: i64) -> i64\nprint rt_probe_negate(5)\n"


def program(folder: Path, text: str) -> Path:
    file = folder / "program.spl"
    file.write_text(text)
    return file


@pytest.mark.parametrize("variable", ["SIMPLE_TORCH_RUNTIME_PATH", "SIMPLE_RUNTIME_PATH"])
def test_two_variables_name_library_files(
    tmp_path: Path, native_library: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    library = tmp_path / "any_name.so"
    shutil.copy(native_library, library)
    monkeypatch.delenv("SIMPLE_SFFI_PATH")
    monkeypatch.setenv(variable, str(library))
    assert run(program(tmp_path, NEGATE)).stdout == "-5\n"


def test_one_variable_names_folders(tmp_path: Path, native_library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMPLE_SFFI_PATH", f"{tmp_path}/absent:{native_library.parent}")
    assert run(program(tmp_path, NEGATE)).stdout == "-5\n"


def test_an_unknown_function_error_lists_the_searched_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMPLE_SFFI_PATH", str(tmp_path))
    result = run(program(tmp_path, NEGATE))
    assert result.returncode == 1
    assert "error: unknown extern function: rt_probe_negate; searched in" in result.stderr
    assert f"\n  {tmp_path}/libspl_probe.so (not found)\n" in result.stderr


def test_a_file_that_is_not_a_library_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "libspl_probe.so").write_text("no library")
    monkeypatch.setenv("SIMPLE_SFFI_PATH", str(tmp_path))
    result = run(program(tmp_path, NEGATE))
    assert f"{tmp_path}/libspl_probe.so ({tmp_path}/libspl_probe.so: file too short)" in result.stderr


def test_an_error_on_a_native_thread_is_reported_and_returns_zero(tmp_path: Path) -> None:
    file = program(
        tmp_path,
        "extern fn rt_probe_in_threads(f: fn(i64) -> i64) -> i64\n"
        'fn picky(x: i64) -> i64:\n    if x == 399: panic("no more")\n    x\n'
        "print rt_probe_in_threads(picky)\n",
    )
    result = run(file)
    assert result.stdout == f"{sum(range(399))}\n"
    assert result.returncode == 0
    assert "no more" in result.stderr


def test_exit_in_a_function_that_native_code_calls_ends_the_program(tmp_path: Path) -> None:
    file = program(
        tmp_path,
        'extern fn rt_probe_twice(f: fn(i64) -> i64, x: i64) -> i64\nrt_probe_twice(\\x: exit(7), 1)\nprint "never"\n',
    )
    result = run(file)
    assert (result.stdout, result.returncode) == ("", 7)


def test_functions_on_simple_threads_and_native_threads_alternate(tmp_path: Path) -> None:
    file = program(
        tmp_path,
        "extern fn rt_probe_in_threads(f: fn(i64) -> i64) -> i64\n"
        "class Count:\n    calls: i64 = 0\n"
        "val count = Count()\n"
        "fn note(x: i64) -> i64:\n    count.calls = count.calls + 1\n    x\n"
        "fn work() -> i64:\n    var sum = 0\n    for i in 0..10:\n        sum += rt_probe_in_threads(note)\n    sum\n"
        "val threads = [for i in 0..4: thread.spawn(work)]\n"
        "print threads.map(\\t: t.join())\n"
        "print count.calls\n",
    )
    assert run(file).stdout == f"{[10 * sum(range(400))] * 4}\n16000\n"
