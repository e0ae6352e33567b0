"""CMake's configuration for given Pythons."""

import os
import subprocess
import time
from pathlib import Path

import pytest
from build_elsewhere import BuildElsewhere

import building
from building import pythons_to_build_for
from layout import SUPPORTED_TORCH, Environment

ROOT = Path(__file__).resolve().parents[2]


def configure(folder: Path, pythons: str) -> subprocess.CompletedProcess:
    command = ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", f"-DSIMPLE_TORCH_PYTHONS={pythons}"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_without_a_python_only_host_and_front_are_built(tmp_path):
    done = configure(tmp_path, "")
    assert done.returncode == 0, done.stderr
    targets = subprocess.run(["ninja", "-C", tmp_path, "-t", "targets", "all"], capture_output=True, text=True).stdout
    assert "bin/simple-host:" in targets
    assert "lib/libspl_torch.so:" in targets
    assert "backend" not in targets
    assert not (tmp_path / "lib" / "simple-torch-environment").exists()


def test_python_without_torch_is_rejected_by_name(tmp_path):
    subprocess.run(["python3", "-m", "venv", "--without-pip", tmp_path / "mine"], check=True)
    python = tmp_path / "mine" / "bin" / "python3"
    done = configure(tmp_path / "build", str(python))
    assert done.returncode != 0
    assert f"SIMPLE_TORCH_PYTHONS: {python}: no torch" in " ".join(done.stderr.split())


@pytest.fixture
def begun(tmp_path, monkeypatch):
    """A tree without a build, and the file to which the compilers, replaced by a script, write."""
    log = tmp_path / "log"
    script = f"trap 'echo interrupted >> {log}; exit' INT; echo begun >> {log}; sleep 0.3; echo ended >> {log}"
    monkeypatch.setattr(
        building, "_configure", lambda tree, pythons: ["sh", "-c", f"echo 'configured{pythons}' > {log}"]
    )
    monkeypatch.setattr(building, "_compile", lambda tree, targets: ["sh", "-c", script])
    return BuildElsewhere(place=tmp_path / "build"), log


def lines_when(log: Path, count: int) -> list[str]:
    """The lines of the file, once there are so many."""
    until = time.monotonic() + 20
    while time.monotonic() < until and not (log.exists() and len(log.read_text().splitlines()) >= count):
        time.sleep(0.01)
    return log.read_text().splitlines()


def test_the_host_is_built_while_torch_is_installed(begun):
    tree, log = begun
    with building.host_build(tree, wanted=True):
        assert lines_when(log, 2) == ["configured", "begun"]
    assert log.read_text().splitlines() == ["configured", "begun", "ended"]


def test_an_installation_that_fails_ends_the_build_of_the_host(begun):
    tree, log = begun
    with pytest.raises(KeyboardInterrupt), building.host_build(tree, wanted=True):
        lines_when(log, 2)
        raise KeyboardInterrupt
    assert log.read_text().splitlines() == ["configured", "begun", "interrupted"]


def test_the_host_is_built_first_only_where_nothing_is(begun):
    tree, log = begun
    with building.host_build(tree, wanted=False):
        pass
    tree.folder.mkdir()
    with building.host_build(tree, wanted=True):
        pass
    assert not log.exists()


def python_with(folder: Path, torch: str, minor: str) -> Path:
    """A script that answers as the Python of such an environment."""
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\necho {torch} {minor}\n")
    python.chmod(0o755)
    return python


def test_named_python_gets_its_own_bridge(tmp_path):
    own = python_with(tmp_path / "own", "2.15", "3.11")
    environment = Environment("2.15", tmp_path / "own", ())
    cases = [("2.15", "3.12", True), ("2.11", "3.11", True), ("2.13", "3.11", True), ("2.15", "3.11", False)]
    for torch, minor, is_built in cases:
        named = python_with(tmp_path / f"{torch}-{minor}", torch, minor)
        wanted = [str(own), str(named)] if is_built else [str(own)]
        assert pythons_to_build_for([environment], {"SIMPLE_PYTHON": str(named)}) == wanted
    assert pythons_to_build_for([environment], {"SIMPLE_PYTHON": str(own)}) == [str(own)]
    assert pythons_to_build_for([environment], {}) == [str(own)]
    assert pythons_to_build_for([], {"SIMPLE_PYTHON": "/no/such"}) == []


def test_unsupported_named_python_is_skipped_with_a_message(tmp_path, capsys):
    own = python_with(tmp_path / "own", "2.15", "3.11")
    environment = Environment("2.15", tmp_path / "own", ())
    old = python_with(tmp_path / "old", "2.9", "3.11")
    supported = ", ".join(SUPPORTED_TORCH)
    for named, message in [
        (str(old), f"it has torch 2.9; supported versions: {supported}"),
        ("/no/such", "it does not run"),
    ]:
        assert pythons_to_build_for([environment], {"SIMPLE_PYTHON": named}) == [str(own)]
        assert message in capsys.readouterr().err


def test_only_the_batches_of_operators_parse_all_operators():
    """A source elsewhere that includes them costs each build seconds: add it to simple_torch_batch(operators …)."""
    build = Path(os.environ.get("SIMPLE_BUILD", ROOT / "build" / "release"))
    dependencies = ["ninja", "-C", build, "-t", "deps"]
    listed = subprocess.run(dependencies, capture_output=True, text=True, check=False).stdout
    objects = [block.splitlines() for block in listed.split("\n\n") if "Unity/unity_" in block and ".dir" in block]
    if not objects:
        pytest.skip("this build has no batches of sources")
    parses_all = {block[0].split(":")[0] for block in objects if any("/ATen/Functions.h" in line for line in block)}
    assert [name for name in parses_all if "unity_operators" not in name and "bridge" not in name] == []
    assert parses_all or not any("simple_torch_core" in block[0] for block in objects)
