"""Expressions of Simple print as the same expressions in Python; every public name of simple/torch is covered.

The expressions are in surface.txt. One program of Simple evaluates all of them; Python evaluates its own in this
process. A name that no expression covers is printed with the tests that call it; one that no test calls fails.
"""

from __future__ import annotations

import os
import re
import subprocess
import warnings
from dataclasses import dataclass
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)

ROOT = Path(__file__).resolve().parents[2]
HOST = os.environ.get("SIMPLE_HOST", str(ROOT / "build/release/bin/simple-host"))
SURFACE = Path(__file__).with_name("surface.txt")

SIMPLE_SETUP = """\
use torch
use torch.nn
use torch.tensor.{Tensor}
val a = torch.tensor([[1.5, -2.0, 0.25], [4.0, 0.5, -1.0]])
val b = torch.tensor([[1.5, 1.0, 2.0], [-4.0, 0.75, -1.0]])
val i = torch.tensor([[1, 2, 3], [4, 5, 6]])
val m = torch.tensor([[true, false, true], [false, true, true]])
val c = torch.complex(torch.tensor([1.0, 2.0]), torch.tensor([0.5, -1.0]))
val x = torch.arange(16, dtype: torch.float32).reshape(1, 1, 4, 4)
val s = torch.sparse_coo_tensor(torch.tensor([[0, 1, 1], [2, 0, 2]]), torch.tensor([3.0, 4.0, 5.0]), [2, 3])
val q = torch.quantize_per_tensor(a, 0.1, 10, torch.quint8)
fn seeded(body):
    torch.manual_seed(7)
    body()
fn in_place() -> [any]:
    var x = torch.tensor([3.0, 4.0])
    val y = x
    x %= 2
    var z = torch.tensor([2.0, 4.0])
    val w = z
    z *= 3
    [[x, y], [z, w]]
fn nan() -> f64: 0.0 / 0.0
fn relearned() -> f64:
    val optimizer = torch.optim.SGD([a.clone().requires_grad_()], lr: 0.1)
    optimizer.set_lr(0.5)
    optimizer.lr()
fn layered() -> [[i64]]:
    val model = torch.nn.Sequential()
    model.add_layer_linear(torch.nn.Linear(3, 2))
    model.add_layer_conv2d(torch.nn.Conv2d(1, 2, 3))
    [for p in model.parameters(): p.shape()]
"""


def seeded(body):
    torch.manual_seed(7)
    return body()


def python_names() -> dict:
    a = torch.tensor([[1.5, -2.0, 0.25], [4.0, 0.5, -1.0]])
    return {
        "torch": torch,
        "seeded": seeded,
        "devices": " and ".join(["cpu"] + [f"cuda:{k}" for k in range(torch.cuda.device_count())]),
        "schemas_of": lambda name: list(map(str, torch._C._jit_get_schemas_for_operator(name))),
        "a": a,
        "b": torch.tensor([[1.5, 1.0, 2.0], [-4.0, 0.75, -1.0]]),
        "i": torch.tensor([[1, 2, 3], [4, 5, 6]]),
        "m": torch.tensor([[True, False, True], [False, True, True]]),
        "c": torch.complex(torch.tensor([1.0, 2.0]), torch.tensor([0.5, -1.0])),
        "x": torch.arange(16, dtype=torch.float32).reshape(1, 1, 4, 4),
        "s": torch.sparse_coo_tensor(
            torch.tensor([[0, 1, 1], [2, 0, 2]]), torch.tensor([3.0, 4.0, 5.0]), [2, 3], check_invariants=False
        ),
        "q": torch.quantize_per_tensor(a, 0.1, 10, torch.quint8),
    }


@dataclass(frozen=True)
class Pair:
    simple: str
    python: str


def as_python(expression: str) -> str:
    text = re.sub(r"(\b[A-Za-z_]\w*): ", r"\1=", expression)
    for simple, python in (("true", "True"), ("false", "False"), ("nil", "None")):
        text = re.sub(rf"\b{simple}\b", python, text)
    return text


def pairs() -> list[Pair]:
    lines = [line for line in SURFACE.read_text().splitlines() if line and not line.startswith("# ")]
    parts = [line.split("  ==  ") for line in lines]
    return [Pair(part[0], part[1] if len(part) == 2 else as_python(part[0])) for part in parts]


def shown(value) -> str:
    """The value as Simple prints it."""
    if value is None:
        return "nil"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(shown, value)) + "]"
    return str(value)


