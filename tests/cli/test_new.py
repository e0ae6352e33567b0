"""`simple new`: each template makes a project that runs. The notebook is run by tests/notebooks/test_templates.py."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from programs import host

ROOT = Path(__file__).resolve().parents[2]
SIMPLE = ROOT / "bin" / "simple"
without_torch = pytest.mark.skipif(os.environ.get("SIMPLE_TORCH") == "off", reason="there is no PyTorch")


def new(*arguments: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SIMPLE, "new", *arguments], capture_output=True, text=True, check=False, cwd=cwd)


def project(template: str, parent: Path) -> Path:
    folder = parent / f"my-{template}"
    done = new(template, folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "{{" not in "".join(file.read_text() for file in folder.iterdir())
    return folder


def run(folder: Path, *arguments: str) -> str:
    done = subprocess.run([host(), *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=600)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    return done.stdout


def test_the_projects_name_and_program_are_in_its_files(tmp_path):
    done = new("training", "first", cwd=tmp_path)
    assert done.stdout.splitlines()[0] == "first: .gitignore, README.md, data.spl, main.spl, main_spec.spl, model.spl"
    readme = (tmp_path / "first" / "README.md").read_text()
    assert readme.startswith("# first\n")
    assert f"\n{SIMPLE} main.spl " in readme
    assert (tmp_path / "first" / "main.spl").read_text().startswith('"""first: trains')


@without_torch
def test_the_commands_of_the_readme_run(tmp_path):
    """In a checkout `simple test` of a project runs its specs, and not the tests of the checkout."""
    folder = project("training", tmp_path)
    commands = re.findall(rf"^({SIMPLE} .*?) *#", (folder / "README.md").read_text(), re.M)
    assert [command.split()[1:] for command in commands] == [["main.spl"], ["test"]]
    build = {"SIMPLE_BUILD": str(Path(host()).parents[1])}
    shown = [
        subprocess.run(
            command.split(), cwd=folder, capture_output=True, text=True, check=True, env={**os.environ, **build}
        )
        for command in commands
    ]
    assert shown[0].stdout.endswith("weights: weights.safetensors\n")
    assert shown[1].stdout.endswith("2 passed, 0 failed, 0 skipped\n")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, "expected a template and a folder, got 0 arguments"),
        (("training",), 2, "expected a template and a folder, got 1 arguments"),
        (("trainin", "x"), 2, "unknown template trainin; templates: training, fine-tuning, inference, notebook"),
        (("training", "a b"), 2, "the name of the folder must consist of letters, digits, '_', '-' and '.', got 'a b'"),
        (("training", "full"), 1, "full exists and is not an empty folder"),
        (("training", "file"), 1, "file exists and is not an empty folder"),
        (("training", "file/x"), 1, "Not a directory: file/x"),
    ],
)
def test_misuse_is_reported(tmp_path, arguments, code, message):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "kept").touch()
    (tmp_path / "file").touch()
    done = new(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stderr.splitlines()[0]) == (code, f"simple new: {message}")
    assert {path.name for path in tmp_path.rglob("*")} == {"full", "kept", "file"}


def test_an_empty_folder_is_filled(tmp_path):
    (tmp_path / "empty").mkdir()
    assert new("notebook", tmp_path / "empty").returncode == 0
    assert (tmp_path / "empty" / "notebook.ipynb").exists()


@without_torch
def test_the_training_learns_and_saves_its_weights(tmp_path):
    folder = project("training", tmp_path)
    lines = run(folder, "main.spl", "--epochs", "20", "--out", "w.safetensors").splitlines()
    assert lines[-1] == "weights: w.safetensors"
    assert float(lines[-2].removeprefix("result: val_accuracy ")) > 0.95
    assert (folder / "w.safetensors").stat().st_size > 4 * (2 * 64 + 64 * 64 + 64 * 3)
    assert run(folder, "test").endswith("2 passed, 0 failed, 0 skipped\n")
    assert run(folder, "main.spl", "--help").startswith("usage: simple main.spl")


@without_torch
def test_the_fine_tuning_learns_from_a_folder_of_images(tmp_path):
    image = pytest.importorskip("PIL.Image", reason="Pillow is absent")
    pytest.importorskip("efficientnet_lite_pytorch", reason="the package of the weights is absent")
    folder = project("fine-tuning", tmp_path)
    for split in ("train", "val"):
        for name, color in (("dark", 30), ("light", 220)):
            (folder / "data" / split / name).mkdir(parents=True)
            for i in range(8):
                pixel = (color + i, color, color - i)
                image.new("RGB", (100, 80), pixel).save(folder / "data" / split / name / f"{i}.jpg")
    lines = run(folder, "main.spl", "data", "--epochs", "2").splitlines()
    assert lines[0] == "2 classes, 16 images for training, 16 for validation"
    assert float(lines[2].split()[-1]) > 0.8
    assert lines[-1] == "weights: weights.safetensors"
    assert run(folder, "test").endswith("1 passed, 0 failed, 0 skipped\n")


@pytest.fixture
def service(tmp_path) -> Iterator[str]:
    folder = project("inference", tmp_path)
    assert run(folder, "test").endswith("2 passed, 0 failed, 0 skipped\n")
    command = [host(), "main.spl", "--port", "0"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline()
            assert line.startswith("listening on http://127.0.0.1:")
            yield line.removeprefix("listening on ").strip()
        finally:
            process.send_signal(signal.SIGINT)
            rest = process.stdout.read()
            code = process.wait(60)
    assert (code, rest) == (0, "stopped\n")


def answer(address: str, body: bytes | None = None) -> tuple[int, dict]:
    try:
        with urllib.request.urlopen(address, body, timeout=60) as reply:
            return reply.status, json.loads(reply.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def error_of_length(address: str, length: str) -> str:
    """The answer to a request with a false Content-Length, which sends no body."""
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=60)
    connection.putrequest("POST", "/predict")
    connection.putheader("Content-Length", length)
    connection.endheaders()
    with connection.getresponse() as reply:
        assert reply.status == 400
        return json.loads(reply.read())["error"]


@without_torch
def test_the_service_answers_and_rejects(service):
    assert answer(f"{service}/health") == (200, {"status": "ok"})
    code, found = answer(f"{service}/predict", b'{"inputs": [[0.1, 0.2], [0.5, -0.5]]}')
    assert code == 200
    for row, chosen in zip(found["probabilities"], found["classes"], strict=True):
        assert abs(sum(row) - 1) < 1e-6
        assert row[chosen] == max(row)
    assert answer(f"{service}/predict", b"[]") == (400, {"error": "expected an object with inputs"})
    assert answer(f"{service}/predict", b'{"inputs": [1]}') == (
        400,
        {"error": "inputs must have the shape [N, 2], got [1]"},
    )
    assert answer(f"{service}/predict", b"{")[0] == 400
    assert error_of_length(service, "1000001") == "the body must have at most 1000000 bytes, got 1000001"
    assert error_of_length(service, "-1") == "the body must have at most 1000000 bytes, got -1"
    assert answer(f"{service}/other")[0] == 404
