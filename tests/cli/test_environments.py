"""When an environment is complete; incomplete ones are never used."""

import re

import pytest

import environments
from building import jobs
from environments import _replace
from layout import REQUIREMENTS, TORCH_VERSIONS, environment, full_environment, runtime_environment

GIB = 1 << 30


def locks(tmp_path):
    requirements = tmp_path / "requirements"
    requirements.mkdir()
    for name in ("torch-2.15.lock", "runtime-2.15.lock", "models.lock", "deployment-2.15.lock"):
        (requirements / name).write_text("torch==2.15.0\n")
    return requirements


def pins(name):
    return dict(re.findall(r"^([\w.-]+)==(\S+)", (REQUIREMENTS / name).read_text(), re.M))


def made(tmp_path):
    env = full_environment("2.15", state=tmp_path, requirements=locks(tmp_path))
    env.python.parent.mkdir(parents=True)
    env.python.touch()
    return env


def test_an_environment_without_a_stamp_is_not_complete(tmp_path):
    assert not made(tmp_path).complete()


def test_a_stamped_environment_is_complete(tmp_path):
    env = made(tmp_path)
    env.stamp.write_text(env.fingerprint())
    assert env.complete()


def test_a_changed_lock_file_makes_it_incomplete(tmp_path):
    env = made(tmp_path)
    env.stamp.write_text(env.fingerprint())
    env.locks[0].write_text("torch==2.15.1\n")
    assert not env.complete()


def test_programs_use_the_environment_of_the_tests_only_when_it_is_complete(tmp_path):
    full = made(tmp_path)
    assert environment("2.15", state=tmp_path, requirements=tmp_path / "requirements").folder.name == "runtime-2.15"
    full.stamp.write_text(full.fingerprint())
    assert environment("2.15", state=tmp_path, requirements=tmp_path / "requirements") == full


@pytest.mark.parametrize("torch", TORCH_VERSIONS)
def test_programs_need_a_part_of_what_the_tests_need_in_the_same_versions(torch):
    runtime, full = pins(f"runtime-{torch}.lock"), pins(f"torch-{torch}.lock")
    assert {"torch", "torchvision", "numpy", "pillow", "scikit-image"} <= runtime.keys()
    assert not {"pytest", "jax", "tensorflow-cpu", "pyarrow", "transformers"} & runtime.keys()
    assert {name: full[name] for name in runtime} == runtime
    assert runtime_environment(torch).size_gb < full_environment(torch).size_gb


def test_the_first_line_of_a_lock_is_the_command_that_makes_it():
    for torch in TORCH_VERSIONS:
        first = (REQUIREMENTS / f"runtime-{torch}.lock").read_text().splitlines()[0]
        assert f"-c requirements/torch-{torch}.lock requirements/runtime-{torch}.in" in first


def test_new_environment_replaces_the_old(tmp_path):
    folder, part, left = tmp_path / "env", tmp_path / "env.part", tmp_path / "env.old"
    for made_folder, text in ((folder, "old"), (part, "new"), (left, "left by an interrupted run")):
        made_folder.mkdir()
        (made_folder / "file").write_text(text)
    _replace(folder, part)
    assert [path.name for path in tmp_path.iterdir()] == ["env"]
    assert (folder / "file").read_text() == "new"


def test_compiler_count_is_limited_by_cores_and_memory():
    assert jobs(cores=2, memory=23 * GIB) == 2
    assert jobs(cores=16, memory=8 * GIB) == 4
    assert jobs(cores=4, memory=1 * GIB) == 1


def test_a_changed_lock_file_makes_the_tools_again(tmp_path, monkeypatch):
    made = []

    def install(folder, locks, base_python):
        folder.mkdir(exist_ok=True)
        made.append(locks[0].read_text())

    monkeypatch.setattr(environments, "install_locks", install)
    lock = tmp_path / "docs.lock"
    for text in ("mkdocs==1.6.0", "mkdocs==1.6.0", "mkdocs==1.6.1"):
        lock.write_text(text)
        assert environments.make_tools(tmp_path / "docs", lock, "mkdocs", "python3") == tmp_path / "docs"
    assert made == ["mkdocs==1.6.0", "mkdocs==1.6.1"]


def test_the_tests_of_the_site_and_of_the_package_need_tools(commands):
    def needs(*words, folder="tests/website"):
        return commands.runs(commands._parser().parse_args(["test", *words]), folder)

    assert needs() and needs("tests/website/test_site.py") and needs("tests/host", "tests/website")
    assert not needs("tests/host") and not needs("--packages")
    assert needs(folder="tests/packaging") and not needs("tests/website", folder="tests/packaging")
