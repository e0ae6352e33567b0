"""The sum of the results of three test runners: a test that did not run is never counted as passed."""

import os
import re
import sys
from pathlib import Path

import pytest
from build_elsewhere import BuildElsewhere

import testing
from layout import ROOT, Build, full_environment
from testing import (
    _FORKING,
    _THREADED,
    CI_MINUTES,
    Counts,
    count_junit,
    count_summary,
    count_workers,
    duration,
    serial_paths,
    split_embedded,
    split_paths,
)

CTEST = """<testsuite name="release">
  <testcase name="A.b" classname="A.b" time="0.1" status="run"/>
  <testcase name="A.c" classname="A.c" time="0.1" status="fail"><failure message=""/></testcase>
  <testcase name="A.d" classname="A.d" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/></testcase>
</testsuite>"""
CTEST_NOT_BUILT = """<testsuite name="release">
  <testcase name="a_NOT_BUILT" status="notrun"><skipped message="Unable to find executable"/></testcase>
  <testcase name="A.DISABLED_b" status="disabled"/>
</testsuite>"""
PYTEST = """<testsuites><testsuite name="pytest" errors="1" failures="1" skipped="1" tests="4">
  <testcase classname="m" name="a"/>
  <testcase classname="m" name="b"><failure message="no"/></testcase>
  <testcase classname="m" name="c"><error message="no"/></testcase>
  <testcase classname="m" name="d"><skipped type="pytest.skip" message="no GPU"/></testcase>
</testsuite></testsuites>"""


