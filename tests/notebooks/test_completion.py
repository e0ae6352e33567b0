"""Completions and Shift-Tab in Simple cells of both kernels."""

from __future__ import annotations

import pytest

SETUP = '''use torch
use torch.nn
use python as py
class Box:
    """A box."""
    width: f64 = 1.0
    fn area(scale: f64) -> f64: self.width * scale
fn resize(box: Box, factor: f64 = 2.0, keep_ratio = true) -> Box:
    """Returns a larger box."""
    box
val my_box = Box()
val my_tensor = torch.ones([2, 3])'''


@pytest.fixture(params=["simple", "python3"], scope="module")
def cell(request):
    """A kernel, and what begins its Simple cells."""
    name, prefix = ("simple_kernel", "") if request.param == "simple" else ("python_kernel", "%%simple\n")
    kernel = request.getfixturevalue(name)
    assert kernel.run(prefix + SETUP).errors == []
    kernel.run(
        ("%%python\n" if not prefix else "")
        + "import math\npython_value = 'text'\ndef python_function(alpha, beta=1): pass"
    )
    return kernel, prefix


def completed(cell, source):
    kernel, prefix = cell
    return [text.removeprefix(prefix) for text in kernel.complete(prefix + source)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("my_", ["my_box", "my_tensor"]),
        ("print python_v", ["print python_value"]),
        ("my_box.wi", ["my_box.width"]),
        ("val a = my_box.ar", ["val a = my_box.area"]),
        ("math.sq", ["math.sqrt"]),
        ("python_value.startsw", ["python_value.startswith"]),
        ("use torch.nn.utils.r", ["use torch.nn.utils.rnn"]),
        ("use torch.trai", ["use torch.training"]),
        ("use torch.training.{Prog", ["use torch.training.{ProgressBar"]),
        ('py.import("xml.dom.minid', ['py.import("xml.dom.minidom']),
        ("resize(my_box, fac", ["resize(my_box, factor:"]),
        ("nn.Linear(2, in_f", ["nn.Linear(2, in_features:"]),
        ("python_function(1, bet", ["python_function(1, beta:"]),
        (
            "val x = 1\nmy_tensor.requires_g",
            ["val x = 1\nmy_tensor.requires_grad", "val x = 1\nmy_tensor.requires_grad_"],
        ),
        ("whil", ["while"]),
    ],
)
def test_names_are_completed(cell, source, expected):
    found = completed(cell, source)
    assert set(expected) <= set(found)
    assert len(found) < 12


def test_members_of_an_expression_that_would_have_to_be_run_are_not_offered(cell):
    assert completed(cell, "resize(my_box).wi") == []


def test_python_cells_are_completed_as_python(simple_kernel, python_kernel):
    assert "%%python\nimport collections.abc" in simple_kernel.complete("%%python\nimport collections.ab")
    assert "torch.arange" in python_kernel.complete("torch.arang")


def inspected(cell, source, position=None):
    kernel, prefix = cell
    return kernel.inspect(prefix + source, None if position is None else len(prefix) + position)


def test_shift_tab_shows_signatures_shapes_and_documentation(cell):
    shown = inspected(cell, "resize")
    assert "resize(box: Box, factor: f64 = 2.0, keep_ratio = true) -> Box" in shown or "resize(" in shown
    assert "Returns a larger box." in shown
    assert "Linear(in_features: i64, out_features: i64, bias: bool = true" in inspected(cell, "nn.Linear(2, ")
    assert "[2, 3]" in inspected(cell, "my_tensor")
    assert inspected(cell, "no_such_name") == ""


def test_a_question_mark_shows_the_same(simple_kernel, cell):
    for source in ("?nn.Linear", "nn.Linear?"):
        (payload,) = simple_kernel.run(source).reply["payload"]
        assert "in_features: i64" in payload["data"]["text/plain"] or payload["source"] == "page"
