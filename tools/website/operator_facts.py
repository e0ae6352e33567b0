"""What the operators accept, found by running their examples with other inputs: dtypes, autograd, errors.

Each example becomes a function of three arguments: `first` changes its first tensor of data, `others` the others with
the same kind of elements, and `far` is added to its `dim`.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from website.examples import Example, as_function

_INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
_FLOATING = ("float16", "bfloat16", "float32", "float64")
_COMPLEX = ("complex64", "complex128")
DTYPES = (*_INTEGERS, *_FLOATING, *_COMPLEX, "bool")
_TENSOR = re.compile(r"\btorch\.(tensor|ones|zeros|eye|arange|complex)\(")
_LONGEST_MESSAGE = 200
# Errors of the way in which a function was called, and those with advice to developers of PyTorch.
_UNHELPFUL = (
    "invalid combination of arguments",
    "INTERNAL ASSERT",
    "Could this error message be improved",
    "Could not run",
)
_TIME_LIMIT_S = 300

_PROGRAM = """
use std.json

val DTYPES = [DTYPE_LIST]
fn same(x): x

fn with_grad(x):
    val data = if x.is_floating_point() or x.is_complex(): x else: x.to(torch.float32)
    data.requires_grad_().clone()

fn tensors_of(value):
    if torch.is_tensor(value): [value]
    elif type_of(value) in ["array", "tuple"]: [for each in list(value) if torch.is_tensor(each): each]
    elif hasattr(value, "values"): [value.values]
    else: []

fn kind_of(error) -> text:
    match error:
        case InvalidArgument(_): "InvalidArgument"
        case ShapeMismatch(_, _, _): "ShapeMismatch"
        case DtypeMismatch(_, _, _): "DtypeMismatch"
        case IndexOutOfRange(_): "IndexOutOfRange"
        case NotImplemented(_): "NotImplemented"
        case LinAlg(_): "LinAlg"
        case _: "Torch"

fn error_of(run) -> text:
    match torch.attempt(run):
        case Ok(_): ""
        case Err(error): "{kind_of(error)}: {error.message()}".split("\\n")[0].trim_end()

# Some operators have a node whose backward pass is only an error.
fn has_backward(result) -> bool:
    match torch.attempt(\\: result.abs().sum().backward(retain_graph: true)):
        case Ok(_): true
        case Err(error): not error.message().contains("erivative")

fn is_differentiable_by(example, first, others) -> bool:
    match torch.attempt(\\: tensors_of(example(first, others, 0))):
        case Ok(results): results.any(\\x: x.requires_grad and x.grad_fn != nil and has_backward(x))
        case Err(_): false

fn is_differentiable(example) -> bool:
    [(with_grad, with_grad), (with_grad, same), (same, with_grad)].any(\\changes:
        is_differentiable_by(example, changes.0, changes.1))

fn facts_of(example):
    val errors = [for dtype in DTYPES: error_of(\\: example(\\x: x.to(dtype), \\x: x.to(dtype), 0))]
    val shapes = [error_of(\\: example(same, same, 7)),
        error_of(\\: example(\\x: x.flatten().repeat(5), same, 0)),
        error_of(\\: example(\\x: x.flatten()[:1].reshape([1, 1, 1, 1, 1, 1]), same, 0)),
        error_of(\\: example(\\x: x.flatten()[0], same, 0))]
    (is_differentiable(example), errors, shapes)
