"""The set-up's plan, from facts about a machine."""

import pytest

from console import SetupError
from layout import full_environment, packages_environment, runtime_environment
from set_up import describe
from system import SYSTEM_PYTHON, Machine, Plan, Python, Tool, install, plan

NINJA = Tool("Ninja", "ninja-build", lambda: False)
BARE = Python(SYSTEM_PYTHON, (3, 11, 2), headers=False, venv=False, shared=False)
WHOLE = Python(SYSTEM_PYTHON, (3, 11, 2), headers=True, venv=True, shared=True)


def machine(*pythons: Python, missing: tuple[Tool, ...] = (), apt: bool = True) -> Machine:
    return Machine(pythons, missing, has_apt=apt, is_root=True)


def test_a_complete_machine_needs_nothing():
    assert plan(machine(WHOLE), with_python=True) == Plan((), SYSTEM_PYTHON)


def test_missing_tools_become_debian_packages():
    assert plan(machine(WHOLE, missing=(NINJA,)), with_python=True).packages == ("ninja-build",)


def test_a_system_python_without_headers_is_completed():
    made = plan(machine(BARE), with_python=True)
    assert made == Plan(("python3-dev", "python3-venv"), SYSTEM_PYTHON)


def test_complete_python_is_preferred_to_completing_the_systems():
    other = Python("/opt/python/bin/python3.12", (3, 12, 1), headers=True, venv=True, shared=True)
    assert plan(machine(BARE, other), with_python=True) == Plan((), other.path)


def test_python_without_shared_library_is_not_used():
    static = Python("/opt/python/bin/python3.12", (3, 12, 1), headers=True, venv=True, shared=False)
    with pytest.raises(SetupError, match=r"/opt/python/bin/python3.12 \(3.12.1\) has no shared libpython"):
        plan(machine(static), with_python=True)


def test_an_old_system_python_is_not_completed():
    old = Python(SYSTEM_PYTHON, (3, 9, 2), headers=True, venv=True, shared=True)
    with pytest.raises(SetupError, match=r"is older than 3\.11"):
        plan(machine(old), with_python=True)


def test_without_torch_no_python_is_needed():
    assert plan(machine(BARE, missing=(NINJA,)), with_python=False) == Plan(("ninja-build",), None)


def test_names_are_printed_without_apt():
    with pytest.raises(SetupError, match="run this again: Ninja"):
        plan(machine(WHOLE, missing=(NINJA,), apt=False), with_python=True)


def test_user_without_rights_gets_the_exact_command():
    with pytest.raises(SetupError, match="sudo apt-get update && sudo apt-get install -y ninja-build cmake"):
        install(["ninja-build", "cmake"], is_root=False)


def test_plan_prints_packages_and_sizes():
    text = "\n".join(describe([runtime_environment("2.15")], Plan(("cmake",), SYSTEM_PYTHON), free_gb=40))
    assert "system packages (up to 0.5 GB): cmake" in text
    assert "Python packages (6.1 GB on disk, about half of it to download)" in text
    assert "torch 2.15 with its CUDA libraries (about 5.5 GB)" in text
    assert "in total 6.3 GB, free on this disk: 40 GB" in text
    assert ".simple/runtime-2.15" in text


def test_plan_adds_the_environment_of_the_package_tests():
    made = [full_environment("2.15"), packages_environment("2.15")]
    text = "\n".join(describe(made, Plan((), SYSTEM_PYTHON), free_gb=40))
    assert "Python packages (8.2 GB on disk" in text
    assert "Python packages (8.0 GB on disk" in text
    assert f"and the packages of tests/packages; all in {made[1].folder}" in text
    assert "in total 16.4 GB" in text
