"""The parts that need no kernel: positions in cells, the lexer, images, tables, the examples in docstrings."""

from __future__ import annotations

import doctest
import importlib
import os
import re
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
torch = pytest.importorskip("torch")
from PIL import Image  # noqa: E402
from pygments.token import Comment, Error, Keyword, Name, String  # noqa: E402
from simple_torch.notebook import images, source, tables, tensors  # noqa: E402
from simple_torch_jupyter.lexer import BUILTINS, KEYWORDS, SimpleLexer  # noqa: E402

EXTENSION = ROOT / "python" / "simple_torch_jupyter" / "labextension" / "static" / "remoteEntry.js"


@pytest.mark.parametrize("name", ["source", "tensors", "values", "signatures"])
def test_the_examples_of_docstrings(name):
    module = importlib.import_module(f"simple_torch.notebook.{name}")
    assert doctest.testmod(module, extraglobs={"torch": torch}).failed == 0


# ---- the lexer


def programs():
    return sorted([*ROOT.glob("examples/**/*.spl"), *ROOT.glob("simple/**/*.spl"), *ROOT.glob("tests/spec/**/*.spl")])


def test_every_program_of_the_project_has_tokens_without_errors():
    lexer = SimpleLexer(stripnl=False, ensurenl=False)
    for path in programs():
        tokens = list(lexer.get_tokens(path.read_text()))
        assert "".join(text for _, text in tokens) == path.read_text(), path
        assert not [text for kind, text in tokens if kind is Error], path


def test_tokens_of_a_program():
    tokens = [pair for pair in SimpleLexer().get_tokens('fn area(r): "{r:.1f} {{m}}"  # note') if pair[1].strip()]
    assert tokens[:2] == [(Keyword, "fn"), (Name.Function, "area")]
    assert (String.Interpol, ":.1f") in tokens and (String, "{{") in tokens
    assert tokens[-1] == (Comment.Single, "# note")


def test_raw_strings_may_span_lines():
    tokens = list(SimpleLexer(stripnl=False, ensurenl=False).get_tokens('r"""a `b`\n\\d"""\nr"c\n\\w"\nx'))
    assert [text for kind, text in tokens if kind is String] == ['r"""', "a `b`\n\\d", '"""', 'r"c\n\\w"']


def test_the_keywords_are_those_of_the_host():
    table = re.search(r"kKeywords = \{(.*?)\}", (ROOT / "host/syntax/lexer.cpp").read_text(), re.S)[1]
    assert set(re.findall(r'"(\w+)"', table)) == set(KEYWORDS)


def test_the_extension_of_jupyterlab_knows_the_same_names():
    script = EXTENSION.read_text()
    assert set(quoted_words(script, "KEYWORDS")) | {"true", "false", "nil"} == set(KEYWORDS)
    assert set(quoted_words(script, "BUILTINS")) | {"None"} == set(BUILTINS)


def quoted_words(script: str, name: str) -> list[str]:
    definition = re.search(rf"const {name} = new Set\((.*?)\.split", script, re.S)[1]
    return "".join(re.findall(r'"([^"]*)"', definition)).split()


# ---- cells


@pytest.mark.parametrize(
    ("cell", "python", "simple"),
    [
        ("%%simple -i a\nx", "x", None),
        ("x", None, "x"),
        ("%%python\nx", None, None),
        ("%%time\nx", None, "x"),
        ("%simple x", "x", "x"),
    ],
)
def test_the_simple_part_of_a_cell(cell, python, simple):
    found = [source.simple_part(cell, simple_by_default=default) for default in (False, True)]
    assert found[0] is None or found[0].source == python
    assert (found[1].source if found[1] else None) == (simple if simple or not python else python)


def test_the_semicolon_that_hides_a_value():
    assert source.is_hidden("a\nb;") and source.is_hidden("b; # note\n# more\n")
    assert not source.is_hidden('"a;"') and not source.is_hidden("a # b;") and not source.is_hidden("")


@pytest.mark.parametrize(
    ("code", "status"),
    [("x", "complete"), ("f(1,", "incomplete"), ("if x:", "incomplete"), ("if x:\n    y", "incomplete"),
     ("if x:\n    y\n", "complete"), ('"""text', "incomplete"), ("a +", "incomplete"), ('print "("', "complete")],
)  # fmt: skip
def test_whether_a_console_asks_for_more(code, status):
    assert source.completeness(code)[0] == status


# ---- images


def pixels(png: bytes) -> tuple[int, int, int, bytes]:
    """Width, height, color type and pixels of a PNG."""
    with Image.open(BytesIO(png)) as image:
        return image.width, image.height, png[25], image.tobytes()


