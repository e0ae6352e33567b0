"""zoo.list() and the command `simple models`, with caches that the tests make. Nothing is downloaded."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path

import pytest
import torchvision
from embedded_simple import run
from torchvision import models as theirs

from programs import is_sanitized

ROOT = Path(__file__).resolve().parents[2]
OURS = run(
    """
    use torch
    use zoo
    fn set_dir(folder): torch.hub.set_dir(folder)
    fn get_dir(): torch.hub.get_dir()
    fn found(pattern, source, cached):
        [for m in zoo.list(pattern, source: source, cached: cached):
            [m.name, m.weights, m.source, m.task, m.parameters, m.nbytes, m.license, m.path, m.is_cached(), "{m}"]]
    fn error(source): torch.attempt(\\: zoo.list(source: source)).unwrap_err().message()
    fn size(nbytes): zoo.size_text(nbytes)
    """
)


@pytest.fixture
def hub(tmp_path):
    before = OURS.get_dir()
    OURS.set_dir(str(tmp_path / "hub"))
    (tmp_path / "hub" / "checkpoints").mkdir(parents=True)
    yield tmp_path / "hub"
    OURS.set_dir(before)


def test_all_trained_models_of_torchvision_are_listed(hub):
    listed = OURS.found("*", "torchvision", False)
    wanted = []
    for name in torchvision.models.list_models():
        with contextlib.suppress(ValueError):  # it has no trained weights
            wanted += [(name, weights.name) for weights in theirs.get_model_weights(name)]
    assert [(one[0], one[1]) for one in listed] == sorted(wanted)
    assert not any(one[8] for one in listed)
    tasks = {one[0]: one[3] for one in listed}
    assert (tasks["resnet50"], tasks["ssd300_vgg16"], tasks["quantized_resnet50"], tasks["raft_small"]) == (
        "classification",
        "detection",
        "quantized classification",
        "optical flow",
    )


def test_a_model_has_its_size_license_and_place(hub):
    weights = theirs.ResNet18_Weights.DEFAULT
    count = weights.meta["num_params"]
    size = round(weights.meta["_file_size"] * 1024 * 1024)
    row = ["resnet18", "IMAGENET1K_V1", "torchvision", "classification", count, size, "BSD-3-Clause", "", False]
    assert OURS.found("resnet18", None, False) == [[*row, "resnet18 (IMAGENET1K_V1)"]]
    path = hub / "checkpoints" / weights.url.rsplit("/", 1)[1]
    path.write_bytes(b"12345")
    row[5:9] = [5, "BSD-3-Clause", str(path), True]
    assert OURS.found("resnet18", None, False) == [[*row, "resnet18 (IMAGENET1K_V1)"]]
    assert OURS.found("resnet*", "torchvision", True) == [[*row, "resnet18 (IMAGENET1K_V1)"]]
    swag = OURS.found("vit_h_14", None, False)[0]
    assert swag[6] == "https://github.com/facebookresearch/SWAG/blob/main/LICENSE"


def test_packaged_models_are_on_this_machine(hub):
    names = {one[0]: one for one in OURS.found("*", "package", True)}
    assert sorted(names) == ["all-MiniLM-L6-v2", "efficientnet_lite0"]
    lite = names["efficientnet_lite0"]
    assert Path(lite[7]).suffix == ".pth" and lite[5] == Path(lite[7]).stat().st_size and lite[6] == "Apache-2.0"
    from efficientnet_lite_pytorch import EfficientNet

    assert lite[4] == sum(p.numel() for p in EfficientNet.from_name("efficientnet-lite0").parameters())
    from transformers import AutoModel

    assert names["all-MiniLM-L6-v2"][4] == AutoModel.from_pretrained(names["all-MiniLM-L6-v2"][7]).num_parameters()


def test_other_files_and_repositories_in_the_cache_are_listed(hub):
    (hub / "checkpoints" / "mine-12345678.pth").write_bytes(bytes(70))
    (hub / "checkpoints" / "other.pth.part").write_bytes(bytes(7))
    (hub / "owner_repo_main").mkdir()
    (hub / "owner_repo_main" / "hubconf.py").write_text("x = 1\n")
    assert [[one[0], one[3], one[5]] for one in OURS.found("*", "torch.hub", False)] == [
        ["mine-12345678.pth", "", 70],
        ["owner_repo_main", "repository", 6],
    ]


def test_the_cache_of_hugging_face_is_listed_with_the_license_of_the_card(tmp_path, monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    snapshot = tmp_path / "models--owner--small" / "snapshots" / "0123456789abcdef"
    snapshot.mkdir(parents=True)
    (snapshot / "README.md").write_text("---\ntags:\n- x\nlicense: mit\n---\nlicense: other\n")
    (snapshot / "model.safetensors").write_bytes(bytes(100))
    size = 100 + (snapshot / "README.md").stat().st_size
    row = ["owner/small", "01234567", "huggingface", "", -1, size, "mit", str(snapshot), True, "owner/small (01234567)"]
    assert OURS.found("owner/*", None, True) == [row]


def test_sizes_and_unknown_sources():
    assert [OURS.size(n) for n in (-1, 512, 1048576, 102541165)] == ["", "0.5 kB", "1.0 MB", "97.8 MB"]
    wanted = "zoo.list: unknown source 'other'; available: package, torchvision, torch.hub, huggingface, timm"
    assert OURS.error("other") == wanted


def command(*words: str, **variables: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [ROOT / "bin" / "simple", "models", *words],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.skipif(is_sanitized(), reason="the command needs the plain build")
def test_the_command_prints_a_table(tmp_path):
    done = command("resnet1*", TORCH_HOME=str(tmp_path), HF_HOME=str(tmp_path))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["NAME", "WEIGHTS", "SOURCE", "TASK", "SIZE", "LICENSE", "ON", "THIS", "MACHINE"]
    assert lines[-1] == "5 models, 0 on this machine"
    assert [line.split()[:2] for line in lines[1:-2]] == [
        ["resnet101", "IMAGENET1K_V1"],
        ["resnet101", "IMAGENET1K_V2"],
        ["resnet152", "IMAGENET1K_V1"],
        ["resnet152", "IMAGENET1K_V2"],
        ["resnet18", "IMAGENET1K_V1"],
    ]
    assert "44.7 MB  BSD-3-Clause" in lines[5]


@pytest.mark.skipif(is_sanitized(), reason="the command needs the plain build")
def test_the_command_lists_what_is_cached_and_reports_errors(tmp_path):
    done = command("--cached", "--source", "package", TORCH_HOME=str(tmp_path), HF_HOME=str(tmp_path))
    assert [line.split()[0] for line in done.stdout.splitlines()[1:3]] == ["all-MiniLM-L6-v2", "efficientnet_lite0"]
    assert command("nothing*", TORCH_HOME=str(tmp_path)).stdout == "no models\n"
    for words, message in (
        (["--all"], "unknown option --all; `simple models --help` lists the options"),
        (["--source"], "--source: expected a source; `simple models --help` lists the options"),
        (["a", "b"], "expected one PATTERN, got 'a' and 'b'; `simple models --help` lists the options"),
        (
            ["--source", "x"],
            "zoo.list: unknown source 'x'; available: package, torchvision, torch.hub, huggingface, timm",
        ),
    ):
        wrong = command(*words)
        assert (wrong.returncode, wrong.stderr) == (2, f"simple models: {message}\n")
    assert "simple models [PATTERN]" in command("--help").stdout
