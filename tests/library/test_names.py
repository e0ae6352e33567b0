"""Every public name of PyTorch's modules exists in Simple, or absent_names.spl states why it does not."""

from __future__ import annotations

import functools
import inspect
import json
import operator
import subprocess
import sys

import pytest
from embedded_simple import run, torch

IS_NEWEST = torch.__version__.startswith("2.15.")  # an earlier torch has operators that 2.15 removed
OPERATORS = {"torch.linalg": "linalg_", "torch.fft": "fft_", "torch.special": "special_"}
MODULES = [
    *("torch", "torch.nn", "torch.nn.functional", "torch.nn.init", "torch.nn.utils", "torch.optim"),
    *("torch.optim.lr_scheduler", "torch.optim.swa_utils", "torch.autograd", "torch.autograd.functional"),
    *("torch.func", "torch.utils.data", "torch.cuda", "torch.random", "torch.testing", "torch.accelerator"),
    *("torch.serialization", "torch.backends", "torch.hub", "torch.jit"),
]
OURS = run(
    "".join(f"use {name} as m{i}\n" for i, name in enumerate(MODULES))
    + """
use torch
use torch.absent_names.{ABSENT}
use std.host.{rt_has_method}
val x = torch.ones([1])
fn has_operator(name): not torch.op_schemas(name).is_empty()
fn has_method(name): rt_has_method([x], name) or has_operator(name)
fn absent_names(): ABSENT
fn owner(path):
    match path:
        case "torch.Tensor": x
        case "torch.linalg": torch.linalg
        case "torch.fft": torch.fft
        case _: module(path)
fn error_of(path, name) -> text: attempt(\\: getattr(owner(path), name)).unwrap_err().message.to_string()
fn error_of_method(name) -> text: attempt(\\: x.__invoke__(name, [], {})).unwrap_err().message.to_string()
fn module(name):
    match name:
"""
    + "".join(f'        case "{name}": m{i}\n' for i, name in enumerate(MODULES))
)
ABSENT = OURS.absent_names()


def is_own(module, name) -> bool:
    """Whether a name of `dir()` belongs to the module: neither private nor imported from another package."""
    value = getattr(module, name, None)
    if name.startswith("_") or name == "torch":
        return False
    if inspect.ismodule(value):
        return value.__name__.startswith("torch")
    return (getattr(value, "__module__", None) or "torch").startswith(("torch", "builtins"))


LISTING = """
import json, operator, sys, torch
names = {}
for path in sys.argv[1:]:
    module = operator.attrgetter(path)(sys.modules["__main__"])
    of_object = path in ("torch", "torch.Tensor", "torch.nn.functional")
    names[path] = dir(module) if of_object else getattr(module, "__all__", None) or dir(module)
print(json.dumps(names))
"""


@functools.cache
def names_of_a_fresh_torch() -> dict[str, list[str]]:
    """Without the submodules that other tests of this process import."""
    command = [sys.executable, "-c", LISTING, *MODULES, *OPERATORS, "torch.Tensor"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def public_names(path: str) -> list[str]:
    module = operator.attrgetter(path.removeprefix("torch."))(torch) if path != "torch" else torch
    return sorted({name for name in names_of_a_fresh_torch()[path] if is_own(module, name)})


def exists(path: str, name: str) -> bool:
    if path == "torch.Tensor":
        return OURS.has_method(name)
    if path in OPERATORS:
        return OURS.has_operator(OPERATORS[path] + name)
    try:
        getattr(OURS.module(path), name)
    except AttributeError:
        return False
    return True


@pytest.mark.parametrize("path", [*MODULES, *OPERATORS, "torch.Tensor"])
def test_a_name_exists_or_is_listed_with_its_reason(path):
    listed = {name: reason for reason, names in ABSENT.get(path, {}).items() for name in names}
    listed |= {name: reason for reason, names in ABSENT["everywhere"].items() for name in names}
    absent = [name for name in public_names(path) if not exists(path, name)]
    assert [name for name in absent if name not in listed] == [], "missing: add them, or list them with a reason"


@pytest.mark.parametrize("path", [path for path in ABSENT if path != "everywhere"])
def test_no_listed_name_exists(path):
    listed = [name for names in ABSENT[path].values() for name in names]
    of_this_torch = [name for name in listed if not IS_NEWEST and OURS.has_operator(name)]
    assert [name for name in listed if exists(path, name) and name not in of_this_torch] == [], (
        "no longer absent: remove them from the list"
    )
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("path", [path for path in ABSENT if path != "everywhere"])
def test_the_use_of_a_listed_name_states_the_reason(path):
    listed = {name: reason for reason, names in ABSENT[path].items() for name in names}
    if not IS_NEWEST:
        listed = {name: reason for name, reason in listed.items() if not OURS.has_operator(name)}
    errors = {name: OURS.error_of(path, name) for name in listed}
    owner = "Tensor" if path == "torch.Tensor" else path
    states = [owner in errors[name] and f"{name} ({reason})" in errors[name] for name, reason in listed.items()]
    assert [error for error, is_stated in zip(errors.values(), states, strict=True) if not is_stated] == []


def test_the_call_of_an_absent_method_states_the_reason():
    assert OURS.error_of_method("qr") == "torch.Tensor has no qr (removed from PyTorch)"
    assert "did you mean 'reshape'" in OURS.error_of_method("reshpe")