def test_an_image_has_the_pixels_of_the_tensor():
    tensor = torch.arange(18, dtype=torch.uint8).reshape(3, 2, 3)
    assert pixels(images.png(tensor)) == (3, 2, 2, bytes(tensor.permute(1, 2, 0).flatten().tolist()))
    assert pixels(images.png(torch.tensor([[0.0, 0.5, 1.0]]))) == (3, 1, 0, bytes([0, 128, 255]))


def test_a_batch_is_a_grid_with_white_between():
    width, height, _, values = pixels(images.png(torch.zeros(3, 1, 2, 2), columns=2))
    assert (width, height) == (6, 6)
    assert values[:6] == bytes([0, 0, 255, 255, 0, 0]) and values[-2:] == bytes([255, 255])


@pytest.mark.parametrize(
    ("tensor", "error", "message"),
    [
        (torch.zeros(2, 4, 4), ValueError, "shape must be"),
        (torch.zeros(0, 4), ValueError, "shape must be"),
        (torch.full((2, 2), 1.5), ValueError, r"values must be in \[0, 1\], got 1.5 to 1.5"),
        (torch.full((2, 2), float("nan")), ValueError, "values must be in"),
        (torch.zeros(2, 2, dtype=torch.int64), TypeError, "dtype must be uint8 or floating point, got torch.int64"),
        ([[1]], TypeError, "argument must be a tensor, not list"),
    ],
)
def test_what_is_no_image_is_rejected(tensor, error, message):
    with pytest.raises(error, match=message):
        images.png(tensor)


def test_an_enlarged_image_repeats_its_pixels():
    tensor = torch.tensor([[1, 2]], dtype=torch.uint8)
    assert pixels(images.png(tensor, scale=2)) == (4, 2, 0, bytes([1, 1, 2, 2, 1, 1, 2, 2]))
    with pytest.raises(ValueError, match="scale must be positive, got 0"):
        images.png(tensor, scale=0)


def test_rescaled_values():
    assert pixels(images.png(torch.tensor([[-1.0, 0.0, 1.0]]), rescale=True))[3] == bytes([0, 128, 255])


# ---- tables


@pytest.mark.parametrize(
    ("tensor", "parts"),
    [
        (torch.tensor(2.5), ["Tensor [], float32, cpu", "2.5000"]),
        (torch.zeros(0, 3), ["Tensor [0, 3]"]),
        (torch.tensor([True, False]), ["<td>true</td><td>false</td>", "bool"]),
        (torch.tensor([1 + 2j]), ["(1+2j)"]),
        (torch.ones(2, 2, device="meta"), ["meta"]),
        (torch.eye(2).to_sparse(), ["sparse_coo", "indices"]),
        (torch.ones(9, 9, 2, 2), ["[0, 0]", "[8, 8]", "only the first and the last"]),
        (torch.tensor([float("nan"), float("inf"), 1e-9]), ["nan", "inf", "1.0000e-09"]),
        (torch.ones(1, dtype=torch.bfloat16, requires_grad=True), ["bfloat16", "requires_grad", "1.0000"]),
    ],
)
def test_every_tensor_has_a_table(tensor, parts):
    shown = tensors.tensor_html(tensor)
    assert all(part in shown for part in parts), shown


def test_a_printed_table_keeps_its_cells():
    text = "Layer (type)    Output shape\n----------------------------\nNet             [1, 10]\n  a (Linear)    -\n"
    shown = tables.text_table_html(text)
    assert re.findall(r"<td[^>]*>([^<]*)</td>", shown) == ["Net", "[1, 10]", "a (Linear)", "-"]
    assert tables.text_table_html("one\ntwo\nthree") is None
    assert tables.numbers_html({"a": "text"}) is None


# ---- a terminal


def test_ipython_in_a_terminal_runs_simple_cells():
    """Without a kernel there are no images and no updated outputs, but text."""
    program = """
import torch
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(colors="nocolor")
shell.run_cell("%load_ext simple_torch")
shell.run_cell("%%simple\\nuse torch\\nval t = torch.ones([2])\\nt")
shell.run_cell("%%simple\\nval xs = [1]\\nxs[3]")
shell.run_cell("%%simple\\nval =")
print(shell.user_ns["t"].data_ptr() == shell.run_line_magic("simple", "t.data_ptr()"))
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True, timeout=100
    )
    assert "tensor([1., 1.])" in done.stdout
    assert "----> 3 xs[3]" in done.stdout and "IndexError: index 3 is out of range" in done.stdout
    assert "SyntaxError" in done.stdout and "val =" in done.stdout
    assert done.stdout.endswith("True\n")
    assert "\x1b[" not in done.stdout