def printed_by_simple(folder: Path, expressions: list[str]) -> list[str]:
    program = SIMPLE_SETUP
    for expression in expressions:
        program += (
            f'print "\x01"\nval outcome = attempt(\\: {expression})\n'
            'if outcome.is_ok(): print outcome.unwrap()\nelse: print "!! " + outcome.unwrap_err().message\n'
        ).replace("outcome", f"outcome{program.count(chr(1))}")
    path = folder / "surface.spl"
    path.write_text(program)
    run = subprocess.run([HOST, str(path)], capture_output=True, text=True, check=False, timeout=300)
    assert run.returncode == 0, run.stderr
    return [part.strip("\n") for part in run.stdout.split("\x01")[1:]]


def printed_by_python(pair: Pair, names: dict) -> str:
    try:
        return shown(eval(pair.python, names))
    except Exception as error:
        return "!! " + str(error)


def same(simple: str, python: str) -> bool:
    if python.startswith("!! "):
        return simple.split("\n")[0] == python.split("\n")[0]
    return simple == python


def test_expressions_print_as_in_python(tmp_path):
    everything = pairs()
    printed = printed_by_simple(tmp_path, [pair.simple for pair in everything])
    assert len(printed) == len(everything) > 500
    names = python_names()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = [printed_by_python(pair, names) for pair in everything]
    print(f"\n{len(everything)} expressions compared")
    differing = [
        f"{pair.simple}\n  Python: {expected_text}\n  Simple: {got}"
        for pair, expected_text, got in zip(everything, expected, printed)
        if not same(got, expected_text)
    ]
    assert differing == [], "\n".join(differing)


# The modules whose exports programs use; tests/modules compares nn.functional function by function.
MODULES = ["mod", "nn/mod", "nn/init", "nn/utils/mod", "optim/mod", "memory", "stream", "functions"]
INTERNAL_METHODS = {
    *("operand", "all_log_probs", "projections"),
    *("can_be_fused", "fused_activation", "is_fusible", "has_cells", "is_packed"),
    *("flat_weights", "directions", "fused"),
    *("batched_states", "states_for", "state_list", "state_size", "state_sizes", "zero_states", "zeros_for"),
    *("run_packed", "run_padded", "materialize", "initialize_parameters"),
}
DECLARED = re.compile(r"^ *(?:static |async )?(?:fn|me) (?:fn )?([A-Za-z]\w*)\(")


def methods_of(text: str, classes: set[str]) -> set[str]:
    """The methods of the classes among `classes`."""
    found, holder = set(), ""
    for line in text.splitlines():
        if head := re.match(r"class (\w+)", line):
            holder = head[1]
        elif line and not line.startswith(" "):
            holder = ""
        elif (method := DECLARED.match(line)) and holder in classes:
            found.add(method[1])
    return found - INTERNAL_METHODS


def public_names() -> set[str]:
    """The exports of the public modules: functions, and the methods of classes."""
    folder = ROOT / "simple" / "torch"
    texts = {str(path.relative_to(folder).with_suffix("")): path.read_text() for path in folder.rglob("*.spl")}
    functions = {name[1] for text in texts.values() for line in text.splitlines() if (name := DECLARED.match(line))}
    exported = {
        name
        for module in MODULES
        for line in re.findall(r"^export (.*)$", texts[module], re.M)
        for name in re.findall(r"\w+", line)
    }
    return (functions & exported).union(*(methods_of(text, exported) for text in texts.values()))


def callers_of(name: str, texts: dict[str, str]) -> list[str]:
    call = re.compile(rf"\b{name}\(|\.{name}\b")
    return [file for file, text in texts.items() if call.search(text)]


def called_by_name() -> set[str]:
    """Functions that tests/modules calls by the names of PyTorch's samples and torch.nn.init."""
    from torch.testing._internal.common_methods_invocations import op_db

    sampled = {op.name.removeprefix("nn.functional.") for op in op_db if op.name.startswith("nn.functional.")}
    return sampled | {name for name in vars(torch.nn.init) if name.endswith("_")}


def test_every_public_name_is_covered():
    expressions = " ".join([SIMPLE_SETUP, *(pair.simple for pair in pairs())])
    names = public_names() - called_by_name()
    left = sorted(name for name in names if not re.search(rf"\b{name}\b", expressions))
    tests = [path for kind in ("*.spl", "test_*.py", "module_inputs/*.py") for path in (ROOT / "tests").rglob(kind)]
    texts = {str(path.relative_to(ROOT)): path.read_text() for path in tests if path != Path(__file__)}
    with_tests = {name: callers_of(name, texts) for name in left}
    for name, files in with_tests.items():
        print(f"{name}: {', '.join(files[:3])}")
    assert [name for name, files in with_tests.items() if not files] == []
