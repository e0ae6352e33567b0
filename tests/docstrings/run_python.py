"""Runs the examples in Python: `run_python.py OUTPUT PART`, where PART is 1 for all and 10 for each tenth.

OUTPUT receives, by the name of the example, the number of each statement that Python runs and what it produced: the
standard output, and lines (kind, path, payload) as recorder.spl prints them, with digests of the
tensors.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import os
import pickle
import random
import signal
import sys
import tempfile
import warnings
from typing import Any

import torch
from digests import digest
from translation import assigned

from examples import Example, examples

TIME_LIMIT_S = 20
Line = tuple[str, str, Any]


def items(values: list[Any], path: str) -> list[Line]:
    found: list[Line] = [("sequence", path, str(len(values)))]
    for i, value in enumerate(values):
        found += lines(value, f"{path}/{i}")
    return found


def tensor(value: torch.Tensor, path: str) -> list[Line]:
    is_strided = value.layout == torch.strided and not value.is_nested
    strides = str(list(value.stride())) if is_strided else ""
    shape = "" if value.is_nested else str(list(value.shape))
    dtype = str(value.dtype).removeprefix("torch.")
    words = [dtype, shape, strides, str(value.layout), str(value.requires_grad).lower()]
    return [("tensor", path, (";".join(words), digest(value))), ("text", f"{path}!", str(value))]


def is_plain_text(text: str) -> bool:
    """Whether the text is a description, not the address of an object."""
    return " at 0x" not in text


def lines(value: Any, path: str) -> list[Line]:
    """The value and its parts as lines."""
    if type(value).__module__ == "numpy":
        return [("object", path, f"{type(value).__name__};{value}")]
    match value:
        case None:
            return [("none", path, "")]
        case bool():
            return [("bool", path, str(value).lower())]
        case int():
            return [("int", path, str(value))]
        case float():
            return [("float", path, repr(value))]
        case complex():
            return [("complex", path, f"{value.real!r}, {value.imag!r}")]
        case str():
            return [("text", path, value)]
        case torch.Tensor():
            return tensor(value, path)
        case torch.dtype():
            return [("dtype", path, str(value).removeprefix("torch."))]
        case torch.device():
            return [("device", path, str(value))]
        case torch.layout() | torch.memory_format():
            return [("text", path, str(value))]
        case set() | frozenset():
            return items(sorted(value, key=str), path)
        case list() | tuple() | range():
            return items(list(value), path)
        case dict():
            found: list[Line] = [("dict", path, str(len(value)))]
            for key, item in value.items():
                found += lines(item, f"{path}/{key}")
            return found
    if callable(value) and not isinstance(value, torch.nn.Module) and not hasattr(type(value), "__dict__"):
        return [("callable", path, "")]
    if isinstance(value, type) or type(value).__name__ in ("function", "builtin_function_or_method", "method"):
        return [("callable", path, "")]
    text = repr(value) if type(value).__module__.startswith("torch") else str(value)
    return [("object", path, f"{type(value).__name__};{text if is_plain_text(text) else ''}")]


def stop(_signal: int, _frame: Any) -> None:
    raise TimeoutError


def run_statement(statement: ast.stmt, names: dict[str, Any]) -> tuple[str, list[Line]]:
    """Runs one statement. Returns its output, and the lines of the values that it assigned or of its own."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        if isinstance(statement, ast.Expr):
            value = eval(compile(ast.Expression(statement.value), "example", "eval"), names)
            pairs = [("_", value)]
        else:
            exec(compile(ast.Module([statement], []), "example", "exec"), names)
            pairs = [(name, names.get(name)) for name in recorded_names(statement)]
    return out.getvalue(), [line for name, value in pairs for line in lines(value, name)]


def recorded_names(statement: ast.stmt) -> list[str]:
    """The names whose values are compared after the statement."""
    found = assigned([statement])
    if isinstance(statement, (ast.Assign, ast.AugAssign)):
        for target in getattr(statement, "targets", [getattr(statement, "target", None)]):
            while isinstance(target, (ast.Subscript, ast.Attribute)):
                target = target.value
            if isinstance(target, ast.Name) and target.id not in found:
                found.append(target.id)
    return found


def run_example(example: Example) -> dict[int, tuple[str, list[Line]]]:
    torch.manual_seed(0)
    random.seed(0)
    torch.set_default_device(None)
    torch.set_default_dtype(torch.float32)
    torch.set_printoptions(profile="default")
    torch.set_grad_enabled(True)
    torch.use_deterministic_algorithms(False)
    names: dict[str, Any] = {
        **{"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "optim": torch.optim},
        **{name: importlib.import_module(name) for name in ("math", "numpy", "itertools", "io")},
        "np": importlib.import_module("numpy"),
        **example.own_names(),
    }
    found = {}
    for number, statement in enumerate(example.statements):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            with contextlib.suppress(BaseException):
                exec(compile(ast.Module([statement], []), "example", "exec"), names)
            continue
        signal.alarm(TIME_LIMIT_S)
        state = torch.get_rng_state()
        try:
            found[number] = run_statement(statement, names)
        except (Exception, SystemExit):  # the statement needs what its docstring does not define
            torch.set_rng_state(state)  # Simple does not run it
            continue
        finally:
            signal.alarm(0)
    return found


def main(output: str, part: int) -> None:
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, stop)
    with tempfile.TemporaryDirectory() as folder:
        before = os.getcwd()
        os.chdir(folder)
        chosen = [example for example in examples() if example.number() % part == 0]
        found = {}
        for example in chosen:
            print(example.name, file=sys.stderr, flush=True)
            found[example.name] = run_example(example)
        os.chdir(before)
    with open(output, "wb") as file:
        pickle.dump(found, file)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
