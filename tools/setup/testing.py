"""Runs every test: GoogleTest through ctest, .spl specs by the host, pytest. Counts them together."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from building import jobs, memory_bytes
from layout import ROOT, SANITIZED, Build, Environment

# Tests that load the library into their own Python process.
_EMBEDDED = (
    "tests/abi/test_fuzz.py",
    "tests/abi/test_embedded.py",
    "tests/abi/test_nodes.py",
    "tests/attribution",
    "tests/autograd",
    "tests/bridge/test_async_functions.py",
    "tests/bridge/test_declared_types.py",
    "tests/bridge/test_generators.py",
    "tests/bridge/test_inheritance.py",
    "tests/bridge/test_jupyter_and_xdist.py",
    "tests/bridge/test_loading.py",
    "tests/bridge/test_lost_errors.py",
    "tests/bridge/test_packages.py",
    "tests/bridge/test_python_process.py",
    "tests/bridge/test_sequences.py",
    "tests/bridge/test_sessions.py",
    "tests/bridge/test_signals.py",
    "tests/bridge/test_simple_functions.py",
    "tests/bridge/test_simple_in_python.py",
    "tests/bridge/test_simple_objects.py",
    "tests/bridge/test_simple_types.py",
    "tests/bridge/test_views.py",
    "tests/cli/test_versions.py",
    "tests/data",
    "tests/deployment",
    "tests/distributions",
    "tests/dlpack/test_move.py",
    "tests/dlpack/test_python_callbacks.py",
    "tests/dlpack/test_python_type.py",
    "tests/dlpack/test_reentry.py",
    "tests/dlpack/test_streams.py",
    "tests/examples/test_guides.py",
    "tests/files",
    "tests/library",
    "tests/metrics",
    "tests/modules",
    "tests/notebooks",
    "tests/onnx",
    "tests/opinfo",
    "tests/optim",
    "tests/packaging/test_command.py",
    "tests/packaging/test_consumers.py",
    "tests/text",
    "tests/training/test_event_safety.py",
    "tests/training/test_mnist_criterion.py",
    "tests/vision",
)
# The tests for the thread sanitizer, which does not instrument Python and LibTorch. It kills a forked process that
# starts threads, as the workers of a DataLoader do.
_THREADED = r"^Handles\.|^Threads\.|^MemoryRelease\.|AreSeparateForEachThread|planted_race"
_FORKING = (
    "Threads.OfADataLoadersProcessesWork",
    "Threads.ThatEndedBeforeAForkDoNotAffectTheChild",
    "Threads.ThatForkWithoutTheGilCannotCallPythonInTheChild",
    "MemoryRelease.HappensInAForkedProcess",
)
PACKAGES = "tests/packages"
# Tests of packages that only the environment of tests/packages has; elsewhere they are skipped.
_QUANTIZATION = (
    "tests/deployment",
    *(f"tests/examples/test_guides.py::test_prints_the_guides_output[quantization.md-{block}]" for block in (1, 2)),
)
NOTEBOOKS = "tests/notebooks"
_STARTED = time.monotonic()  # before the set-up
CI_MINUTES = 60  # timeout-minutes in .github/workflows/ci.yml
_SERIAL = "serial"  # the mark of tests that measure time: they run when no other test does
_IN_A_BROWSER = "tests/website/test_browser.py"
_SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")
_PENDING = re.compile(r"^(\d+) pending$")


@dataclass(frozen=True)
class Counts:
    """The outcomes of a suite's tests."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0  # the hardware is absent
    pending: int = 0  # waiting for a feature

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.passed + other.passed,
            self.failed + other.failed,
            self.skipped + other.skipped,
            self.pending + other.pending,
        )

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def run_tests(
    tree: Build,
    env: Environment | None,
    *,
    paths: Sequence[str],
    name_filter: str | None,
    long: bool,
    packages: Environment | None = None,
) -> int:
    """Runs the suites and prints the sum as the last line; returns the exit code.

    Args:
        tree: the build to test.
        env: the environment whose torch and Python are used; None: without PyTorch.
        paths: only these spec and pytest files or folders; empty: everything, GoogleTest too.
        name_filter: only tests whose name holds this text.
        long: full counts where tests have reduced ones.
        packages: the environment in which all of tests/packages runs, after the other suites.
    """
    variables = test_variables(tree, env, long=long)
    if env:
        print(f"CPU capability: {cpu_capability(env, variables)}", flush=True)
    if tree.preset == "tsan":
        return _threaded_tests(tree, paths, name_filter, variables)
    specs, pythons = split_paths(paths)
    total = Counts()
    if not paths:
        total += _suite("GoogleTest", lambda: _ctest(tree, name_filter and re.escape(name_filter), variables))
    if specs:
        total += _suite("specs", lambda: _specs(tree, specs, name_filter, variables))
    if pythons:
        python = str(env.python) if env else sys.executable
        workers = count_workers(tree, env, pythons, jobs(os.cpu_count() or 1, memory_bytes()))
        total += _suite("pytest", lambda: _pytest(tree, python, pythons, name_filter, variables, workers=workers))
    if packages:
        total += _packages_suite(tree, packages, name_filter, long)
    print(duration(time.monotonic() - _STARTED, is_short=not (paths or name_filter or long)), flush=True)
    return _report(total)