def report(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "report.xml"
    file.write_text(text)
    return file


def test_ctest_report_is_counted_by_test_case(tmp_path):
    assert count_junit(report(tmp_path, CTEST), status=8) == Counts(1, 1, 1)


def test_not_built_or_disabled_tests_are_failures(tmp_path):
    assert count_junit(report(tmp_path, CTEST_NOT_BUILT), status=8) == Counts(failed=2)


def test_pytest_errors_count_as_failed(tmp_path):
    assert count_junit(report(tmp_path, PYTEST), status=1) == Counts(1, 2, 1)


def test_pending_tests_are_counted_separately(tmp_path):
    text = '<testsuite><testcase name="a"><skipped type="pytest.xfail" message="actors"/></testcase></testsuite>'
    assert count_junit(report(tmp_path, text), status=0) == Counts(pending=1)
    assert count_summary("12 passed, 0 failed, 3 skipped", status=0, before="2 pending") == Counts(12, 0, 3, 2)
    assert str(Counts(1, 2, 3, 4)) == "1 passed, 2 failed, 3 skipped"


def test_runner_without_a_report_is_a_failure(tmp_path):
    assert count_junit(tmp_path / "none.xml", status=0) == Counts(failed=1)


def test_failing_runner_without_a_failed_test_is_a_failure(tmp_path):
    assert count_junit(report(tmp_path, "<testsuite><testcase name='a'/></testsuite>"), status=2) == Counts(1, 1, 0)


def test_hosts_last_line_is_parsed():
    assert count_summary("12 passed, 0 failed, 3 skipped", status=0) == Counts(12, 0, 3)


def test_crashed_host_is_a_failure():
    assert count_summary("Segmentation fault", status=-11) == Counts(failed=1)
    assert count_summary("12 passed, 0 failed, 3 skipped", status=-11) == Counts(12, 1, 3)


def test_counts_add_up_to_the_last_line():
    assert str(Counts(1, 2, 3) + Counts(10, 20, 30)) == "11 passed, 22 failed, 33 skipped"


def test_paths_are_passed_to_their_runner():
    assert split_paths([]) == (["tests"], ["tests"])
    assert split_paths(["a_spec.spl", "b.py", "tests/host"]) == (["a_spec.spl", "tests/host"], ["b.py", "tests/host"])


PARALLEL = """
import os, pathlib, pytest
def note(place): pathlib.Path(place).write_text(os.environ.get("PYTEST_XDIST_WORKER", "alone"))
@pytest.mark.parametrize("n", range(3))
def test_shares_the_machine(n): note(f"{__file__}.{n}")
def test_fails(): assert False
"""
MARKED = (
    PARALLEL
    + """
@pytest.mark.serial
def test_measures_time(): note(__file__ + ".serial")
"""
)


def test_tests_marked_as_serial_run_alone_after_the_others(tmp_path, monkeypatch):
    pytest.importorskip("xdist")
    monkeypatch.setattr(testing, "ROOT", tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = serial: alone\n")
    tests = tmp_path / "tests"
    for name, text in (("a", PARALLEL), ("b", PARALLEL), ("c", MARKED)):
        (tests / name).mkdir(parents=True)
        (tests / name / f"test_{name}.py").write_text(text)
    assert serial_paths(["tests"]) == ["tests/c/test_c.py"]
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    counts = testing._pytest(BuildElsewhere(place=tmp_path), sys.executable, ["tests"], None, variables, workers=2)
    assert counts == Counts(passed=10, failed=3)
    ran = {file.name: file.read_text() for file in tests.rglob("test_*.py.*")}
    assert len(ran) == 10 and ran.pop("test_c.py.serial") == "alone"
    workers = {name: {ran[f"test_{name}.py.{n}"] for n in range(3)} for name in "abc"}
    assert {worker for found in workers.values() for worker in found} == {"gw0", "gw1"}
    assert all(len(found) == 1 for found in workers.values())  # a file's tests share its fixtures


def test_only_files_and_tests_with_the_mark_run_again():
    marked = "tests/library/test_einsum.py"
    assert marked in serial_paths(["tests"]) and marked in serial_paths(["tests/library"])
    assert serial_paths([f"{marked}::test_a", "tests/host/none.py", "tests/cli/test_build.py"]) == [f"{marked}::test_a"]


def test_one_file_sanitizers_and_runs_without_pytorch_have_one_process():
    release, env = Build("release"), full_environment("2.15")
    assert count_workers(release, env, ["tests"], 4) == count_workers(release, env, ["tests/host", "tests/cli"], 4) == 4
    assert count_workers(release, env, ["tests/library/test_einsum.py"], 4) == 1
    assert count_workers(release, env, ["tests/library/test_einsum.py::test_a"], 4) == 1
    assert count_workers(Build("asan"), env, ["tests"], 4) == 1
    assert count_workers(release, None, ["tests"], 4) == 1


def library_loaders() -> set[str]:
    """The modules that load the library into their process: those of tests/support that import another one."""
    loaders = {"simple_torch"}
    while True:
        found = {file.stem for file in (ROOT / "tests/support").glob("*.py") if imports_any(file, loaders)}
        if found <= loaders:
            return loaders
        loaders |= found


def imports_any(file: Path, modules: set[str]) -> bool:
    return re.search(rf"^(import|from) ({'|'.join(modules)})\b", file.read_text(), re.M) is not None


def test_every_file_that_loads_the_library_is_listed():
    loaders = library_loaders()
    files = [str(file.relative_to(ROOT)) for file in (ROOT / "tests").rglob("test_*.py") if imports_any(file, loaders)]
    assert len(files) > 50
    assert [file for file in files if split_embedded([file])[1] == []] == []


def test_tests_that_load_the_library_run_separately():
    assert split_embedded(["tests/abi/test_fuzz.py"]) == ([], ["tests/abi/test_fuzz.py"])
    assert split_embedded(["tests/host", "tests/opinfo/test_errors.py"]) == (
        ["tests/host"],
        ["tests/opinfo/test_errors.py"],
    )
    assert split_embedded(["tests/abi"]) == (
        ["tests/abi"],
        ["tests/abi/test_fuzz.py", "tests/abi/test_embedded.py", "tests/abi/test_nodes.py"],
    )


def test_names_chosen_for_the_thread_sanitizer_exist():
    tests = re.compile(r"^TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)", re.M)
    commands = re.compile(r"add_test\(\s*NAME (\S+)")
    names = [".".join(found) for file in (ROOT / "tests").rglob("*.cpp") for found in tests.findall(file.read_text())]
    names += [
        found for file in (ROOT / "tests").rglob("CMakeLists.txt") for found in commands.findall(file.read_text())
    ]
    unmatched = [part for part in _THREADED.split("|") if not any(re.search(part, name) for name in names)]
    assert unmatched == []
    assert [name for name in _FORKING if name not in names] == []


def test_the_time_of_a_short_run_has_the_limit_of_continuous_integration():
    assert duration(3600, is_short=True) == "== set-up, build and tests: 3600 s"
    assert duration(3601, is_short=False) == "== set-up, build and tests: 3601 s"
    late = "== set-up, build and tests: 3601 s; warning: continuous integration stops after 3600 s"
    assert duration(3601, is_short=True) == late
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    assert "run: .ci/run" in text and {int(n) for n in re.findall(r"timeout-minutes: (\d+)", text)} == {15, CI_MINUTES}
