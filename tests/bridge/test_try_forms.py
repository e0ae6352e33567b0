"""Each function of py and each method of its objects has a try_ form.

What the forms do is shown by tests/spec/python_surface_spec.spl.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "simple" / "python"
CANNOT_FAIL = {"is_initialized", "type_name"}
OF_OBJECTS_LIFE = {"drop", "attempt"}  # attempt() is itself such a form, for all else


def exported() -> set[str]:
    """The functions that `use python as py` exports, by their names in mod.spl."""
    text = (FOLDER / "mod.spl").read_text()
    names = set(re.findall(r"^fn (\w+)", text, re.MULTILINE))
    shown = " ".join(re.findall(r"^export (.*)$", text, re.MULTILINE)).replace(",", " ").split()
    return names & set(shown)


def methods(of: str) -> set[str]:
    text = (FOLDER / "object.spl").read_text()
    body = re.search(rf"^class {of}:\n(.*?)(?=^\S)", text, re.MULTILINE | re.DOTALL)[1]
    return {name for name in re.findall(r"^    fn (\w+)", body, re.MULTILINE) if not name.startswith("__")}


@pytest.mark.parametrize(("of", "names"), [("py", exported()), ("Iterator", methods("Iterator"))])
def test_each_call_has_a_try_form(of, names):
    plain = {name for name in names if not name.startswith("try_")} - CANNOT_FAIL - OF_OBJECTS_LIFE
    assert {name for name in plain if f"try_{name}" not in names} == set()
    assert len(plain) > (0 if of == "Iterator" else 15), "the sources are read as they are written"


def test_calls_attributes_and_subscripts_have_them_too():
    assert exported() >= {"try_call", "try_get", "try_getitem", "try_setitem"}


def test_each_method_of_an_object_has_a_function_and_a_try_form():
    """The functions also reach objects whose own attributes have these names."""
    functions = exported()
    assert {name for name in methods("Object") if name not in functions} == set()
    assert {name for name in methods("Object") - CANNOT_FAIL if f"try_{name}" not in functions} == set()
