"""The whole output of spec runs: groups, examples, sums, colors, exit codes."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

import pytest

from programs import TIME_LIMIT_S, host, run

STACK = """\
describe "Stack":
    var s = []
    before_each:
        s = [1]
    context "after a push":
        it "grows":
            s.push(2)
            expect(s.len()).to_equal(2)
            expect s[0] == 1
        it "is wrong":
            expect(s.len()).to_equal(4)
    it "needs a device":
        skip("no device")
    pending "comes later"
"""

STACK_OUTPUT = """\
Stack
  after a push
    ✓ grows
    ✗ is wrong
      expected 1 to equal 4
  ○ needs a device (skipped)
    no device
  ○ comes later (skipped)

4 examples, 1 failure
"""


def spec(folder: Path, name: str, text: str) -> Path:
    file = folder / f"{name}_spec.spl"
    file.write_text(text)
    return file


def test_a_spec_that_is_run_by_itself_prints_its_groups(tmp_path: Path) -> None:
    result = run(spec(tmp_path, "stack", STACK))
    assert result.stdout == STACK_OUTPUT
    assert (result.returncode, result.stderr) == (1, "")


def test_the_runner_adds_the_failures_and_the_sums(tmp_path: Path) -> None:
    file = spec(tmp_path, "stack", STACK)
    result = run("test", file)
    assert result.stdout == STACK_OUTPUT + (
        "\n"
        "Failures:\n"
        f"  {file}:11: Stack after a push is wrong\n"
        "    expected 1 to equal 4\n"
        "\n"
        "Results: 4 total, 1 passed, 1 failed\n"
        "1 pending\n"
        "1 passed, 1 failed, 1 skipped\n"
    )
    assert (result.returncode, result.stderr) == (1, "")


def test_a_passing_spec_exits_with_zero(tmp_path: Path) -> None:
    file = spec(tmp_path, "one", 'describe "one":\n    it "holds":\n        expect 1 == 1\n')
    output = "one\n  ✓ holds\n\n1 example, 0 failures\n"
    alone, counted = run(file), run("test", file)
    assert (alone.stdout, alone.returncode) == (output, 0)
    assert counted.stdout == output + "\nResults: 1 total, 1 passed, 0 failed\n1 passed, 0 failed, 0 skipped\n"
    assert counted.returncode == 0


@pytest.mark.parametrize(
    "imports",
    ["", "use std.spec.{describe, it, expect, context}\n", "use std.spec.*\n", "use std.sspec\n", "import std.spec\n"],
)
def test_every_import_form_is_accepted(tmp_path: Path, imports: str) -> None:
    file = spec(tmp_path, "words", imports + 'describe "words":\n    it "work":\n        expect(1).to_equal(1)\n')
    result = run(file)
    assert result.stdout == "words\n  ✓ work\n\n1 example, 0 failures\n", result.stderr


def test_a_failure_without_a_matcher_is_placed_at_its_line(tmp_path: Path) -> None:
    file = spec(tmp_path, "bare", 'describe "bare":\n    it "fails":\n        expect 1 == 1\n        expect 1 > 2\n')
    assert f"\n  {file}:4: bare fails\n    expected 1 to be greater than 2\n" in run("test", file).stdout


def test_an_error_reports_its_location_and_the_next_example_runs(tmp_path: Path) -> None:
    file = spec(
        tmp_path, "error", 'describe "e":\n    it "stops":\n        1 / 0\n    it "runs":\n        check(true)\n'
    )
    assert run(file).stdout == (f"e\n  ✗ stops\n    division by zero ({file}:3)\n  ✓ runs\n\n2 examples, 1 failure\n")


def test_an_error_in_a_group_is_a_failure_and_the_next_group_runs(tmp_path: Path) -> None:
    file = spec(
        tmp_path,
        "group",
        'describe "first":\n    context "inner":\n        1 / 0\n    it "runs":\n        check(true)\n'
        'describe "second":\n    it "runs":\n        check(true)\n',
    )
    assert run(file).stdout == (
        f"first\n  inner\n    ✗ error outside of examples\n      division by zero ({file}:3)\n  ✓ runs\n"
        "\n2 examples, 1 failure\n"
        "second\n  ✓ runs\n\n1 example, 0 failures\n"
    )


def test_a_hook_that_fails_fails_its_example_and_the_others_still_run(tmp_path: Path) -> None:
    file = spec(
        tmp_path,
        "hook",
        'var first = true\ndescribe "hooks":\n    before_each:\n        if first:\n            first = false\n'
        '            panic("not ready")\n    after_each:\n        print "left"\n    it "is unlucky":\n'
        '        check(true)\n    it "is lucky":\n        check(true)\n',
    )
    assert run(file).stdout == (
        f"hooks\nleft\n  ✗ is unlucky\n    not ready ({file}:6)\nleft\n  ✓ is lucky\n\n2 examples, 1 failure\n"
    )


def test_specs_are_found_in_folders_in_order_and_summed(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    for folder, name in [(tmp_path, "b"), (tmp_path, "a"), (inner, "c")]:
        spec(folder, name, f'describe "{name}":\n    it "holds":\n        check(true)\n')
    (tmp_path / "no_example.spl").write_text('print "never"\n')
    result = run("test", tmp_path)
    groups = [line for line in result.stdout.splitlines() if line in ("a", "b", "c")]
    assert groups == ["a", "b", "c"]
    assert "never" not in result.stdout
    assert result.stdout.splitlines()[-2:] == ["Results: 3 total, 3 passed, 0 failed", "3 passed, 0 failed, 0 skipped"]


def test_several_paths_are_run_and_a_missing_one_is_reported(tmp_path: Path) -> None:
    files = [spec(tmp_path, name, f'describe "{name}":\n    it "holds":\n        check(true)\n') for name in "ab"]
    assert run("test", *files).stdout.splitlines()[-1] == "2 passed, 0 failed, 0 skipped"
    missing = run("test", tmp_path / "absent_spec.spl")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "absent_spec.spl" in missing.stderr


def test_the_filter_keeps_examples_by_their_full_names(tmp_path: Path) -> None:
    file = spec(
        tmp_path,
        "filter",
        'describe "one":\n    context "red":\n        it "shines":\n            check(true)\n'
        '    context "blue":\n        it "shines":\n            check(true)\n    pending "blue moon"\n'
        'describe "two":\n    it "is green":\n        check(true)\n',
    )
    result = run("test", file, "--filter", "red shines")
    assert result.stdout == (
        "one\n  red\n    ✓ shines\n\n1 example, 0 failures\n"
        "\nResults: 1 total, 1 passed, 0 failed\n1 passed, 0 failed, 0 skipped\n"
    )


def test_without_an_example_there_is_no_line_of_results(tmp_path: Path) -> None:
    file = spec(tmp_path, "none", 'describe "one":\n    it "holds":\n        check(true)\n')
    result = run("test", file, "--filter", "no such name")
    assert result.stdout == "\n0 passed, 0 failed, 0 skipped\n"


def test_a_spec_that_cannot_be_read_counts_as_a_failure(tmp_path: Path) -> None:
    broken = spec(tmp_path, "broken", "fn (\n")
    good = spec(tmp_path, "good", 'describe "good":\n    it "holds":\n        check(true)\n')
    result = run("test", broken, good)
    assert result.stdout.splitlines()[-1] == "1 passed, 1 failed, 0 skipped"
    assert result.returncode == 1
    assert f"{broken}:1:5: error: " in result.stderr


def on_a_terminal(*words: str | Path) -> str:
    """The output of the host when its standard output is a terminal."""
    try:
        ours, theirs = pty.openpty()
    except OSError as error:
        pytest.skip(f"this machine has no pseudo-terminals: {error}")
    with subprocess.Popen([host(), *map(str, words)], stdout=theirs, stdin=subprocess.DEVNULL) as process:
        os.close(theirs)
        output = b""
        try:
            while block := os.read(ours, 65536):
                output += block
        except OSError:  # the terminal is closed when the host has ended
            pass
        process.wait(TIME_LIMIT_S)
    os.close(ours)
    return output.decode().replace("\r\n", "\n")


def test_a_terminal_gets_colors(tmp_path: Path) -> None:
    green, red, yellow, plain = "\x1b[32m", "\x1b[31m", "\x1b[33m", "\x1b[0m"
    assert on_a_terminal(spec(tmp_path, "stack", STACK)) == (
        "Stack\n"
        "  after a push\n"
        f"{green}    ✓ grows{plain}\n"
        f"{red}    ✗ is wrong{plain}\n"
        f"{red}      expected 1 to equal 4{plain}\n"
        f"{yellow}  ○ needs a device (skipped){plain}\n"
        f"{yellow}    no device{plain}\n"
        f"{yellow}  ○ comes later (skipped){plain}\n"
        "\n"
        f"{red}4 examples, 1 failure{plain}\n"
    )
    holds = spec(tmp_path, "holds", 'describe "one":\n    it "holds":\n        check(true)\n')
    assert on_a_terminal(holds).endswith(f"\n\n{green}1 example, 0 failures{plain}\n")


def test_descriptions_keep_their_braces(tmp_path: Path) -> None:
    file = spec(tmp_path, "braces", 'describe "a {b}":\n    it "c {d:>3} {e f}":\n        check(true)\n')
    assert run(file).stdout == "a {b}\n  ✓ c {d:>3} {e f}\n\n1 example, 0 failures\n"


def test_examples_outside_a_group_are_counted(tmp_path: Path) -> None:
    file = spec(tmp_path, "alone", 'it "stands alone":\n    expect 1 == 1\nit "fails":\n    expect 1 == 2\n')
    result = run("test", file)
    assert result.stdout.startswith("✓ stands alone\n✗ fails\n  expected 1 to equal 2\n")
    assert result.stdout.splitlines()[-1] == "1 passed, 1 failed, 0 skipped"


def test_a_spec_that_calls_exit_is_a_failure(tmp_path: Path) -> None:
    spec = tmp_path / "leaving_spec.spl"
    spec.write_text('describe "leaving":\n    it "goes":\n        exit(0)\n    it "never runs":\n        check(true)\n')
    done = run("test", spec)
    assert done.returncode == 1
    assert "exit(0) called: the rest of the file did not run" in done.stdout
    assert done.stdout.splitlines()[-1] == "0 passed, 1 failed, 0 skipped"


def test_an_error_in_an_example_is_explained_at_the_end(tmp_path: Path) -> None:
    file = spec(tmp_path, "deep", 'fn inner(x): x.foo\ndescribe "d":\n    it "stops":\n        inner(nil)\n')
    assert (
        f"  {file}:1: d stops\n"
        "    nil has no field foo\n"
        "      fn inner(x): x.foo\n"
        "                     ^\n"
        "      hint: the value is nil; ?. returns nil for a member of nil\n"
        "      stack (most recent call first):\n"
        f"        inner ({file}:1:16)\n"
        f"        block ({file}:4:9)\n"
    ) in run("test", file).stdout
