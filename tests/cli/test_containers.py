"""The Dockerfile and the devcontainer: what they name exists, and their commands are those of the repository."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from dockerfiles import script, stages

from layout import DEFAULT_TORCH, MIN_PYTHON, REQUIREMENTS
from system import _TEST_TOOLS, _TOOLS

ROOT = Path(__file__).resolve().parents[2]
IMAGE = ROOT / "Dockerfile"
DEVCONTAINER = ROOT / ".devcontainer"


@pytest.mark.parametrize("file", [IMAGE, DEVCONTAINER / "Dockerfile"], ids=["image", "devcontainer"])
def test_every_stage_is_a_valid_shell_script(file):
    for stage in stages(file.read_text()):
        assert stage.image.startswith("debian:12")
        text = script(stage, "/source", {"build": "/build"})
        subprocess.run(["sh", "-n"], input=text, text=True, check=True)
        assert "apt-get update" in text


def test_the_image_has_the_package_and_no_compiler():
    build, runtime = stages(IMAGE.read_text())
    assert f"bin/simple wheel --yes --torch {DEFAULT_TORCH}" in build.of("RUN")
    assert runtime.image == "debian:12-slim"
    assert runtime.of("USER") == ["user"]
    assert not {"g++", "cmake", "ninja-build"} & set(" ".join(runtime.of("RUN")).split())
    assert f"libpython{'.'.join(map(str, MIN_PYTHON))}" in " ".join(runtime.of("RUN"))


def test_the_versions_of_the_image_are_those_of_the_lock_files(tmp_path):
    (command,) = [text for text in stages(IMAGE.read_text())[0].of("RUN") if text.startswith("sed ")]
    (tmp_path / "dist").mkdir()
    (tmp_path / "requirements").symlink_to(REQUIREMENTS)
    subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True)
    lines = (tmp_path / "dist" / "versions.txt").read_text().splitlines()
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[\w.+]+", line) for line in lines)
    names = {line.split("==")[0] for line in lines}
    installed = " ".join(stages(IMAGE.read_text())[1].of("RUN"))
    wanted = re.findall(r"(?<=\s)(torch|torchvision|numpy|pillow|scikit-image|efficientnet[\w-]+)(?=\s)", installed)
    assert len(wanted) == 7
    assert set(wanted) <= names


def test_the_build_ignores_what_it_does_not_need():
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {".simple", "build", "dist", ".git"} <= set(ignored)


def test_the_devcontainer_has_the_packages_of_the_set_up():
    (stage,) = stages((DEVCONTAINER / "Dockerfile").read_text())
    installed = set(" ".join(stage.of("RUN")).split())
    missing = {tool.package for tool in (*_TOOLS, *_TEST_TOOLS)} - installed
    assert missing == set()


def test_the_devcontainer_sets_up_by_a_command_of_the_repository():
    settings = json.loads((DEVCONTAINER / "devcontainer.json").read_text())
    assert (DEVCONTAINER / settings["build"]["dockerfile"]).exists()
    (stage,) = stages((DEVCONTAINER / "Dockerfile").read_text())
    assert stage.of("USER") == [settings["remoteUser"]]
    command = [*settings["postCreateCommand"].split(), "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert settings["customizations"]["vscode"]["settings"]["python.defaultInterpreterPath"].endswith(
        f".simple/torch-{DEFAULT_TORCH}/bin/python"
    )
