"""C signatures of the canonical functions and of Simple's spellings."""

from __future__ import annotations

import hashlib

from abi_generator.table import HANDLES, KINDS, LISTS, OWNED_LISTS, Function, Spelling, Value


def c_parameters(function: Function) -> list[tuple[str, str]]:
    """(type, name) of every parameter of the canonical form."""
    parameters = []
    for arg in function.args:
        types = KINDS[arg.kind].c
        parameters.append((types[0], arg.name))
        if len(types) == 2:
            parameters.append((types[1], f"{arg.name}_len"))
    for result in function.results:
        types = KINDS[result.kind].out
        parameters.append((f"{types[0]}*", result.name))
        if len(types) == 2:
            parameters.append((f"{types[1]}*", f"{result.name}_len"))
    return parameters


def c_parameter_text(function: Function) -> str:
    return ", ".join(f"{kind} {name}" for kind, name in c_parameters(function)) or "void"


def call_text(function: Function) -> str:
    return ", ".join(name for _, name in c_parameters(function))


def out_parameters(function: Function) -> list[tuple[str, str]]:
    return c_parameters(function)[len(c_parameters(Function("", function.args, [], "", {}))) :]


def fingerprint(functions: list[Function]) -> str:
    lines = [f"{f.name}({c_parameter_text(f)})" for f in functions if f.home == "backend"]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def spelling_parameters(function: Function, spelling: Spelling) -> list[tuple[str, str]]:
    parameters = []
    for arg in function.args:
        if spelling.pointers:
            parameters += pointer_parameters(arg)
        elif spelling.flat is None:
            parameters.append((KINDS[arg.kind].simple_c, arg.name))
        elif arg.kind in LISTS:
            parameters += [("int64_t", f"{arg.name}_{i}") for i in range(spelling.flat)]
        else:
            parameters.append(("int64_t", arg.name))
    return parameters


def pointer_parameters(arg: Value) -> list[tuple[str, str]]:
    if arg.kind in HANDLES:
        return [("void*", arg.name)]
    if arg.kind == "dims":
        return [("int64_t*", arg.name), ("int", f"{arg.name}_len")]
    return [("int" if arg.kind == "i64" else KINDS[arg.kind].c[0], arg.name)]


def spelling_result(function: Function, spelling: Spelling) -> str:
    """The C type. bool and i32 are widened, because dynamic calls read the whole register."""
    if not function.results:
        return "void"
    if spelling.pointers:
        return "void*" if function.results[0].kind in HANDLES else KINDS[function.results[0].kind].out[0]
    if len(function.results) > 1:
        return "SplArray*"
    kind = function.results[0].kind
    if kind in OWNED_LISTS or kind == "anys":
        return "SplArray*"
    if spelling.flat is not None or kind in {"i64", "i32", "bool", "address"} | HANDLES:
        return "int64_t"
    return {"f64": "double", "text": "char*"}[kind]


def spelling_declaration(function: Function, spelling: Spelling) -> str:
    parameters = ", ".join(f"{kind} {name}" for kind, name in spelling_parameters(function, spelling))
    return f"{spelling_result(function, spelling)} {spelling.name}({parameters or 'void'})"
