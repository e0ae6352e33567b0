"""Writes the examples as programs of Simple, runs them on the host and reads what recorder.spl printed."""

from __future__ import annotations

import ast
import copy
import subprocess
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from digests import digest
from run_python import recorded_names
from translation import Statements, Untranslatable, assigned, name_of

from examples import Example

FOLDER = Path(__file__).parent
MARK = "\x01"
TIME_LIMIT_S = 500
Line = tuple[str, str, Any]
HEADER = """use torch
use torch.nn
use torch.nn.functional as F
use torch.optim
use recorder.{run_statement, is_same, true_division}
"""


@dataclass
class Outcome:
    """What a statement produced: lines of values, standard output, and the error that ended it."""

    lines: list[Line] = field(default_factory=list)
    output: str = ""
    failure: str | None = None


def names_in(statements: list[ast.stmt]) -> set[str]:
    return {node.id for statement in statements for node in ast.walk(statement) if isinstance(node, ast.Name)}


class Program:
    """The source of an example, and the statements that could not be translated."""

    def __init__(self, example: Example, numbers: Collection[int]) -> None:
        self.statements = Statements()
        self.lines: list[str] = []
        self.untranslatable: dict[int, str] = {}
        self.variables: dict[str, None] = {}
        kinds = (ast.FunctionDef, ast.ClassDef)
        run = [item for number, item in enumerate(example.statements) if number in numbers]
        definitions = [item.name for item in run if isinstance(item, kinds)]
        variables = set(assigned(run))
        # A module has one definition of each name: others are assigned to a variable.
        self.repeated = {name for name in definitions if definitions.count(name) > 1 or name in variables}
        own = sorted(names_in(example.statements) & set(example.own_names()))
        defined = set(definitions) - self.repeated
        for name in own:
            if name not in defined:
                self.silently(name, [f"{name} = {example.module}.{name}"])
        for number, statement in enumerate(example.statements):
            is_import = isinstance(statement, (ast.Import, ast.ImportFrom))
            if is_import or number in numbers:
                try:
                    self.add(number, statement, is_import)
                except Untranslatable as problem:
                    self.untranslatable[number] = str(problem)
        self.variables = {name: None for name in self.variables if name not in defined}

    def silently(self, name: str, lines: list[str]) -> None:
        self.variables[name] = None
        self.lines += ["attempt(\\:", *(f"    {line}" for line in lines), "    nil)"]

    def add(self, number: int, statement: ast.stmt, is_import: bool) -> None:
        lines = self.statements(statement)
        if is_import:
            for line in lines:
                self.silently(line.split(" = ")[0], [line])
            return
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            name = statement.name
            if name in self.repeated:
                statement = copy.deepcopy(statement)
                statement.name = f"{name}_{number}"
                lines = self.statements(statement)
                self.variables[name] = None
                lines.append(f"{name} = {statement.name}")
            self.lines += [*lines, f"run_statement({number}, \\: nil, \\_: [])"]
            return
        self.variables |= dict.fromkeys(assigned([statement]))
        if isinstance(statement, ast.Expr) and len(lines) == 1:
            self.lines.append(f'run_statement({number}, (\\: {lines[0]}), \\it: [("_", it)])')
            return
        names = ", ".join(f'("{name}", {name_of(name)})' for name in recorded_names(statement))
        self.lines += [
            f"run_statement({number}, \\:",
            *(f"    {line}" for line in lines),
            f"    nil, \\_: [{names}])",
        ]

    def source(self) -> str:
        used = self.statements.expression.modules
        modules = sorted(used - {"python"} - set(self.variables))
        python = ["use python as py", *(f'val {name} = py.import("{name}")' for name in modules)] if used else []
        if "numpy" in modules and "np" not in self.variables:
            python.append("val np = numpy")
        variables = [f"var {name_of(name)} = nil" for name in self.variables if name not in modules]
        return "\n".join([HEADER, *python, *variables, *self.lines, ""])


def unescaped(text: str) -> str:
    pieces = text.split("\\\\")
    return "\\".join(piece.replace("\\n", "\n").replace("\\t", "\t") for piece in pieces)


def read(output: str) -> dict[str, dict[int, Outcome]]:
    """The outcomes by program and number of the statement; number -1 is of a program that did not run to its end."""
    found: dict[str, dict[int, Outcome]] = {}
    outcome = Outcome()
    block: dict[int, Outcome] = {}
    tensors: list[torch.Tensor] | None = None
    for row in output.split("\n"):
        before, mark, rest = row.partition(MARK)
        outcome.output += before if mark else f"{row}\n"
        if not mark:
            continue
        kind, path, payload = rest.split("\t", 2)
        payload = unescaped(payload)
        match kind:
            case "block":
                saved = Path(f"{path}.pt")
                tensors = torch.load(saved, weights_only=False) if saved.exists() else None
                block = found.setdefault(path, {})
                outcome = Outcome()
            case "statement":
                outcome = block[int(path)] = Outcome(failure="it did not end")
            case "rejected":
                block[-1] = Outcome(failure=payload)
            case "done":
                outcome.failure = None
                outcome = Outcome()
            case "failure":
                outcome.failure = payload
                outcome = Outcome()
            case "tensor":
                place, _, facts = payload.partition(";")
                found_digest = digest(tensors[int(place)]) if tensors is not None else "not saved"
                outcome.lines.append((kind, path, (facts, found_digest)))
            case "unsaved" | "end":
                outcome = Outcome()
            case _:
                outcome.lines.append((kind, path, payload))
    return found


def run(host: str, files: list[Path], folder: Path) -> tuple[dict[str, dict[int, Outcome]], str]:
    """Runs the files in one process, and those after one that ends the process in another."""
    found: dict[str, dict[int, Outcome]] = {}
    errors = ""
    folder.joinpath("work").mkdir(exist_ok=True)
    for file in files:
        Path(f"{file}.pt").unlink(missing_ok=True)
    while files:
        listing = folder / "list.txt"
        listing.write_text("".join(f"{file}\n" for file in files))
        result = subprocess.run(
            [host, str(FOLDER / "run_blocks.spl"), str(listing)],
            cwd=folder / "work",
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIME_LIMIT_S,
            stdin=subprocess.DEVNULL,
        )
        outcomes = read(result.stdout)
        errors += result.stderr
        found |= outcomes
        if f"{MARK}end\t" in result.stdout:
            break
        if not outcomes:
            raise RuntimeError(f"the host ran no program: {result.stderr}")
        last = list(outcomes)[-1]
        found[last][-1] = Outcome(failure=f"the process ended with code {result.returncode}")
        errors += f"{last}: the process ended with code {result.returncode}\n"
        files = files[len(outcomes) :]
    return found, errors
