"""The examples (`>>>`) of the installed PyTorch's docstrings, as programs of one namespace each."""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap
import zlib
from dataclasses import dataclass

MODULES = [
    *("torch.Tensor", "torch", "torch.nn", "torch.nn.functional", "torch.nn.init", "torch.nn.utils"),
    *("torch.nn.utils.rnn", "torch.nn.utils.parametrizations", "torch.nn.utils.parametrize", "torch.linalg"),
    *("torch.fft", "torch.special", "torch.optim", "torch.optim.lr_scheduler", "torch.optim.swa_utils"),
    *("torch.autograd", "torch.autograd.functional", "torch.autograd.forward_ad", "torch.autograd.graph"),
    *("torch.func", "torch.distributions", "torch.distributions.transforms", "torch.distributions.kl"),
    *("torch.sparse", "torch.utils.data"),
]


@dataclass
class Example:
    """The statements of one docstring."""

    name: str
    module: str
    statements: list[ast.stmt]

    def own_names(self) -> dict[str, object]:
        """The names of the module that defines the docstring, as doctest has them."""
        if self.module in ("torch", "torch.Tensor"):
            return {}
        module = importlib.import_module(self.module)
        return {name: getattr(module, name) for name in getattr(module, "__all__", []) if hasattr(module, name)}

    def number(self) -> int:
        """A number of the name, the same in each run."""
        return zlib.crc32(self.name.encode())


def prompts(docstring: str) -> list[list[str]]:
    """The lines after `>>>` and `...`, grouped where other text interrupts them."""
    groups: list[list[str]] = [[]]
    for line in textwrap.dedent(docstring).splitlines():
        text = line.strip()
        if text.startswith((">>>", "...")) and (groups[-1] or text.startswith(">>>")):
            groups[-1].append(text[3:].removeprefix(" "))
        elif groups[-1]:
            groups.append([])
    return [group for group in groups if group]


def parsed(lines: list[str]) -> list[ast.stmt] | None:
    try:
        return ast.parse(textwrap.dedent("\n".join(lines))).body
    except SyntaxError:
        return None


def statements_of(docstring: str) -> list[ast.stmt]:
    """The statements. A group that is no Python is joined with the next, else left out."""
    groups = prompts(docstring)
    whole = parsed([line for group in groups for line in group])
    if whole is not None:
        return whole
    found: list[ast.stmt] = []
    while groups:
        for size in range(1, min(len(groups), 4) + 1):
            body = parsed([line for group in groups[:size] for line in group])
            if body is not None:
                break
        else:
            size, body = 1, lines_of(groups[0])
        found += body
        groups = groups[size:]
    return found


def lines_of(group: list[str]) -> list[ast.stmt]:
    """The statements of a group that cannot be parsed as a whole: the longest runs of lines that can."""
    found: list[ast.stmt] = []
    while group:
        for size in range(len(group), 0, -1):
            body = parsed(group[:size])
            if body is not None:
                found += body
                break
        else:
            size = 1
        group = group[size:]
    return found


def is_own_class(value: object) -> bool:
    return inspect.isclass(value) and (value.__module__ or "").startswith("torch")


def members(path: str) -> list[tuple[str, object]]:
    """The documented names of a module or class, with the methods of its classes."""
    owner = importlib.import_module(path) if path != "torch.Tensor" else importlib.import_module("torch").Tensor
    listed = None if path == "torch" else getattr(owner, "__all__", None)
    found: list[tuple[str, object]] = [(path, owner)]
    for name in sorted(set(listed or dir(owner))):
        value = getattr(owner, name, None)
        is_foreign = inspect.isclass(value) and not (value.__module__ or "").startswith("torch")
        is_plain = isinstance(value, (bool, int, float, str, list, tuple, dict))
        if name.startswith("_") or inspect.ismodule(value) or is_foreign or is_plain:
            continue
        found.append((f"{path}.{name}", value))
        if is_own_class(value):
            found += [
                (f"{path}.{name}.{method}", getattr(value, method, None))
                for method in sorted(vars(value))
                if not method.startswith("_") and not isinstance(getattr(value, method, None), (int, str, dict))
            ]
    return found


def examples() -> list[Example]:
    """All examples, each docstring once, under the first of its names."""
    seen: set[str] = set()
    found = []
    for path in MODULES:
        for name, value in members(path):
            docstring = getattr(value, "__doc__", None)
            if not isinstance(docstring, str) or ">>>" not in docstring or docstring in seen:
                continue
            seen.add(docstring)
            statements = statements_of(docstring)
            if statements:
                found.append(Example(name, path, statements))
    return found
