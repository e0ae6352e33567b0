"""The examples of tensors, devices and training: each computes, and reports when PyTorch is unavailable."""

from __future__ import annotations

import re

import pytest

FOLDER = "examples/torch/"
STUB = {"SIMPLE_TORCH": "off"}


def lines(run) -> list[str]:
    assert run.code == 0, run.out + run.err
    return [line.strip() for line in run.out.splitlines() if line.strip()]


def test_creation_shows_shapes_counts_and_sums(simple):
    import torch

    out = lines(simple(FOLDER + "basics/01_tensor_creation.spl"))
    assert out[1] == f"PyTorch {torch.__version__.split('+')[0]}"
    assert out[2:7] == ["Zeros:", "shape: [3, 4]", "rank: 2D", "elements: 12", "sum: 0.0"]
    assert out[7:12] == ["Ones:", "shape: [2, 3, 4]", "rank: 3D", "elements: 24", "sum: 24.0"]
    drawn = ["shape: [100, 100]", "mean near 0: true", "deviation near 1: true"]
    assert out[12:] == ["Drawn from the normal distribution:", *drawn]


def test_operations_accept_raw_handles_and_return_the_right_sums(simple):
    out = lines(simple(FOLDER + "basics/02_tensor_operations.spl"))
    assert "a + b: shape [3, 3], sum 27.0" in out  # 9 * (1 + 2)
    assert "a * b: shape [3, 3], sum 18.0" in out  # 9 * 1 * 2
    assert "a @ b: shape [3, 3], sum 54.0" in out  # 9 * (3 * 1 * 2)
    assert "the same with tensors: true" in out
    assert not [line for line in out if line.endswith("false")]


def test_device_is_the_configured_one_or_the_cpu(simple, tmp_path):
    options = ["--device", "cpu", "--dtype", "f64"]
    out = lines(simple(FOLDER + "basics/03_device_selection.spl", *options, env={"HOME": str(tmp_path)}))
    assert "device: cpu" in out and "dtype: f64" in out and "backend: torch" in out
    assert "Product of two [100, 100]: shape [100, 100] on cpu" in out
    assert out[-1] == "Each element is 100.0"


def test_missing_gpu_is_reported(simple):
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    out = lines(simple(FOLDER + "basics/03_device_selection.spl", env={"SIMPLE_DL_DEVICE": "cuda:1"}))
    assert "this is CUDA device number 1" in out
    assert "There is no CUDA device; the CPU computes." in out
    assert out[-1] == "Each element is 100.0"


def test_unknown_device_stops_the_program(simple):
    run = simple(FOLDER + "basics/03_device_selection.spl", env={"SIMPLE_DL_DEVICE": "tpu"})
    assert run.code == 1 and "unknown device `tpu`; expected cpu, gpu, cuda:N or auto" in run.err


@pytest.mark.parametrize("env", [{}, STUB], ids=["with PyTorch", "plain Simple"])
def test_xor_is_learned(simple, env):
    out = lines(simple(FOLDER + "training/xor_pytorch.spl", env=env))
    assert ("PyTorch is not available (stub mode): tensors of plain Simple train instead." in out) == bool(env)
    answers = [re.match(r"\[(\d), (\d)\] -> (-?[\d.]+) \(wanted (\d)\)", line) for line in out]
    found = [(int(m[1]) ^ int(m[2]), float(m[3])) for m in answers if m]
    assert len(found) == 4
    for wanted, answer in found:
        assert abs(wanted - answer) < 0.1


def test_digits_are_learned(simple):
    out = lines(simple(FOLDER + "training/mnist_classifier.spl"))
    accuracy = re.match(r"on 100 new digits: ([\d.]+) % right", out[-1])
    assert accuracy and float(accuracy[1]) >= 95.0


@pytest.mark.parametrize(
    "example",
    [
        "basics/01_tensor_creation",
        "basics/02_tensor_operations",
        "basics/03_device_selection",
        "training/mnist_classifier",
    ],
)
def test_stub_mode_is_reported(simple, example):
    out = lines(simple(f"{FOLDER}{example}.spl", env=STUB))
    assert out[-1].startswith("PyTorch is not available (stub mode): ")
    assert len(out) <= 3
