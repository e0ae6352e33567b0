"""The table of functions: the rows of abi/functions*.toml as objects, and the C types of each kind of value."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from abi_generator.kinds import load_kinds
from abi_generator.sources import ROOT, read_toml


@dataclass(frozen=True)
class Kind:
    """The types of one kind of value: canonical C parameters, C type and type of Simple."""

    c: tuple[str, ...]  # C parameter types of an argument; a second one is the length
    simple_c: str
    simple: str
    out: tuple[str, ...] = ()  # C types behind the out pointers of a result


HANDLE = Kind(("int64_t",), "int64_t", "i64", ("int64_t",))

HANDLES = {"handle", *(name for kind in load_kinds()[1] for name in kind.signatures)}
KINDS = {
    **dict.fromkeys(HANDLES, HANDLE),
    "i64": HANDLE,
    "i32": Kind(("int32_t",), "int32_t", "i32", ("int32_t",)),
    "f64": Kind(("double",), "double", "f64", ("double",)),
    "bool": Kind(("bool",), "bool", "bool", ("bool",)),
    "text": Kind(("const char*",), "const char*", "text", ("char*",)),
    "address": Kind(("void*",), "int64_t", "i64", ("void*",)),
    "dims": Kind(("const int64_t*", "int64_t"), "const SplArray*", "[i64]", ("int64_t*", "int64_t")),
    "tensors": Kind(("const int64_t*", "int64_t"), "const SplArray*", "[i64]", ("int64_t*", "int64_t")),
    "objects": Kind(("const int64_t*", "int64_t"), "const SplArray*", "[i64]", ("int64_t*", "int64_t")),
    "f64s": Kind(("const double*", "int64_t"), "const SplArray*", "[f64]", ("double*", "int64_t")),
    "texts": Kind(("const char* const*", "int64_t"), "const SplArray*", "[text]"),
    "dlpack_versioned": Kind((), "", "", ("struct DLManagedTensorVersioned*",)),
    "dlpack_versioned_in": Kind(("struct DLManagedTensorVersioned*",), "", ""),
    "dlpack_legacy": Kind((), "", "", ("struct DLManagedTensor*",)),
    "dlpack_legacy_in": Kind(("struct DLManagedTensor*",), "", ""),
    "values": Kind(("const SplValue*", "int64_t"), "", ""),
    "buffer": Kind(("SplValue*", "int64_t"), "", ""),
    "dataset_table": Kind(("const SptDataset*",), "", ""),
    "location": Kind(("SptLocation",), "SptLocation", "fn() -> text"),
    "caller": Kind(("SptPyCall",), "SptPyCall", "fn(i64, text, [any], [any]) -> [any]"),
    "ender": Kind(("SptPyEnd",), "SptPyEnd", "fn(i64)"),
    "interrupter": Kind(("SptPyInterrupt",), "SptPyInterrupt", "fn()"),
    "callback": Kind(("SptAutogradCall",), "SptAutogradCall", "fn(i64, i64) -> i64"),
    "finisher": Kind(("SptAutogradEnd",), "SptAutogradEnd", "fn(i64)"),
    "anys": Kind(("const SplArray*",), "const SplArray*", "[any]", ("SplArray*",)),
}


HANDLE_LISTS = {"tensors", "objects"}

LISTS = {"dims", "tensors", "objects", "f64s", "texts"}

OWNED_LISTS = {"dims", "tensors", "objects", "f64s"}


@dataclass(frozen=True)
class Value:
    name: str
    kind: str


@dataclass(frozen=True)
class Spelling:
    """One of Simple's names for a function.

    flat: every argument is an int64, and a list is `flat` arguments. pointers: handles are void*, other integers int,
    as in the specification. failure: the result on failure, if it is not the function's own.
    """

    name: str
    flat: int | None = None
    pointers: bool = False
    failure: int | None = None


@dataclass
class Function:
    name: str
    args: list[Value]
    results: list[Value]
    home: str  # "backend" (a slot) or "front"
    fields: dict
    spellings: list[Spelling] = field(default_factory=list)

    @property
    def expr(self) -> str | None:
        return self.fields.get("expr")


def parse_signature(text: str) -> tuple[list[Value], list[Value]]:
    """`(a: tensor, dim: i64) -> (values: tensor, indices: tensor)`; one result needs no name.

    >>> parse_signature("(a: tensor) -> f64")
    ([Value(name='a', kind='tensor')], [Value(name='out', kind='f64')])
    """
    match = re.fullmatch(r"\((.*?)\)(?:\s*->\s*(.+))?", text.strip())
    if match is None:
        raise ValueError(f"not a signature: {text}")

    def values(part: str) -> list[Value]:
        pairs = [piece.split(":") for piece in part.split(",") if piece.strip()]
        return [Value(name.strip(), kind.strip()) for name, kind in pairs]

    result = (match[2] or "").strip()
    if result.startswith("("):
        results = values(result[1:-1])
    else:
        results = [Value("out", result)] if result else []
    for value in values(match[1]) + results:
        if value.kind not in KINDS:
            raise ValueError(f"unknown kind {value.kind} in {text}")
    return values(match[1]), results


def parse_spelling(text: str) -> Spelling:
    """`name`, `name{flat}`, `name{flat 2}`, `name{pointers}` or `name{else -1}`."""
    match = re.fullmatch(r"(\w+)(?:\{(?:(flat) ?(\d*)|(pointers)|else (-?\d+))\})?", text)
    if match is None:
        raise ValueError(f"not a spelling: {text}")
    name, flat, items, pointers, failure = match.groups()
    return Spelling(
        name,
        flat=int(items or 0) if flat else None,
        pointers=pointers is not None,
        failure=int(failure) if failure else None,
    )


def expand(entry: dict) -> list[dict]:
    """The functions of one entry: one for each row of `each`, with the row's columns for `{0}`, `{1}`…"""
    rows = entry.pop("each", None)
    if rows is None:
        return [entry]

    def fill(value, row):
        if isinstance(value, list):
            return [fill(item, row) for item in value]
        if isinstance(value, str):
            return re.sub(r"\{(\d)\}", lambda m: row[int(m[1])], value)
        return value

    return [{key: fill(value, row) for key, value in entry.items()} for row in rows]


