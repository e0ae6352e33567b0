"""The reference of the library: it has every public name, with the signature, the docstring and the line."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from website import library, prose, reference, spl_source
from website.library import members_of, public_modules
from website.repository import ROOT
from website.spl_source import read_source

SOURCE = '''"""A module.

    use m
"""

use std.fs.{size, exists as is_there}
use torch.nn as nn
export use torch.optim.*

# The greatest size.
val LIMIT: i64 = 3 # elements

extern fn native(a: i64) -> i64

@[direct(native)]
fn long_one(first: {text: i64} = {"a": 1}, second = ":",
        third: fn(i64) -> i64 = nil) -> [i64]:
    """Returns `a[0]`.

    Raises an error: class of it.
    """
    fn inner(): 1
    [first]

class Layer(nn.Module, Other<i64>):
    """A layer.

    class Text: this is no class
    """
    width: i64
    val depth = 2

    fn init(width: i64): self.width = width
    static fn create() -> Layer: Layer(1)    # a comment
    fn _hidden(): 1

impl Layer:
    fn added(): 2

export LIMIT, long_one, Layer
'''


def test_the_declarations_of_a_file_are_read():
    found = read_source(SOURCE)
    assert found.doc == "A module.\n\n    use m"
    assert [(use.module, use.name, use.local, use.is_exported) for use in found.uses] == [
        ("std.fs", "size", "size", False),
        ("std.fs", "exists", "is_there", False),
        ("torch.nn", None, "nn", False),
        ("torch.optim", "*", "*", True),
    ]
    assert found.exports == ["LIMIT", "long_one", "Layer"]
    limit, native, long_one, layer, added = found.declarations
    assert (limit.signature, limit.doc, limit.line) == ("val LIMIT: i64 = 3", "The greatest size.", 11)
    assert library.is_extern(native)
    assert long_one.signature == (
        'fn long_one(first: {text: i64} = {"a": 1}, second = ":", third: fn(i64) -> i64 = nil) -> [i64]'
    )
    assert long_one.doc == "Returns `a[0]`.\n\nRaises an error: class of it."
    assert layer.doc.startswith("A layer.") and layer.bases == ["nn.Module", "Other"]
    assert [member.name for member in layer.members] == ["width", "depth", "init", "create", "_hidden"]
    assert layer.members[2].signature == "fn init(width: i64)"
    assert layer.members[3].signature == "static fn create() -> Layer" and layer.members[3].is_static
    assert (added.kind, added.name, added.members[0].name) == ("impl", "Layer", "added")


@pytest.mark.parametrize("module", [library, prose, reference, spl_source])
def test_the_examples_of_the_functions(module):
    assert doctest.testmod(module).failed == 0


def test_a_comment_behind_a_value_describes_it():
    (value, other) = read_source("val NOFLAG = 0    # no flag\nval at = '#'\n").declarations
    assert (value.signature, value.doc, other.doc) == ("val NOFLAG = 0", "No flag.", "")


def test_a_raw_docstring_is_read():
    assert read_source('r"""The pattern \\d."""\n').doc == "The pattern \\d."


def test_every_public_module_and_name_is_described():
    undescribed = [module.name for module in public_modules().values() if not module.doc]
    for module in public_modules().values():
        undescribed += [f"{module.name}.{name}" for name, found in module.names.items() if not found.declaration.doc]
    assert undescribed == []


def test_every_public_module_and_name_has_a_place():
    modules = public_modules()
    assert {"torch", "torch.nn", "torch.nn.functional", "torch.optim", "vision.transforms", "std.fs"} <= modules.keys()
    pages = reference.pages()
    for module in modules.values():
        text = pages[reference.page_path(module.name)]
        for name in module.names:
            assert f"\n| [`{name}`](" in text, f"{module.name}.{name}"


def test_the_parts_are_packages_whose_names_another_module_exports():
    modules = public_modules()
    for part in library.PARTS:
        assert library.file_of(part) is not None
        parent = modules.get(part.rpartition(".")[0])
        if parent is not None:
            assert {name for name in library.exported(part) if not name.startswith("_")} & parent.names.keys(), part


def test_each_name_is_described_once_with_its_line():
    pages = reference.pages()
    for place in reference.places().values():
        text = pages[reference.page_path(place.page)]
        assert text.count(f"{{ #{place.anchor} ") == 1, place.name
    for path, line in re.findall(r">([\w/]+\.spl):(\d+)</a>", "".join(pages.values())):
        text = (ROOT / path).read_text().splitlines()[int(line) - 1]
        assert re.search(r"\b(fn|me|class|struct|enum|trait|mixin|val|var|let|const)\b", text), f"{path}:{line}: {text}"


def test_a_class_shows_how_it_is_made_and_what_it_inherits():
    text = reference.pages()[reference.page_path("torch.nn.linear")]
    assert "```simple\nclass Linear(Module)\nLinear(in_features: i64, out_features: i64, bias: bool = true," in text
    assert "Inherits [`Module`](torch.nn.module.md#torch.nn.Module)." in text
    assert "Applies y = x W^T + b: input \\[..., in\\_features\\]" in text
    assert "Also `torch.Linear`." in text


def test_methods_of_other_files_belong_to_their_class():
    (tensor,) = (found for found in public_modules()["torch"].names.values() if found.declaration.name == "Tensor")
    names = {member.declaration.name: member.module for member in members_of(tensor)}
    assert names["sum"] == "torch.tensor.reductions"
    assert names["matmul"] == "torch.tensor.base"


def test_a_method_has_the_description_of_its_parent():
    text = reference.pages()[reference.page_path("torch.distributions.location_scale")]
    (section,) = re.findall(r"### `Normal.entropy` [^\n]*\n(.*?)(?=\n##)", text, re.S)
    link = r"\[`Distribution.entropy`\]\(torch\.distributions\.\S*md#\S*\.Distribution\.entropy\)"
    assert re.search(f"As {link}: The entropies, of the shape batch", section)


def test_names_that_torch_loads_late_are_listed():
    text = (ROOT / "simple" / "torch" / "mod.spl").read_text()
    (listed,) = re.findall(r"val LATE_NAMES = \[(.*?)\] \+ AUTOCAST_NAMES", text, re.S)
    (autocast,) = re.findall(r"val AUTOCAST_NAMES = \[(.*?)\]", text, re.S)
    late = re.findall(r'"(\w+)"', listed + autocast)
    module = public_modules()["torch"]
    assert [name for name in late if name not in module.names and name not in module.modules] == []


@pytest.mark.skipif(not os.environ.get("SIMPLE_HOST"), reason="SIMPLE_HOST is not set")
def test_the_host_finds_each_name(tmp_path: Path):
    """Without PyTorch the names are the same; a package of Python's needs Python for its other names."""
    lines = []
    for module in public_modules().values():
        lines.append(f"use {module.name} as found_module")
        lines += [f'if not hasattr(found_module, "{name}"): print "{module.name}.{name}"' for name in module.names]
        program = tmp_path / "names.spl"
        program.write_text("\n".join(lines) + "\n")
        lines.clear()
        done = subprocess.run([os.environ["SIMPLE_HOST"], program], capture_output=True, text=True, check=False)
        assert (done.stdout, done.returncode) == ("", 0), done.stderr


def test_the_operators_are_those_of_pytorch():
    if os.environ.get("SIMPLE_TORCH") == "off":
        pytest.skip("there is no PyTorch")
    generator = ROOT / "tools" / "generate_operators.py"
    done = subprocess.run([sys.executable, generator, "--check"], capture_output=True, text=True, check=False)
    if done.returncode == 2:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, f"run {generator}: {done.stderr}"


def test_an_operator_has_its_overloads_without_those_that_write_a_result():
    text = (ROOT / "docs" / "reference" / "operators.md").read_text()
    (section,) = re.findall(r"### `add`\n(.*?)\n###", text, re.S)
    assert "In place: `add_`." in section
    schemas = section.split("```")[1]
    assert [line.partition("(")[0] for line in schemas.splitlines()[1:]] == ["add.Tensor", "add.Scalar"]
    assert "### `_" not in text
