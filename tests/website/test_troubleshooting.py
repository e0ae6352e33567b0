"""The page of troubleshooting: the doctor and the hints of errors name its entries, and each entry is named."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import doctor
from website.repository import ROOT

sys.path.insert(0, str(ROOT / "python"))
from simple_torch_command import doctor as package_doctor
from simple_torch_command import installation, troubleshooting

PAGE = (ROOT / "docs" / "troubleshooting.md").read_text()
SOURCE = (ROOT / "simple" / "torch" / "error_hints.spl").read_text()
ROWS = re.findall(r'\("((?:[^"\\]|\\.)*)",\s*"((?:[^"\\]|\\.)*)",\s*"([\w-]+)"\)', SOURCE)
with_torch = pytest.mark.skipif(
    not os.environ.get("SIMPLE_HOST") or os.environ.get("SIMPLE_TORCH") == "off", reason="there is no PyTorch"
)


ENTRIES = troubleshooting.entries(PAGE)


def entries_of_doctor() -> set[str]:
    words = set(re.findall(r'"([a-z]+(?:-[a-z]+)+)"', Path(doctor.__file__).read_text()))
    return words - {"simple-torch-environment"}


def quoted(text: str) -> str:
    """The messages that an entry quotes, in one line."""
    return " ".join(line.removeprefix("> ").strip() for line in text.splitlines() if line.startswith(">"))


def test_the_entries_are_those_of_the_doctor_and_of_the_hints():
    assert len(ROWS) == SOURCE.count('\n    ("')
    named = {entry for _, _, entry in ROWS} | entries_of_doctor()
    assert named == set(ENTRIES)


def test_the_examples_of_the_functions():
    assert doctest.testmod(troubleshooting).failed == 0


@pytest.mark.parametrize(
    ("part", "entry"),
    [
        ("has no PyTorch; install one of", "no-pytorch"),
        ("has no backend in this installation", installation.NOT_BUILT),
        ("this installation was built for another Python than", installation.NOT_BUILT),
        ("does not run a program", installation.NOT_BUILT),
    ],
)
def test_an_entry_quotes_the_faults_of_an_installed_package(part, entry):
    assert part in quoted(ENTRIES[entry])
    sources = "".join(Path(module.__file__).read_text() for module in (installation, package_doctor))
    assert part in sources


def test_the_doctor_of_a_checkout_explains_an_entry():
    command = [sys.executable, "-B", ROOT / "tools" / "setup", "doctor"]
    done = subprocess.run([*command, "no-gpu"], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == (f"{ENTRIES['no-gpu']}\n", 0)
    assert subprocess.run([*command, "no-entry"], capture_output=True, check=False).returncode == 2


@pytest.mark.parametrize(("part", "entry"), [(part, entry) for part, _, entry in ROWS])
def test_an_entry_quotes_its_message(part, entry):
    words = quoted(ENTRIES[entry])
    shown = {
        "cannot be downloaded from": "cannot be downloaded",
        "same dtype": "the same dtype",
        "has no PyTorch": "no PyTorch",
        "is neither a torch package nor a LibTorch folder": "no PyTorch",
        "has no libpython": "has no shared libpython",
        "is not supported; supported versions": "is not supported; supported versions",
    }
    assert shown.get(part, part) in words


# A program for each row that fails with a part of its message.
PROGRAMS = {
    "does not require grad and does not have a grad_fn": "torch.ones([2]).sum().backward()",
    "backward through the graph a second time": "val y = (w * w).sum(); y.backward(); y.backward()",
    "modified by an inplace operation": "val z = w.exp(); z.add_(1.0); z.sum().backward()",
    "leaf Variable that requires grad is being used in an in-place operation": "w.add_(1.0)",
    "no device cuda": 'torch.ones([2], device: "cuda:99")',
    "can't allocate memory": "torch.zeros([100000, 100000, 100000])",
    "CUDA out of memory": 'panic(TorchError.OutOfMemory(1, 0, "CUDA out of memory. Tried to allocate 1 byte"))',
    "same dtype": "torch.nn.Linear(2, 2)(torch.ones([2, 2], dtype: torch.float64))",
    "tensors to be on the same device": (
        'panic(TorchError.Torch("Expected all tensors to be on the same device, but found at least two devices"))'
    ),
    "device-side assert": 'panic(TorchError.Torch("CUDA error: device-side assert triggered"))',
    "cannot be downloaded from": 'torch.hub.load_state_dict_from_url("https://127.0.0.1:1/absent.pth")',
    "No module named": 'use python as py; py.import("no_such_package")',
    "is out of bounds.": "torch.nn.CrossEntropyLoss()(torch.ones([2, 3]), torch.tensor([0, 5]))",
    "Expected more than 1 value per channel when training": "torch.nn.BatchNorm1d(2)(torch.ones([1, 2]))",
    "Error(s) in loading state_dict": 'torch.nn.Linear(2, 2).load_state_dict({"weight": torch.ones([3, 2])})',
    "Trainer: the loss is": (
        "use torch.training.{Trainer}; val net = torch.nn.Linear(1, 1);"
        "val bad = (torch.ones([2, 1]) / 0.0, torch.ones([2, 1]));"
        "Trainer(net, torch.optim.SGD(net.parameters(), lr: 0.1), torch.nn.MSELoss()).fit([bad])"
    ),
    "PyTorch is disabled by SIMPLE_TORCH": "torch.ones([1])",
    "is neither a torch package nor a LibTorch folder": "torch.ones([1])",
}
# Messages of machines and installations that other tests make: tests/abi/test_environment.cpp, test_stub.cpp,
# tests/cli/test_versions.py, tests/packaging and tests/bridge/test_environments.py.
ELSEWHERE = {
    "no PyTorch found",
    "has no PyTorch",
    "is not supported; supported versions",
    "there is no backend for it",
    "no bridge for torch",
    "has loaded another LibTorch",
    "has no libpython",
}
VARIABLES = {
    "PyTorch is disabled by SIMPLE_TORCH": {"SIMPLE_TORCH": "off"},
    "is neither a torch package nor a LibTorch folder": {"SIMPLE_TORCH": "/nowhere"},
}


def test_each_row_has_a_program():
    assert PROGRAMS.keys() | ELSEWHERE == {part for part, _, _ in ROWS}


def test_the_messages_of_other_tests_are_in_the_sources():
    sources = "".join(
        (ROOT / "abi" / name).read_text()
        for name in ("front/environment.cpp", "front/loader.cpp", "backend/python_library.cpp")
    )
    joined = re.sub(r'"\s*\n\s*"', "", sources)
    for part in ELSEWHERE - {"has no libpython"}:
        assert part in joined, part
    assert '" has no " + name' in joined  # name is libpython3.N.so


@with_torch
@pytest.mark.parametrize(("part", "advice", "entry"), [row for row in ROWS if row[0] in PROGRAMS])
def test_an_uncaught_error_has_the_hint(part, advice, entry, tmp_path):
    program = tmp_path / "program.spl"
    lines = ["use torch", "use torch.error.{TorchError}", "val w = torch.ones([2], requires_grad: true)"]
    if part in VARIABLES:
        lines.pop()
    program.write_text("\n".join([*lines, *PROGRAMS[part].split("; ")]) + "\n")
    done = subprocess.run(
        [os.environ["SIMPLE_HOST"], program],
        env={**os.environ, **VARIABLES.get(part, {}), "TORCH_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    place = f"see docs/troubleshooting.md#{entry}"
    expected = f"{advice}; {place}" if advice else place
    assert f"  hint: {expected}\n" in done.stderr, done.stderr
    assert part in done.stderr


@with_torch
def test_an_error_without_an_entry_has_no_hint(tmp_path):
    done = subprocess.run(
        [os.environ["SIMPLE_HOST"], "-e", 'use torch; torch.load("nowhere.pt")'],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert "cannot be read" in done.stderr and "hint" not in done.stderr


def test_each_fault_of_the_doctor_has_an_entry(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(doctor, "_own_python", lambda: tmp_path / "bin" / "python")
    monkeypatch.setenv("SIMPLE_PYTHON", str(tmp_path / "bin" / "python"))
    doctor.diagnose()
    faults = [line for line in capsys.readouterr().out.splitlines() if line.startswith("FAULT: ")]
    assert faults
    for line in faults:
        (entry,) = re.findall(r"; see docs/troubleshooting\.md#([\w-]+)$", line)
        assert entry in ENTRIES
