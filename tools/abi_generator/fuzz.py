"""The table of tests/abi/fuzz_all.c: how to call every exported function, and the kind of each parameter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from abi_generator.kinds import load_kinds
from abi_generator.signatures import c_parameter_text, spelling_declaration, spelling_result
from abi_generator.sources import NOTE
from abi_generator.table import HANDLE_LISTS, HANDLES, KINDS, LISTS, Function, Spelling, Value

LIST_ELEMENTS = {"tensors": "TENSOR", "objects": "OBJECT"}
CALLBACKS = {"location", "caller", "ender", "interrupter", "callback", "finisher"}


@dataclass(frozen=True)
class Parameter:
    c_type: str
    kind: str  # enum FuzzKind of tests/abi/fuzz_table.h, without its prefix
    name: str
    handle: str = ""  # enum SptHandleKind without its prefix; "" is any kind or no handle


def table_source(functions: list[Function], root: Path) -> str:
    handles = {sign.rstrip("?"): kind.name for kind in load_kinds(root)[1] for sign in kind.signatures}
    thunks, rows = [], []
    for f in functions:
        _add(thunks, rows, f"int32_t spt_{f.name}({c_parameter_text(f)})", _canonical(f, handles), ("STATUS", ""))
        for s in f.spellings:
            _add(thunks, rows, spelling_declaration(f, s), _spelled(f, s, handles), _spelled_result(f, s, handles))
    for declaration in _library_declarations(root):
        _add(thunks, rows, declaration, *_library_parameters(declaration))
    body = "\n".join(thunks)
    table = "\n".join(rows)
    return f"""\
/* {NOTE} */
/* How to call every exported function, and the kind of each parameter. */
#include "simple_torch/simple_api.h"
#include "tests/abi/fuzz_table.h"

{body}

