"""Native datasets: a C++ library that uses only the C ABI, in loaders, with every kind of failure."""

from __future__ import annotations

import ast
import os
import subprocess
from pathlib import Path

import pytest
import torch
from torch.utils import data as theirs

from programs import host

HERE = Path(__file__).parent / "native"
HEADERS = Path(__file__).parents[2] / "abi" / "include"
pytestmark = pytest.mark.skipif(os.environ.get("SIMPLE_TORCH") == "off", reason="there is no PyTorch")


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The program's output, by the first word of each line."""
    libraries = Path(host()).resolve().parents[1] / "lib"
    folder = tmp_path_factory.mktemp("squares")
    library = folder / "libspl_squares.so"
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-fvisibility=hidden", f"-I{HEADERS}"]
    front = [f"-L{libraries}", "-lspl_torch", f"-Wl,-rpath,{libraries}"]
    compiler = os.environ.get("CXX", "c++")
    subprocess.run([compiler, *flags, "-o", library, HERE / "squares.cpp", *front], check=True)
    environment = {**os.environ, "SIMPLE_SFFI_PATH": str(folder)}
    done = subprocess.run(
        [host(), HERE / "squares.spl"], capture_output=True, text=True, timeout=300, env=environment, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


def sample(i):
    return [[float(i), i + 1.0], float(i * i)]


def batch(numbers):
    return [[sample(i)[0] for i in numbers], [sample(i)[1] for i in numbers]]


def test_samples_and_batches_are_the_librarys(output):
    batches = [batch(range(4)), batch(range(4, 8)), batch(range(8, 10))]
    assert output["sizes"] == "10 0"
    assert output["samples"] == f"{sample(3)} {sample(9)}"
    assert ast.literal_eval(output["batches"]) == batches
    assert ast.literal_eval(output["workers"]) == batches
    assert ast.literal_eval(output["subset"]) == batch([2, 5])


def test_shuffling_matches_python(output):
    class Squares(theirs.Dataset):
        def __len__(self):
            return 10

        def __getitem__(self, i):
            return float(i * i)

    torch.manual_seed(7)
    loader = theirs.DataLoader(Squares(), batch_size=3, shuffle=True)
    assert ast.literal_eval(output["shuffled"]) == [each.tolist() for each in loader]


def test_iterable_dataset_restarts_and_is_shared_by_workers(output):
    once = [float(i) for i in range(7)]
    assert output["counted"] == f"{once} {once}"
    assert ast.literal_eval(output["shares"]) == [[[0.0, 2.0]], [[1.0, 3.0]], [[4.0, 6.0]], [[5.0]]]


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("100", "no sample 100"),
        ("101", "the file of 101 is gone: iostream error"),
        ("102", "the shape has 2 elements, got 1 values"),
        ("103", "103 is unlucky"),
        ("106", "a sample must have at most 32 tensors, got 33"),
        ("200", "index 200 is out of range of 200 samples"),
        ("-201", "index -201 is out of range of 200 samples"),
        ("lengths", "batch: sample 104 must have 2 tensors as the one before it, got 1"),
        ("shapes", "stack expects each tensor to be equal size, but got [2] at entry 0 and [3] at entry 1"),
        ("empty", "batch: expected at least one index, got none"),
        ("begin", "13 is not counted to"),
        ("kinds", "get: an iterable dataset has no index; iterate over it"),
        ("order", "begin: a map-style dataset has no iterator; use its indices"),
        ("handle", "unknown handle 77"),
        ("none", "NativeDataset: handle 0 is not a dataset; pass the handle that the library's function returned"),
    ],
)
def test_failures_are_reported(output, case, message):
    kinds = {"100": "IndexOutOfRange", "101": "Io", "103": "Torch", "200": "IndexOutOfRange", "-201": "IndexOutOfRange"}
    kinds |= {"102": "ShapeMismatch", "shapes": "ShapeMismatch", "handle": "InvalidHandle"}
    kind, text = output[f"fails-{case}"].split(" ", 1)
    assert (kind, text) == (kinds.get(case, "InvalidArgument"), message)


def test_failures_in_a_loader_name_the_worker_and_the_samples(output):
    assert output["fails-loader"].startswith("IndexOutOfRange DataLoader, worker 1, samples 60, 61, ")
    assert output["fails-loader"].endswith("(60 of them): no sample 100")


def test_nothing_leaks(output):
    assert output["left"] == "0 0"
