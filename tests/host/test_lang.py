"""Runs every tests/host/lang/*.spl, and the host's commands."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from programs import hold, host, is_sanitized, run

FOLDER = Path(__file__).parent / "lang"


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.spl")), ids=lambda file: file.stem)
def test_program(file: Path) -> None:
    hold(file)


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
    result = run("-e", code)
    assert (result.returncode, result.stdout) == (status, output), result.stderr


def test_an_error_shows_its_line_and_the_calls(tmp_path: Path) -> None:
    file = tmp_path / "deep.spl"
    file.write_text('fn inner(): panic("broken")\nfn outer():\n    inner()\nouter()\n')
    assert run(file).stderr == (
        f"{file}:1:13: error: broken\n"
        '  fn inner(): panic("broken")\n'
        "              ^\n"
        "  stack (most recent call first):\n"
        f"    inner ({file}:1:13)\n"
        f"    outer ({file}:3:5)\n"
        f"    module ({file}:4:1)\n"
    )


def test_a_long_stack_is_cut_in_its_middle(tmp_path: Path) -> None:
    file = tmp_path / "deep.spl"
    file.write_text('fn down(n):\n    if n == 0: panic("bottom")\n    down(n - 1)\ndown(100)\n')
    calls = run(file).stderr.split("most recent call first):\n")[1].splitlines()
    assert len(calls) == 41
    assert calls[20].strip() == "… 62 more calls"
    assert calls[-1].strip() == f"module ({file}:4:1)"


def test_a_drop_without_end_does_not_keep_a_full_stack_busy(tmp_path: Path) -> None:
    file = tmp_path / "deep.spl"
    file.write_text(
        "class Held:\n    fn deep(): self.deep()\n    fn drop(): self.deep()\n"
        "fn down():\n    val held = Held()\n    down()\ndown()\n"
    )
    lines = run(file).stderr.splitlines()
    lost = "warning: error ignored in drop() of Held: recursion too deep ("
    assert sum(line.startswith(lost) for line in lines) > 10_000
    assert f"{file}:6:5: error: recursion too deep" in lines


def test_a_long_line_is_shown_round_its_fault(tmp_path: Path) -> None:
    file = tmp_path / "long.spl"
    file.write_text("val xs = [" + ", ".join(f"{i}" for i in range(100)) + ", wrong, " + "1, " * 100 + "1]\n")
    _, shown, caret, *_ = run(file).stderr.splitlines()
    assert shown.startswith("  …") and shown.endswith("…") and len(shown) < 170
    assert shown[caret.index("^") :].startswith("wrong, ")


@pytest.mark.skipif(is_sanitized(), reason="the sanitizer needs the whole address space")
def test_threads_that_cannot_be_started_are_an_error(tmp_path: Path) -> None:
    file = tmp_path / "many.spl"
    file.write_text("fn deeper(n): thread.spawn(\\: deeper(n + 1)).join() + 1\ndeeper(0)\n")
    with_little_memory = ["sh", "-c", 'ulimit -v 2000000; exec "$@"', "sh"]
    result = subprocess.run(
        [*with_little_memory, host(), str(file)], capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == 1, result.stderr
    messages = ("cannot start more threads", "thread: cannot allocate a stack", "out of memory")
    assert any(f"error: {message}" in result.stderr for message in messages), result.stderr


def test_columns_of_code_on_the_command_line_are_those_of_its_text() -> None:
    result = run("-e", "val a = 1; val b = ; print a")
    assert result.returncode == 1
    assert result.stderr.startswith("command line:1:20: error: expected an expression, found ';'\n")


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
    result = run("test", tmp_path)
    assert result.stdout.splitlines()[-1] == "1 passed, 2 failed, 1 skipped"
    assert result.returncode == 1
    assert "expected 1 to equal 2" in result.stdout