const FuzzFunction kFuzzFunctions[] = {{
{table}
}};
const int kFuzzFunctionCount = {len(rows)};
"""


def _add(thunks: list[str], rows: list[str], declaration: str, parameters: list[Parameter], result: tuple) -> None:
    name = re.search(r"(\w+)\(", declaration)[1]
    passed = ", ".join(_operand(p.c_type, i) for i, p in enumerate(parameters))
    target = _target(declaration.split(name)[0].strip())
    ignored = "" if parameters else "(void)a; "
    ignored += "" if target else "(void)r; "
    thunks.append(f"static void call_{name}(const FuzzWord* a, FuzzWord* r) {{ {ignored}{target}{name}({passed}); }}")
    described = ", ".join(_described(p.kind, p.handle, p.name) for p in parameters) or '{FUZZ_VOID, 0, ""}'
    returned = f"{_described(*result, '')}, {len(parameters)}"
    rows.append(f'    {{"{name}", "{declaration}", call_{name}, {returned}, {{{described}}}}},')


def _described(kind: str, handle: str, name: str) -> str:
    number = f"SPT_HANDLE_{handle}" if handle else "0"
    return f'{{FUZZ_{kind}, {number}, "{name}"}}'


def _operand(c_type: str, index: int) -> str:
    word = f"a[{index}]"
    if c_type.startswith("Spt"):
        return f"({c_type}){word}.function"
    if c_type == "bool":
        return f"({word}.i & 1) != 0"
    if c_type in {"int32_t", "int"}:
        return f"({c_type}){word}.i"
    return f"{word}.{ {'int64_t': 'i', 'double': 'f', 'const char*': 's'}.get(c_type, 'p') }"


def _target(c_type: str) -> str:
    if c_type == "void":
        return ""
    return f"r->{ {'double': 'f', 'const char*': 's'}.get(c_type, 'p' if '*' in c_type else 'i') } = "


def _canonical(function: Function, handles: dict[str, str]) -> list[Parameter]:
    parameters = []
    for arg in function.args:
        types = KINDS[arg.kind].c
        parameters.append(Parameter(types[0], *_argument(arg, handles)))
        if len(types) == 2:
            parameters.append(Parameter(types[1], "LENGTH", f"{arg.name}_len"))
    for result in function.results:
        types = KINDS[result.kind].out
        parameters.append(
            Parameter(f"{types[0]}*", f"OUT_{_result_kind(result.kind)}", result.name, _handle(result, handles))
        )
        if len(types) == 2:
            parameters.append(Parameter(f"{types[1]}*", "OUT_LENGTH", f"{result.name}_len"))
    return parameters


def _handle(value: Value, handles: dict[str, str]) -> str:
    return LIST_ELEMENTS.get(value.kind, handles.get(value.kind.rstrip("?"), ""))


def _argument(arg: Value, handles: dict[str, str]) -> tuple[str, str, str]:
    """Kind, name and kind of handle of a C argument."""
    if arg.kind in HANDLES:
        return "HANDLE", arg.name, _handle(arg, handles)
    if arg.kind in HANDLE_LISTS:
        return "HANDLES", arg.name, _handle(arg, handles)
    if arg.kind == "text":
        return {"kinds": "LETTERS", "code": "CODE", "op": "OPERATOR"}.get(arg.name, "TEXT"), arg.name, ""
    if arg.kind == "address" and arg.name == "view":
        return "VIEW", arg.name, ""
    return arg.kind.upper(), arg.name, ""


def _result_kind(kind: str) -> str:
    if kind in HANDLES:
        return "HANDLE"
    return "HANDLES" if kind in HANDLE_LISTS else kind.upper()


def _spelled(function: Function, spelling: Spelling, handles: dict[str, str]) -> list[Parameter]:
    text = re.search(r"\((.*)\)$", spelling_declaration(function, spelling))[1]
    types = iter([] if text == "void" else [part.rsplit(" ", 1)[0] for part in text.split(", ")])
    parameters = []
    for arg in function.args:
        kind, name, handle = _argument(arg, handles)
        if spelling.pointers:
            parameters.append(Parameter(next(types), kind, name, handle))
            if arg.kind == "dims":
                parameters.append(Parameter(next(types), "LENGTH", f"{name}_len"))
        elif arg.kind in LISTS and spelling.flat is not None:
            element = "HANDLE" if arg.kind in HANDLE_LISTS else "I64"
            parameters += [Parameter(next(types), element, f"{name}_{i}", handle) for i in range(spelling.flat)]
        elif arg.kind in LISTS:
            parameters.append(Parameter(next(types), f"ARRAY_{kind}", name, handle))
        else:
            parameters.append(Parameter(next(types), kind, name, handle))
    return parameters


def _spelled_result(function: Function, spelling: Spelling, handles: dict[str, str]) -> tuple[str, str]:
    if not function.results:
        return "VOID", ""
    first = function.results[0]
    c_type = spelling_result(function, spelling)
    if c_type == "SplArray*":
        if len(function.results) > 1:
            return "ARRAY_HANDLES", _handle(first, handles)
        kind = _result_kind(first.kind)
        return (kind if kind == "ANYS" else f"ARRAY_{kind}"), _handle(first, handles)
    return _result_kind(first.kind), _handle(first, handles)


def _library_declarations(root: Path) -> list[str]:
    header = (root / "abi" / "include" / "simple_torch" / "library.h").read_text()
    return re.findall(r"^SPT_API (.*\b(?:spt|rt)_\w+\(.*\));$", header, flags=re.MULTILINE)


def _library_parameters(declaration: str) -> tuple[list[Parameter], tuple[str, str]]:
    """Functions of library.h have no row in the table; each has at most one parameter, a string or an address."""
    result, parameter = re.fullmatch(r"(.*?)\w+\((.*)\)", declaration).groups()
    kinds = {"void": [], "const char* name": [Parameter("const char*", "TEXT", "name")]}
    parameters = kinds.get(parameter, [Parameter("void*", "ADDRESS", "memory")])
    return parameters, (
        {"void": "VOID", "char*": "TEXT", "const char*": "BORROWED_TEXT"}.get(result.strip(), "I64"),
        "",
    )
