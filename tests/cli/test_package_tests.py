"""tests/packages: which runs have all of its programs, and in which environment."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import testing
from console import SetupError
from layout import PACKAGES_VERSIONS, REQUIREMENTS, ROOT, TORCH_VERSIONS, Build, packages_environment
from testing import Counts, run_package_tests, run_tests


@pytest.fixture
def programs(monkeypatch, load):
    monkeypatch.delenv("SIMPLE_TEST_PACKAGES", raising=False)
    return load("package_programs", ROOT / "tests" / "packages" / "test_packages.py")


def needs(commands, *words: str, torch: str = "2.15") -> bool:
    return commands.needs_packages(commands._parser().parse_args(["test", *words]), torch)


def pins(lock: Path) -> set[tuple[str, str]]:
    return set(re.findall(r"^([\w.-]+)==(\S+)", lock.read_text(), re.M))


def test_the_option_and_a_whole_long_run_need_all_packages(commands):
    assert needs(commands, "--packages")
    assert needs(commands, "--packages", "--filter", "pandas")
    assert needs(commands, "--long")


def test_other_runs_do_not_need_them(commands):
    assert not needs(commands)
    assert not needs(commands, "--long", "tests/abi/test_fuzz.py")
    assert not needs(commands, "--long", "--preset", "asan")
    assert not needs(commands, "--long", torch="2.11")
    assert not needs(commands, "--long", torch="none")


@pytest.mark.parametrize(
    ("words", "torch", "message"),
    [
        (["--packages", "tests/host"], "2.15", "runs tests/packages only: remove tests/host"),
        (["--packages"], "2.11", "torch must be 2.15, got 2.11"),
        (["--packages", "--preset", "asan"], "2.15", "the preset must not have a sanitizer, got asan"),
    ],
)
def test_the_option_rejects_what_it_cannot_run(commands, words, torch, message):
    with pytest.raises(SetupError, match=re.escape(message)):
        needs(commands, *words, torch=torch)


def test_the_environment_has_a_folder_and_a_lock_file_of_its_own():
    env = packages_environment("2.15")
    assert env.folder.name == "packages-2.15"
    assert [lock.name for lock in env.locks] == ["packages-2.15.lock", "models.lock", "quantization-2.15.lock"]
    assert env.size_gb > 5


def test_its_programs_run_alone_or_after_the_other_suites(monkeypatch, capsys):
    started = []

    def pytest_run(tree, python, paths, name_filter, variables, **_):
        started.append((python, list(paths), variables.get("SIMPLE_TEST_PACKAGES")))
        return Counts(passed=1)

    monkeypatch.setattr(testing, "_pytest", pytest_run)
    env = packages_environment("2.15")
    packages = (str(env.python), ["tests/packages", *testing._QUANTIZATION], "1")
    assert run_package_tests(Build(), env, name_filter=None, long=False) == 0
    assert started == [packages]
    monkeypatch.setattr(testing, "cpu_capability", lambda *_: "DEFAULT")
    assert run_tests(Build(), env, paths=["a.py"], name_filter=None, long=True, packages=env) == 0
    assert started[1:] == [(str(env.python), ["a.py"], None), packages]
    assert capsys.readouterr().out.endswith("\n2 passed, 0 failed, 0 skipped\n")


def test_both_lock_files_have_the_same_versions():
    for minor in PACKAGES_VERSIONS:
        torch, packages = (pins(REQUIREMENTS / f"{kind}-{minor}.lock") for kind in ("torch", "packages"))
        shared = {name for name, _ in torch} & {name for name, _ in packages}
        assert "torch" in shared
        assert {pin for pin in torch if pin[0] in shared} - packages == set()


def test_the_short_run_has_programs_of_packages_that_every_torch_environment_has(programs):
    assert list(programs.NAMES) == list(programs.SHORT)
    assert len(programs.SHORT) == 12
    assert [name for name in programs.SHORT if not (programs.HERE / f"{name}.spl").exists()] == []
    for minor in TORCH_VERSIONS:
        locked = {name for name, _ in pins(REQUIREMENTS / f"torch-{minor}.lock")}
        assert {name.replace("_", "-") for name in programs.SHORT} - locked == set()


def test_the_option_has_programs_of_at_least_40_packages(monkeypatch, load):
    monkeypatch.setenv("SIMPLE_TEST_PACKAGES", "1")
    programs = load("all_package_programs", ROOT / "tests" / "packages" / "test_packages.py")
    assert len(programs.NAMES) >= 40
    assert set(programs.SHORT) < set(programs.NAMES)