"""


@dataclass
class Facts:
    """Of one operator: the dtypes of its data, whether it has a derivative, and errors of inputs of other kinds."""

    dtypes: list[str]
    is_differentiable: bool
    errors: list[str]

    def lines(self) -> list[str]:
        shown = [f"Dtypes on the CPU: {words_of(self.dtypes)}. Autograd: {'yes' if self.is_differentiable else 'no'}."]
        if self.errors:
            shown += ["", "Errors, for example:", "", "```text", *self.errors, "```"]
        return shown


def words_of(dtypes: list[str]) -> str:
    """Dtypes in words, where all of a group are there.

    >>> words_of(["float32", "float64", "complex64", "complex128", "bool"])
    'float32, float64, complex, bool'
    """
    if set(dtypes) == set(DTYPES):
        return "all"
    words: list[str] = []
    for group, word in ((_INTEGERS, "integers"), (_FLOATING, "floating point"), (_COMPLEX, "complex")):
        found = [dtype for dtype in group if dtype in dtypes]
        words += [word] if len(found) == len(group) else found
    return ", ".join([*words, *(["bool"] if "bool" in dtypes else [])])


def tensors_in(code: str) -> Iterator[tuple[int, int]]:
    """The places of the calls that make tensors.

    >>> code = "torch.add(torch.tensor([1.0]), torch.ones(2))"
    >>> [code[start:end] for start, end in tensors_in(code)]
    ['torch.tensor([1.0])', 'torch.ones(2)']
    """
    end = 0
    for found in _TENSOR.finditer(code):
        if found.start() < end:
            continue  # within another
        end = _closed(code, found.end())
        while code.startswith(".reshape(", end):
            end = _closed(code, end + len(".reshape("))
        yield found.start(), end


def _closed(code: str, start: int) -> int:
    """The end of a call whose arguments begin at `start`."""
    depth = 1
    while depth:
        depth += (code[start] in "([") - (code[start] in ")]")
        start += 1
    return start


def kind_of(literal: str) -> str:
    """The kind of a tensor's elements.

    >>> kind_of("torch.tensor([1.0])"), kind_of("torch.tensor([1])"), kind_of("torch.tensor([true])")
    ('float', 'int', 'bool')
    """
    if "true" in literal or "false" in literal:
        return "bool"
    is_int = re.search(r"\d\.\d|complex", literal) is None and literal.startswith(("torch.tensor(", "torch.arange("))
    return "int" if is_int else "float"


def varied(code: str) -> str | None:
    """The code with `first`, `others` and `far`; None without a tensor of data.

    >>> varied("torch.sum(torch.tensor([[1.0]]), dim: 1)")
    'torch.sum(first(torch.tensor([[1.0]])), dim: 1 + far)'
    >>> varied("torch.trace(torch.arange(4).reshape([2, 2]))")
    'torch.trace(first(torch.arange(4).reshape([2, 2])))'
    >>> varied("torch.add(torch.tensor([1.0]), torch.tensor([2.0]))")
    'torch.add(first(torch.tensor([1.0])), others(torch.tensor([2.0])))'
    """
    places = list(tensors_in(code))
    kinds = [kind_of(code[start:end]) for start, end in places]
    data = next((kind for kind in ("float", "int", "bool") if kind in kinds), None)
    if data is None:
        return None
    chosen = [place for place, kind in zip(places, kinds, strict=True) if kind == data]
    if data != "float":
        chosen = chosen[:1]  # the others may be indices
    for number, (start, end) in reversed(list(enumerate(chosen))):
        code = f"{code[:start]}{'others' if number else 'first'}({code[start:end]}){code[end:]}"
    return re.sub(r"\bdim: (-?\d+)", r"dim: \1 + far", code)


def _without_query(code: str) -> str:
    return re.sub(r"\.(shape|dtype|stride\(\))$", "", code)


def is_direct(code: str, name: str) -> bool:
    """Whether the tensors are the operator's own arguments, not those of another call within it.

    >>> is_direct("torch.exp(first(torch.ones(2)))", "exp"), is_direct("first(torch.ones(2)).t()", "t")
    (True, True)
    >>> is_direct("torch.exp(torch.log(first(torch.ones(2))))", "exp")
    False
    """
    bare = code
    for start, end in reversed(list(tensors_in(code))):
        bare = bare[:start] + bare[end:]
    bare = re.sub(r"(first|others)\(\)|, (first|others)\b", "", bare)
    called = re.findall(r"(\w+)\(", bare)
    return called in ([name], [re.sub("^(linalg|fft|special)_", "", name)], [f"{name}_"])


def program(examples: dict[str, Example]) -> str:
    dtypes = ", ".join(f"torch.{dtype}" for dtype in DTYPES)
    lines = ["use torch", _PROGRAM.replace("DTYPE_LIST", dtypes)]
    numbered = [(name, code) for name, example in examples.items()
                if (code := varied(_without_query("\n".join(example.code)))) and is_direct(code, name)]  # fmt: skip
    for number, (_, code) in enumerate(numbered):
        lines += [*as_function(f"example_{number}(first, others, far)", code.split("\n"), "{}"), ""]
    for number, (name, _) in enumerate(numbered):
        lines += ["torch.manual_seed(0)", f'print json.dumps(["{name}", facts_of(example_{number})])']
    return "\n".join(lines) + "\n"


def facts(examples: dict[str, Example], host: str, folder: Path) -> dict[str, Facts]:
    """The facts of each operator with an example. Raises RuntimeError where the program does not run."""
    path = folder / "operator_facts.spl"
    path.write_text(program(examples))
    done = subprocess.run([host, path], capture_output=True, text=True, timeout=_TIME_LIMIT_S, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{path.name}: {done.stderr}")
    found = {}
    for line in done.stdout.splitlines():
        name, (is_differentiable, of_dtypes, of_shapes) = json.loads(line)
        dtypes = [dtype for dtype, error in zip(DTYPES, of_dtypes, strict=True) if not error]
        errors = [*_helpful(of_dtypes)[:1], *_helpful(of_shapes)[:2]]
        found[name] = Facts(dtypes, is_differentiable, errors)
    return found


def _helpful(errors: list[str]) -> list[str]:
    kept = [each for each in errors if each and not any(part in each for part in _UNHELPFUL)]
    return list(dict.fromkeys(each for each in kept if len(each) <= _LONGEST_MESSAGE))
