"""Command lines of programs, and the search for their modules."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from programs import host, run


@pytest.mark.parametrize("words", [[], ["run"]], ids=["the file alone", "run"])
def test_a_file_runs_with_its_arguments(tmp_path: Path, words: list[str]) -> None:
    file = tmp_path / "program.spl"
    file.write_text("extern fn rt_args() -> [text]\nprint rt_args()\n")
    result = run(*words, file, "one", "--two")
    assert (result.returncode, result.stdout) == (0, "[one, --two]\n"), result.stderr


@pytest.mark.parametrize(
    "words", [["--help"], ["-h"], ["run", "--help"], ["test", "--help"], ["--verbose", "test", "-h"]], ids=" ".join
)
def test_help_describes_the_commands(words: list[str]) -> None:
    result = run(*words)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("usage: simple-host ")


def test_help_after_a_program_belongs_to_the_program(tmp_path: Path) -> None:
    (tmp_path / "program.spl").write_text("extern fn rt_args() -> [text]\nprint rt_args()\n")
    assert run("run", tmp_path / "program.spl", "--help").stdout == "[--help]\n"


@pytest.mark.parametrize(
    ("path", "reason"), [("/no/such.spl", "No such file or directory"), ("/usr", "Is a directory")]
)
def test_a_file_that_cannot_be_read_is_reported_with_the_reason(path: str, reason: str) -> None:
    result = run(path)
    assert (result.returncode, result.stderr) == (1, f"{path}: error: cannot read file: {reason}\n")


def test_modules_are_found_next_to_the_program_in_any_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "one.spl").write_text("use parts.two.{value}\nfn doubled(): value * 2\n")
    (tmp_path / "parts" / "two.spl").write_text("val value = 21\n")
    (tmp_path / "program.spl").write_text("use parts.one.{doubled}\nprint doubled()\n")
    monkeypatch.chdir("/")
    assert run(tmp_path / "program.spl").stdout == "42\n"


@pytest.mark.parametrize("root", [".", "lib"], ids=["the current folder", "its lib"])
def test_modules_are_found_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: str) -> None:
    (tmp_path / root).mkdir(exist_ok=True)
    (tmp_path / root / "helper.spl").write_text("val value = 7\n")
    monkeypatch.chdir(tmp_path)
    assert run("-e", "use helper.{value}; print value").stdout == "7\n"


def test_modules_are_found_below_SIMPLE_LIB_also_as_std_and_lib(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "helper.spl").write_text("val value = 7\n")
    roots = [str(tmp_path), *filter(None, [os.environ.get("SIMPLE_LIB")])]
    monkeypatch.setenv("SIMPLE_LIB", ":".join(roots))
    code = "use helper; use std.helper as a; use lib.helper as b; print helper.value, a == helper, b == helper"
    assert run("-e", code).stdout == "7 true true\n"


def test_a_failure_inside_an_import_is_reported_at_the_modules_line(tmp_path: Path) -> None:
    (tmp_path / "broken.spl").write_text("val xs = [1]\nval x = xs[5]\n")
    (tmp_path / "program.spl").write_text('print "first"\nuse broken\nprint "not reached"\n')
    result = run(tmp_path / "program.spl")
    assert result.returncode == 1
    assert result.stderr.startswith(f"{tmp_path / 'broken.spl'}:2:")
    assert "index 5 is out of range" in result.stderr
    assert f"    module ({tmp_path / 'program.spl'}:2:1)\n" in result.stderr


def test_modules_that_need_each_other_at_once_are_reported(tmp_path: Path) -> None:
    (tmp_path / "hen.spl").write_text("use egg.{shell}\nval feather = shell + 1\n")
    (tmp_path / "egg.spl").write_text("use hen.{feather}\nval shell = feather + 1\n")
    (tmp_path / "program.spl").write_text("use hen\n")
    stderr = run(tmp_path / "program.spl").stderr
    assert "egg.spl:2:13: error: cannot import 'feather' from module hen: it is not initialized yet\n" in stderr
    assert "hint: circular import: use the name in a function" in stderr
    calls = [line.split("(")[1].split("/")[-1] for line in stderr.split("most recent call first):\n")[1].splitlines()]
    assert calls == ["egg.spl:2:13)", "hen.spl:1:1)", "program.spl:1:1)"]


def test_a_syntax_error_inside_an_import_is_reported_at_the_modules_line(tmp_path: Path) -> None:
    (tmp_path / "broken.spl").write_text("val x = 1\nfn f(\n")
    (tmp_path / "program.spl").write_text("use broken\n")
    result = run(tmp_path / "program.spl")
    assert result.returncode == 1
    assert result.stderr.startswith(f"{tmp_path / 'broken.spl'}:")
    assert result.stderr.endswith(f"  imported by {tmp_path / 'program.spl'}:1\n")


def test_a_future_that_nobody_awaits_does_not_fail_in_silence(tmp_path: Path) -> None:
    file = tmp_path / "lost.spl"
    file.write_text(
        "async fn fails(): [1][4]\n"
        "fn f():\n"
        "    val future = fails()\n"
        "    while not future.is_finished():\n"
        "        thread.yield_now()\n"
        "f()\n"
        'print "end"\n'
    )
    result = run(file)
    assert (result.returncode, result.stdout) == (0, "end\n")
    assert "error ignored in an async function that was never awaited: index 4 is out of range" in result.stderr


def test_main_gets_the_arguments(tmp_path: Path) -> None:
    file = tmp_path / "words.spl"
    file.write_text("fn main(words: [text]) -> i64:\n    print words\n    words.len()\n")
    done = run(file, "a", "b c")
    assert (done.returncode, done.stdout) == (2, "[a, b c]\n")


def test_a_long_chain_of_defaults_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "chain.spl"
    file.write_text("print " + "nil ?? " * 20000 + "1\n")
    done = run(file)
    assert done.returncode == 1
    assert "nested too deeply" in done.stderr


def test_output_that_cannot_be_written_is_an_error() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([host(), "-e", "print 1"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert "cannot write to standard output" in done.stderr


def test_an_error_in_deferred_code_of_a_generator_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "lost.spl"
    file.write_text('fn steps():\n    defer panic("late")\n    yield 1\nprint next(steps())\n')
    done = run(file)
    assert (done.returncode, done.stdout) == (0, "1\n")
    assert "deferred code of an unfinished generator: late" in done.stderr


def test_the_failure_of_a_thread_that_nobody_joins_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "lost.spl"
    file.write_text(
        'val t = thread.spawn(\\: panic("alone"))\nwhile not t.is_finished(): thread.yield_now()\nprint "end"\n'
    )
    done = run(file)
    assert (done.returncode, done.stdout) == (0, "end\n")
    assert "a thread that was never joined: alone" in done.stderr
