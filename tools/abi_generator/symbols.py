"""The symbols that the front exports."""

from __future__ import annotations

import re
from pathlib import Path

from abi_generator.sources import NOTE
from abi_generator.table import Function


def symbols(functions: list[Function], root: Path) -> list[str]:
    names = [f"spt_{f.name}" for f in functions]
    names += [s.name for f in functions for s in f.spellings]
    include = root / "abi" / "include" / "simple_torch"
    return sorted(names + declared(include / "library.h") + declared(include / "spl_runtime.h"))


def declared(header: Path) -> list[str]:
    """The functions that a hand-written header declares, one on each line."""
    return re.findall(r"^\w[\w \*]*?\b(s\w+|rt_\w+)\(.*\);$", header.read_text(), flags=re.MULTILINE)


def listing(functions: list[Function], root: Path) -> str:
    return "\n".join(symbols(functions, root)) + "\n"


def version_script(functions: list[Function], root: Path) -> str:
    names = "\n".join(f"    {name};" for name in symbols(functions, root))
    return f"# {NOTE}\n{{\n  global:\n{names}\n  local:\n    *;\n}};\n"