def load_table(root: Path = ROOT) -> list[Function]:
    functions = []
    for path in sorted((root / "abi").glob("functions*.toml")):
        document = read_toml(path)
        operations = document.get("skip_autograd", {}).get("operations", [])
        for entry in document["function"]:
            family = {**document["family"][entry["family"]], "skip_autograd": operations}
            for row in expand({**family, **entry}):
                args, results = parse_signature(row["sig"])
                spellings = [parse_spelling(name) for name in row.get("rt", [])]
                functions.append(Function(row["name"], args, results, row.get("home", "backend"), row, spellings))
    check_unique([f.name for f in functions], "function")
    check_unique([s.name for f in functions for s in f.spellings], "spelling")
    return functions


def check_unique(names: list[str], what: str) -> None:
    duplicates = sorted({name for name in names if names.count(name) > 1})
    if duplicates:
        raise ValueError(f"duplicate {what}: {', '.join(duplicates)}")


def load_bodies(root: Path = ROOT) -> dict[str, str]:
    """Family -> the generated source of its bodies, for the families that `[bodies]` lists."""
    groups = read_toml(root / "abi" / "functions.toml")["bodies"]
    return {family: group for group, families in groups.items() for family in families}


def by_family(functions: list[Function]) -> list[tuple[str, list[Function]]]:
    groups: dict[str, list[Function]] = {}
    for f in functions:
        groups.setdefault(f.fields["title"], []).append(f)
    return list(groups.items())
