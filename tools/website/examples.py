"""The examples of the reference: short programs of Simple with what they print, in tools/website/examples/*.txt.

A file begins with the `use` lines of its examples. `== name` begins the example of one public name; names that share
one are separated by commas. The value of its last line is printed. Lines that begin with `| ` are the output, which
tools/generate_examples.py writes.
"""

from __future__ import annotations

import functools
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from website.repository import ROOT

FOLDER = ROOT / "tools" / "website" / "examples"
_MARK = "\x01"
_STATEMENT = re.compile(
    r"(print|val|var|for|if|while|assert|with|match|raise|return|use|try|fn)\b|\w+(\.\w+)* [-+*/]?= "
)
_TIME_LIMIT_S = 300


@dataclass
class Example:
    """The code for some names, and what it prints."""

    names: list[str]
    code: list[str] = field(default_factory=list)
    output: list[str] = field(default_factory=list)

    def text(self) -> str:
        shown = [f"| {line}".rstrip() for line in self.output]
        return "\n".join([f"== {', '.join(self.names)}", *self.code, *shown]) + "\n"

    def markdown(self, uses: list[str]) -> str:
        """A block of code, whose output is a comment."""
        shown = [f"# {line}".rstrip() for line in self.output]
        return "\n".join(["```simple", *uses, *self.code, *shown, "```"])


@dataclass
class ExampleFile:
    """The examples of one file, which share their `use` lines."""

    path: Path
    uses: list[str] = field(default_factory=list)
    examples: list[Example] = field(default_factory=list)

    def text(self) -> str:
        return "\n".join(["\n".join(self.uses) + "\n", *(example.text() for example in self.examples)])


def read(path: Path) -> ExampleFile:
    found = ExampleFile(path)
    for line in path.read_text().splitlines():
        if line.startswith("== "):
            found.examples.append(Example([name.strip() for name in line[3:].split(",")]))
        elif not found.examples:
            found.uses += [line] if line else []
        elif line.startswith("|"):
            found.examples[-1].output.append(line[2:])
        elif line:
            found.examples[-1].code.append(line)
    return found


@functools.cache
def all_files() -> tuple[ExampleFile, ...]:
    return tuple(read(path) for path in sorted(FOLDER.glob("*.txt")))


@functools.cache
def by_name() -> dict[str, Example]:
    """The example of each public name: `torch.nn.Linear`, or `aten.add` for an operator."""
    return {name: example for file in all_files() for example in file.examples for name in example.names}


def program(file: ExampleFile) -> str:
    """A program that prints a mark and the output of each example."""
    lines = [*file.uses, ""]
    for number, example in enumerate(file.examples):
        lines += [*as_function(f"example_{number}()", example.code, "print({})"), ""]
    has_torch = any(re.match(r"use torch\b", use) for use in file.uses)
    for number in range(len(file.examples)):
        lines.append(f'print "{_MARK}{number}"')
        lines += ["torch.manual_seed(0)"] if has_torch else []
        lines += ["try:", f"    example_{number}()", "except Exception as error:", '    print("error: {error}")']
    return "\n".join(lines) + "\n"


def as_function(header: str, code: list[str], last: str) -> list[str]:
    """The code as a function, whose last line becomes `last` with it in braces if it is a value."""
    *first, end = code
    is_value = not end.startswith(" ") and _STATEMENT.match(end) is None
    return [f"fn {header}:", *(f"    {line}" for line in [*first, last.format(end) if is_value else end])]


def outputs(file: ExampleFile, host: str, folder: Path) -> list[list[str]]:
    """What each example prints. Raises RuntimeError where the program does not run."""
    path = folder / f"{file.path.stem}.spl"
    path.write_text(program(file))
    done = subprocess.run([host, path], capture_output=True, text=True, timeout=_TIME_LIMIT_S, check=False, cwd=folder)
    parts = done.stdout.split(_MARK)[1:]
    if done.returncode != 0 or len(parts) != len(file.examples):
        raise RuntimeError(f"{file.path.name}: {done.stderr or f'{len(parts)} of {len(file.examples)} examples ran'}")
    return [part.partition("\n")[2].rstrip("\n").split("\n") for part in parts]
