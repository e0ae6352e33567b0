"""The training examples reach their results: in full with SIMPLE_LONG_TESTS=1, else with few epochs and lower bounds.

Each is seeded and runs in one thread, so that it is reproducible on one machine.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)

LONG = os.environ.get("SIMPLE_LONG_TESTS") == "1"
FOLDER = "examples/torch/"
ONE_THREAD = {"OMP_NUM_THREADS": "1"}
INFINITE = float("inf")


@dataclass(frozen=True)
class Example:
    """A program, the number of epochs (steps, rounds) of its short form, and the bounds of its results in each form."""

    program: str
    few: int
    short: dict[str, tuple[float, float]]
    whole: dict[str, tuple[float, float]]


def at_least(value: float) -> tuple[float, float]:
    return (value, INFINITE)


def at_most(value: float) -> tuple[float, float]:
    return (0.0, value)


EXAMPLES = [
    Example("basics/04_linear_regression", 10, {"largest_error": at_most(0.1)}, {"largest_error": at_most(0.02)}),
    Example("training/digits_mlp", 3, {"test_accuracy": at_least(0.8)}, {"test_accuracy": at_least(0.97)}),
    Example("training/digits_cnn", 2, {"test_accuracy": at_least(0.9)}, {"test_accuracy": at_least(0.97)}),
    Example(
        "training/character_gpt",
        60,
        {"loss": at_most(3.2), "known_words": at_least(0.0)},
        {"loss": at_most(0.5), "known_words": at_least(0.7)},
    ),
    Example("training/text_lstm", 3, {"test_accuracy": at_least(0.9)}, {"test_accuracy": at_least(0.97)}),
    Example(
        "training/vae",
        5,
        {"test_loss": at_most(27.2), "gain": at_least(0.0)},
        {"test_loss": at_most(25.0), "gain": at_least(0.08)},
    ),
    Example(
        "training/gan",
        300,
        {"clouds": at_least(4), "share_near": at_least(0.1)},
        {"clouds": at_least(7), "share_near": at_least(0.7)},
    ),
    Example("training/dqn", 2000, {"mean_return": at_least(50)}, {"mean_return": at_least(150)}),
    Example("training/ppo", 30, {"mean_return": at_least(50)}, {"mean_return": at_least(150)}),
    Example(
        "training/transfer",
        1,
        {"transferred": at_least(0.3), "from_scratch": at_most(0.5), "gain": at_least(0.0)},
        {"transferred": at_least(0.5), "from_scratch": at_most(0.5), "gain": at_least(0.1)},
    ),
    Example("training/cifar_cnn", 1, {"test_accuracy": at_least(0.5)}, {"test_accuracy": at_least(0.95)}),
]


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> dict[str, str]:
    """Environment variables that set a separate folder for the examples' files."""
    return {**ONE_THREAD, "SIMPLE_EXAMPLES_DATA": str(tmp_path_factory.mktemp("data"))}


def results(out: str) -> dict[str, float]:
    return {name: float(value) for name, value in re.findall(r"^result: (\w+) (-?[\d.]+)$", out, re.M)}


def losses_of_epochs(out: str) -> list[float]:
    return [float(loss) for loss in re.findall(r"^(?:epoch|step) +\d+(?:  |/.*, )loss ([\d.]+)", out, re.M)]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.program)
def test_result_is_within_its_bounds(simple, data, example: Example):
    run = simple(f"{FOLDER}{example.program}.spl", *([] if LONG else [str(example.few)]), env=data)
    assert run.code == 0, run.out + run.err
    found, bounds = results(run.out), example.whole if LONG else example.short
    assert found.keys() == bounds.keys(), run.out
    for name, (minimum, maximum) in bounds.items():
        assert minimum <= found[name] <= maximum, run.out
    losses = losses_of_epochs(run.out)
    assert len(losses) < 2 or losses[-1] < losses[0], run.out


@pytest.mark.parametrize("length", ["abc", "0", "-1", "1.5"])
@pytest.mark.parametrize("program", ["training/digits_mlp", "training/gan", "basics/04_linear_regression"])
def test_invalid_length_is_rejected(simple, data, program, length):
    run = simple(f"{FOLDER}{program}.spl", length, env=data)
    assert run.code == 1 and "result" not in run.out
    assert f"must be a positive integer, got '{length}'" in run.err


def test_runs_are_reproducible(simple, data):
    runs = [simple(FOLDER + "training/vae.spl", "2", env=data) for _ in range(2)]
    assert runs[0].out == runs[1].out != ""


def test_point_clouds_are_plotted(simple, tmp_path):
    pytest.importorskip("matplotlib", reason="this Python has no matplotlib")
    plot = tmp_path / "clouds.png"
    run = simple(FOLDER + "training/gan.spl", "20", plot, env=ONE_THREAD)
    assert f"the points are drawn in {plot}" in run.out, run.out + run.err
    assert plot.read_bytes().startswith(b"\x89PNG")


class TestFilesOfDigits:
    """Reports of digits_mlp.spl about existing files, compared with those that it creates."""

    IMAGES = "digits/MNIST/raw/train-images-idx3-ubyte"

    @pytest.fixture
    def folder(self, simple, data, tmp_path) -> Path:
        assert self.run(simple, Path(data["SIMPLE_EXAMPLES_DATA"])).code == 0
        return Path(shutil.copytree(data["SIMPLE_EXAMPLES_DATA"], tmp_path / "copy"))

    def run(self, simple, folder: Path):
        return simple(FOLDER + "training/digits_mlp.spl", "1", env={**ONE_THREAD, "SIMPLE_EXAMPLES_DATA": str(folder)})

    def test_files_have_mnists_format_and_scikit_learns_images(self, folder):
        from sklearn.datasets import load_digits

        found = []
        for part, count in (("train", 1437), ("t10k", 360)):
            file = folder / f"digits/MNIST/raw/{part}-images-idx3-ubyte"
            assert np.fromfile(file, ">i4", 4).tolist() == [2051, count, 8, 8]
            found += np.fromfile(file, "u1", offset=16).reshape(count, 64).tolist()
        assert sorted(found) == sorted((load_digits().data * 255 / 16).astype("u1").tolist())

    def test_truncated_file_is_reported(self, simple, folder):
        images = folder / self.IMAGES
        images.write_bytes(images.read_bytes()[:-1])
        run = self.run(simple, folder)
        assert run.code == 1 and "sizes [1437, 8, 8] need 91968 bytes of data, got 91967" in run.err

    def test_other_file_type_is_reported(self, simple, folder):
        (folder / self.IMAGES).write_bytes(b"no digits")
        run = self.run(simple, folder)
        assert run.code == 1 and "[110, 111, 32, 100] is not the magic number of an IDX file" in run.err
