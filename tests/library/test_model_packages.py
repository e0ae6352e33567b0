"""Modules of Python's packages of models. tests/packages has programs for timm and sentence_transformers."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs import expectations, run


def error_of(program: str, folder, **variables: str) -> str:
    file = folder / "program.spl"
    file.write_text(program)
    done = run(file, environment={"PYTHONPATH": str(folder), **variables})
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


WHY = """
match torch.attempt(\\: {0}):
    case Err(torch.TorchError.Unavailable(message)): print message
    case other: print "unexpected: {{other}}"
"""


@pytest.mark.parametrize("package", ["timm", "sentence_transformers", "torchaudio"])
def test_a_missing_package_is_named_with_the_command_that_installs_it(tmp_path, package):
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {package!r}:\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Absent())\n"
    )
    message = error_of(f"use torch\nuse {package}\n" + WHY.format(f"{package}.anything"), tmp_path)
    assert message.startswith(f"ModuleNotFoundError: No module named '{package}'; install it: ")


def test_a_torchaudio_of_another_torch_is_unavailable(tmp_path):
    (tmp_path / "torchaudio").mkdir()
    (tmp_path / "torchaudio" / "__init__.py").write_text("raise RuntimeError('compiled with another CUDA')")
    (tmp_path / "torchaudio-1.2.3.dist-info").mkdir()
    metadata = "Metadata-Version: 2.1\nName: torchaudio\nVersion: 1.2.3\n"
    (tmp_path / "torchaudio-1.2.3.dist-info" / "METADATA").write_text(metadata)
    message = error_of("use torch\nuse torchaudio\n" + WHY.format("torchaudio.functional"), tmp_path)
    assert message.startswith("torchaudio: version 1.2.3 does not fit torch 2.")
    assert message.endswith(": RuntimeError: compiled with another CUDA")


def test_names_functions_classes_and_submodules_of_a_package_are_those_of_the_module(tmp_path):
    (tmp_path / "timm").mkdir()
    (tmp_path / "timm" / "__init__.py").write_text(
        "import torch\n"
        "LIMIT = 3\n"
        "class Config:\n"
        "    width = 2\n"
        "def build(width): return torch.nn.Linear(2, width)\n"
        "def names(): return {'a': [1, 2.5, None], 'b': torch.ones(2)}\n"
    )
    (tmp_path / "timm" / "extra.py").write_text("def twice(x): return 2 * x\n")
    program = """
use torch
use torch.nn
use timm
use timm.{build}
print timm.LIMIT, timm.extra.twice(4), timm.names()["a"], type_of(timm.names()["b"])
val config = timm.Config()
config.width = 5
print config.width, build(7) is nn.Linear, build(7) is nn.Module
class Wide(timm.Config):
    fn doubled(): self.width * 2
print Wide().doubled()
print attempt(\\: timm.absent).unwrap_err().message
"""
    assert error_of(program, tmp_path).split("\n") == [
        "3 8 [1, 2.5, nil] Tensor",
        "5 false true",
        "4",
        "module timm has no absent",
    ]


def test_transformers_returns_values_of_simple(tmp_path):
    program = Path(__file__).with_name("transformers_program.spl")
    done = run(program, environment={"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)}, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == expectations(program).output