def duration(seconds: float, *, is_short: bool) -> str:
    """The line about the time of a run. Continuous integration runs the short tests."""
    is_late = is_short and seconds > 60 * CI_MINUTES
    warning = f"; warning: continuous integration stops after {60 * CI_MINUTES} s" if is_late else ""
    return f"== set-up, build and tests: {seconds:.0f} s{warning}"


def run_package_tests(tree: Build, packages: Environment, *, name_filter: str | None, long: bool) -> int:
    """Runs tests/packages alone, with all of its programs; returns the exit code."""
    return _report(_packages_suite(tree, packages, name_filter, long))


def run_notebook_tests(
    tree: Build, env: Environment, paths: Sequence[str], *, name_filter: str | None, long: bool
) -> int:
    """Runs the tests in a browser, or `paths`, in the environment that has JupyterLab; returns the exit code."""
    variables = {**test_variables(tree, env, long=long), "SIMPLE_TEST_NOTEBOOKS": "1"}
    chosen = list(paths) or [NOTEBOOKS, _IN_A_BROWSER]
    return _report(_suite("notebooks", lambda: _pytest(tree, str(env.python), chosen, name_filter, variables)))


def _packages_suite(tree: Build, packages: Environment, name_filter: str | None, long: bool) -> Counts:
    variables = {**test_variables(tree, packages, long=long), "SIMPLE_TEST_PACKAGES": "1"}
    paths = [PACKAGES, *_QUANTIZATION]
    return _suite("packages", lambda: _pytest(tree, str(packages.python), paths, name_filter, variables))


def _report(total: Counts) -> int:
    if total == Counts():
        print("no tests ran")
    if total.pending:
        print(f"{total.pending} pending: waiting for features")
    print(total, flush=True)
    return 1 if total.failed or total == Counts() else 0


def cpu_capability(env: Environment, variables: dict[str, str]) -> str:
    """The instruction set that LibTorch's kernels use: DEFAULT, AVX2 or AVX512; ATEN_CPU_CAPABILITY lowers it."""
    query = "import torch; print(torch.backends.cpu.get_cpu_capability())"
    command = [str(env.python), "-c", query]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    return done.stdout.strip() or f"unknown ({done.stderr.strip().splitlines()[-1:]})"


