"""bin/simple notebook and bin/simple test --notebooks: the environment, what is installed in it, and the options."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import notebooks
import testing
from layout import NOTEBOOK_VERSIONS, REQUIREMENTS, ROOT, TORCH_VERSIONS, Build, Environment, notebook_environment


@pytest.fixture
def env(tmp_path):
    """An environment with this Python and an empty site-packages."""
    folder = tmp_path / "notebook-2.15"
    (folder / "bin").mkdir(parents=True)
    (folder / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(sys.executable)
    return Environment("2.15", folder, ())


def pins(lock: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)==(\S+)", lock.read_text(), re.M):
        found.setdefault(name, set()).add(version)
    return found


def test_each_torch_that_can_be_installed_has_an_environment():
    assert NOTEBOOK_VERSIONS == TORCH_VERSIONS
    for torch in TORCH_VERSIONS:
        made = notebook_environment(torch)
        assert made.folder.name == f"notebook-{torch}"
        assert [lock.name for lock in made.locks] == [f"torch-{torch}.lock", "models.lock", f"notebook-{torch}.lock"]
        assert made.size_gb > 5


@pytest.mark.parametrize("torch", TORCH_VERSIONS)
def test_the_lock_agrees_with_that_of_torch(torch):
    ours, theirs = pins(REQUIREMENTS / f"notebook-{torch}.lock"), pins(REQUIREMENTS / f"torch-{torch}.lock")
    assert "jupyterlab" in ours
    # A package has another version only for a Python for which torch's lock has none.
    assert [name for name in ours.keys() & theirs if not theirs[name] <= ours[name]] == []


def test_an_environment_is_prepared_once_and_again_when_the_extension_changes(env):
    assert not notebooks.is_prepared(env)
    notebooks.prepare(env)
    assert notebooks.is_prepared(env)
    script = env.folder / "share" / "jupyter" / "labextensions" / "simple-torch" / "static" / "remoteEntry.js"
    script.write_text("changed")
    assert not notebooks.is_prepared(env)


def test_a_prepared_environment_has_the_kernel_the_packages_and_the_entry_points(env):
    notebooks.prepare(env)
    kernel = json.loads((env.folder / "share" / "jupyter" / "kernels" / "simple" / "kernel.json").read_text())
    assert (kernel["display_name"], kernel["language"], kernel["interrupt_mode"]) == ("Simple", "simple", "signal")
    assert kernel["argv"][1:] == ["-m", "simple_torch.notebook", "-f", "{connection_file}"]
    site = env.folder / "lib" / "python3.11" / "site-packages"
    assert (site / "simple_torch.pth").read_text() == f"{ROOT / 'python'}\n"
    query = (
        "import importlib.metadata as m; d = m.distribution('simple-torch');"
        "print(d.version, sorted(e.value for e in d.entry_points), len(d.files))"
    )
    found = subprocess.run(
        [sys.executable, "-c", query], env={"PYTHONPATH": str(site)}, capture_output=True, text=True, check=True
    )
    assert found.stdout.split(maxsplit=1)[1] == (
        "['simple_torch_jupyter.lexer:SimpleLexer', 'simple_torch_jupyter.papermill:SimpleEngine'] 5\n"
    )


def test_a_kernel_outside_an_environment_names_the_folder_of_the_packages(tmp_path):
    command = [sys.executable, "-m", "simple_torch_jupyter", "install", "--prefix", str(tmp_path)]
    subprocess.run(command, cwd=ROOT / "python", check=True, stdout=subprocess.DEVNULL)
    kernel = json.loads((tmp_path / "share" / "jupyter" / "kernels" / "simple" / "kernel.json").read_text())
    named = kernel.get("env", {}).get("PYTHONPATH")
    query = "import importlib.util as u; print(u.find_spec('simple_torch') is not None)"
    found = subprocess.run([sys.executable, "-I", "-c", query], capture_output=True, text=True, check=True).stdout
    assert named == (None if found == "True\n" else str(ROOT / "python"))


def test_the_command_opens_jupyterlab_with_the_options_after_the_dashes(commands, env, monkeypatch, tmp_path):
    started = []
    monkeypatch.setattr(commands, "set_up", lambda *_, **options: started.append(options["notebooks"]))
    monkeypatch.setattr(commands, "notebook_environment", lambda torch: env)
    monkeypatch.setattr(notebooks.os, "execve", lambda *command: started.append(command))
    monkeypatch.setenv("SIMPLE_PYTHON", "/other/python")
    commands.main(["notebook", "--yes", "work", "--", "--port=9999"])
    is_set_up, (program, words, variables) = started
    assert is_set_up is True
    assert program == env.python and words[1:3] == ["-m", "jupyterlab"]
    assert [word for word in words[3:] if word != "--allow-root"] == ["work", "--port=9999"]
    assert "SIMPLE_PYTHON" not in variables and variables["SIMPLE_BUILD"].endswith("build/release")


def test_the_option_runs_the_tests_in_the_environment(env, monkeypatch, capsys):
    seen = []

    def pytest_run(tree, python, paths, name_filter, variables):
        seen.append((python, paths, variables["SIMPLE_TEST_NOTEBOOKS"], variables["SIMPLE_PYTHON"]))
        return testing.Counts(passed=3)

    monkeypatch.setattr(testing, "_pytest", pytest_run)
    assert testing.run_notebook_tests(Build(), env, [], name_filter=None, long=False) == 0
    assert seen == [(str(env.python), ["tests/notebooks", "tests/website/test_browser.py"], "1", str(env.python))]
    assert capsys.readouterr().out.endswith("3 passed, 0 failed, 0 skipped\n")