def _threaded_tests(tree: Build, paths: Sequence[str], name_filter: str | None, variables: dict[str, str]) -> int:
    if paths:
        print(f"--preset tsan runs GoogleTest only: remove {' '.join(paths)}, or use --filter")
        return 2
    listed = subprocess.run(
        ["ctest", "--test-dir", str(tree.folder), "-N", "-R", _THREADED],
        env=variables,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = [name for name in re.findall(r"Test +#\d+: (\S+)", listed) if name not in _FORKING]
    names = [name for name in found if not name_filter or name_filter in name]
    if not names:
        print("no tests ran")
        return 1
    total = _suite("GoogleTest", lambda: _ctest(tree, f"^({'|'.join(map(re.escape, names))})$", variables))
    print(total, flush=True)
    return 1 if total.failed else 0


def split_paths(paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """Splits the paths into those for the host and those for pytest. Folders go to both; none means everything."""
    chosen = list(paths) or ["tests"]
    return [p for p in chosen if not p.endswith(".py")], [p for p in chosen if not p.endswith(".spl")]


def test_variables(tree: Build, env: Environment | None, *, long: bool) -> dict[str, str]:
    variables = {**os.environ, "SIMPLE_BUILD": str(tree.folder), "SIMPLE_HOST": str(tree.host)}
    for active in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        variables.pop(active, None)
    if env:
        variables["SIMPLE_PYTHON"] = str(env.python)
    else:
        variables["SIMPLE_TORCH"] = "off"
    if tree.preset == "asan":
        known = ROOT / "cmake" / "sanitizers" / "leaks.txt"
        variables["LSAN_OPTIONS"] = f"suppressions={known}:print_suppressions=0"
        variables["ASAN_OPTIONS"] = "allocator_may_return_null=1"  # tests of memory that runs out
    if tree.preset == "tsan":
        variables["TSAN_OPTIONS"] = f"suppressions={ROOT / 'cmake' / 'sanitizers' / 'threads.txt'}"
    if long:
        variables["SIMPLE_LONG_TESTS"] = "1"
    return variables


def _suite(title: str, body: Callable[[], Counts]) -> Counts:
    print(f"== {title}", flush=True)
    start = time.monotonic()
    counts = body()
    print(f"== {title}: {counts} in {time.monotonic() - start:.0f} s", flush=True)
    return counts


def _ctest(tree: Build, pattern: str | None, variables: dict[str, str]) -> Counts:
    report = _fresh_report(tree, "ctest.xml")
    command = ["ctest", "--test-dir", str(tree.folder), "--output-on-failure", "--output-junit", str(report),
               "--parallel", str(os.cpu_count() or 1), "--no-tests=ignore"]  # fmt: skip
    if pattern:
        command += ["-R", pattern]
    status = subprocess.run(command, env=variables, check=False).returncode
    return count_junit(report, status)


def _pytest(
    tree: Build,
    python: str,
    paths: Sequence[str],
    name_filter: str | None,
    variables: dict[str, str],
    *,
    workers: int = 1,
) -> Counts:
    """Runs pytest. More than one worker: each runs whole files; then the tests marked as serial run alone."""

    def run(chosen: Sequence[str], seen: dict[str, str], *options: str, name: str = "pytest.xml") -> Counts:
        report = _fresh_report(tree, name)
        command = [python, "-m", "pytest", f"--junitxml={report}", *options, *chosen]
        if name_filter:
            command += ["-k", name_filter]
        status = subprocess.run(command, cwd=ROOT, env=seen, check=False).returncode
        nothing_collected = 5
        return count_junit(report, 0 if status == nothing_collected else status)

    if workers > 1:
        counts = run(paths, variables, "-n", str(workers), "--dist", "loadfile", "-m", f"not {_SERIAL}")
        alone = serial_paths(paths)
        return counts + run(alone, variables, "-m", _SERIAL, name="pytest-serial.xml") if alone else counts
    if tree.preset != "asan":
        return run(paths, variables)
    hosts, embedded = split_embedded(paths)
    counts = run([*hosts, *(f"--ignore={entry}" for entry in _EMBEDDED)], variables) if hosts else Counts()
    return counts + run(embedded, sanitized_embedded(variables)) if embedded else counts


def count_workers(tree: Build, env: Environment | None, paths: Sequence[str], limit: int) -> int:
    """The processes of pytest. One file runs directly, and so do the tests of sanitized programs, which need several
    times the memory, and those without PyTorch, whose Python need not have pytest-xdist."""
    is_one_file = len(paths) == 1 and not (ROOT / paths[0]).is_dir()
    return 1 if env is None or tree.preset in SANITIZED or is_one_file else limit


def serial_paths(paths: Sequence[str]) -> list[str]:
    """Of these files, tests (FILE::NAME) and folders: the files and tests in which a test is marked as serial."""
    found = []
    for path in paths:
        named = ROOT / path.partition("::")[0]
        files = sorted(named.rglob("test_*.py")) if named.is_dir() else [named]
        marked = [file for file in files if file.is_file() and f"mark.{_SERIAL}" in file.read_text()]
        found += [os.path.relpath(file, ROOT) for file in marked] if named.is_dir() else [path] * len(marked)
    return found


def split_embedded(paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """Splits the paths into tests that start sanitized programs and tests that load the library themselves."""
    named = [path for path in paths if any(Path(path).is_relative_to(entry) for entry in _EMBEDDED)]
    within = [entry for entry in _EMBEDDED if any(Path(entry).is_relative_to(path) for path in paths)]
    return [path for path in paths if path not in named], list(dict.fromkeys([*named, *within]))


def sanitized_embedded(variables: dict[str, str]) -> dict[str, str]:
    """Variables for a plain Python that loads sanitized libraries: the sanitizer's runtime must be loaded first.

    The C++ runtime follows, because the sanitizer intercepts its exceptions. Leaks are not checked: CPython keeps
    objects until exit.
    """
    runtimes = [
        subprocess.run(
            [os.environ.get("CC", "cc"), f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in ("libasan.so", "libstdc++.so.6")
    ]
    return {
        **variables,
        "LD_PRELOAD": " ".join(runtimes),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
    }


def _specs(tree: Build, paths: Sequence[str], name_filter: str | None, variables: dict[str, str]) -> Counts:
    command = [str(tree.host), "test", *paths, *(["--filter", name_filter] if name_filter else [])]
    pending, last = "", ""
    with subprocess.Popen(command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, text=True) as host:
        for line in host.stdout or []:
            print(line, end="", flush=True)
            if line.strip():
                pending, last = last, line.strip()
    return count_summary(last, host.returncode, pending)


def _fresh_report(tree: Build, name: str) -> Path:
    report = tree.folder / "test-reports" / name
    report.parent.mkdir(exist_ok=True)
    report.unlink(missing_ok=True)
    return report


def count_summary(line: str, status: int, before: str = "") -> Counts:
    """Reads the host's summary line, and the pending count from the line before it. A host that exits without a
    summary, or with an error, counts as one failure."""
    found, waiting = _SUMMARY.match(line), _PENDING.match(before)
    counts = Counts(*map(int, found.groups())) if found else Counts(failed=1)
    if waiting:
        counts += Counts(pending=int(waiting[1]))
    return _with_status(counts, status)


def count_junit(report: Path, status: int) -> Counts:
    """Reads a JUnit report. A runner that exits without one, or with an error, counts as one failure."""
    if not report.exists():
        cause = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"exited with {status}"
        print(f"no report {report.name}: the runner {cause}")
        return Counts(failed=1)
    cases = ElementTree.parse(report).iter("testcase")
    return _with_status(sum(map(_outcome, cases), Counts()), status)


def _outcome(case: ElementTree.Element) -> Counts:
    """Counts one test case. ctest adds a status and reports a missing program as skipped: that is a failure."""
    if case.find("failure") is not None or case.find("error") is not None or case.get("status") == "disabled":
        return Counts(failed=1)
    skipped = case.find("skipped")
    if skipped is None:
        return Counts(passed=1)
    if skipped.get("type") == "pytest.xfail":
        return Counts(pending=1)
    on_purpose = case.get("status") is None or (skipped.get("message") or "").startswith("SKIP_")
    return Counts(skipped=1) if on_purpose else Counts(failed=1)


def _with_status(counts: Counts, status: int) -> Counts:
    return counts + Counts(failed=1) if status != 0 and counts.failed == 0 else counts
