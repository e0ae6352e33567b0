"""The front: slots, canonical functions that jump through them, and Simple's spellings."""

from __future__ import annotations

from abi_generator.signatures import (
    c_parameter_text,
    call_text,
    pointer_parameters,
    spelling_declaration,
    spelling_result,
)
from abi_generator.sources import NOTE
from abi_generator.table import HANDLES, KINDS, LISTS, OWNED_LISTS, Function, Spelling, Value


def front_source(functions: list[Function]) -> str:
    slots = [f for f in functions if f.home == "backend"]
    initial = ",\n    ".join(f"Slot<&BackendTable::{f.name}>::open_then_call" for f in slots)
    absent = ",\n    ".join(f"Slot<&BackendTable::{f.name}>::unavailable" for f in slots)
    forwards = "\n\n".join(
        f"int32_t spt_{f.name}({c_parameter_text(f)}) {{\n  return slot(table.{f.name})({call_text(f)});\n}}"
        for f in slots
    )
    return f"""\
// {NOTE}
// The front's slots and the canonical functions that jump through them.
#include "abi/front/slots.h"

namespace simple_torch::abi {{

constinit BackendTable table = {{
    {initial},
}};

const BackendTable kAbsentBackend = {{
    {absent},
}};

}}  // namespace simple_torch::abi

using simple_torch::abi::slot;
using simple_torch::abi::table;

extern "C" {{

{forwards}

}}  // extern "C"
"""


def simple_adapter(function: Function, spelling: Spelling) -> str:
    flat = spelling.flat is not None
    lines = []
    if repeats_interrupts(function):
        lines.append(f"  if (repeats_interrupt()) {{\n    {failure_return(function, spelling)}\n  }}")
    call_args = []
    for arg in function.args:
        if spelling.pointers:
            call_args += [
                f"reinterpret_cast<int64_t>({name})" if kind == "void*" else name
                for kind, name in pointer_parameters(arg)
            ]
        elif arg.kind in LISTS:
            lines.append(f"  {list_argument(arg, spelling)}")
            lines.append(f"  if (!{arg.name}_list.ok()) {{\n    {failure_return(function, spelling)}\n  }}")
            call_args += [f"{arg.name}_list.data()", f"{arg.name}_list.size()"]
        elif flat and arg.kind == "f64":
            call_args.append(f"std::bit_cast<double>({arg.name})")
        elif flat and arg.kind == "text":
            call_args.append(f"reinterpret_cast<const char*>({arg.name})")
        elif arg.kind == "address":
            call_args.append(f"reinterpret_cast<void*>({arg.name})")
        elif flat and arg.kind == "bool":
            call_args.append(f"{arg.name} != 0")
        elif flat and arg.kind == "i32":
            call_args.append(f"static_cast<int32_t>({arg.name})")
        else:
            call_args.append(arg.name)
    for result in function.results:
        types = KINDS[result.kind].out
        lines.append(f"  {types[0]} {result.name}{{}};")
        call_args.append(f"&{result.name}")
        if len(types) == 2:
            lines.append(f"  {types[1]} {result.name}_len = 0;")
            call_args.append(f"&{result.name}_len")
    callee = f"slot(table.{function.name})" if function.home == "backend" else f"spt_{function.name}"
    lines.append(f"  store_status({callee}({', '.join(call_args)}));")
    lines += result_lines(function, spelling)
    body = "\n".join(lines)
    return f"{spelling_declaration(function, spelling).replace('(void)', '()')} {{\n{body}\n}}"


def repeats_interrupts(function: Function) -> bool:
    """Whether the function calls Python, which SIGINT interrupts. Raising an error does not."""
    can_be_interrupted = any(line.startswith("INTERRUPTED") for line in function.fields.get("errors", []))
    return can_be_interrupted and function.name.startswith("py_") and not function.name.startswith("py_raise")


def list_argument(arg: Value, spelling: Spelling) -> str:
    if spelling.flat is not None:
        items = ", ".join(f"{arg.name}_{i}" for i in range(spelling.flat))
        return f"const FlatList<{spelling.flat}> {arg.name}_list{{{{{items}}}}};"
    holder = {"f64s": "FloatList", "texts": "TextList"}.get(arg.kind, "IntList")
    return f'const {holder} {arg.name}_list({arg.name}, "{arg.name}");'


def failure_value(function: Function, spelling: Spelling) -> int | None:
    return function.fields.get("failure") if spelling.failure is None else spelling.failure


def failure_return(function: Function, spelling: Spelling) -> str:
    result = spelling_result(function, spelling)
    values = {
        "void": "return;",
        "SplArray*": "return spl_array_new();",
        "char*": 'return spl_str_new("");',
        "int64_t": f"return {failure_value(function, spelling) or 0};",
        "double": "return 0.0;",
    }
    return values[result]


def result_lines(function: Function, spelling: Spelling) -> list[str]:
    if not function.results:
        return []
    if len(function.results) > 1:
        names = ", ".join(result.name for result in function.results)
        return [f"  return array_of_results({{{names}}});"]
    (result,) = function.results
    if spelling.pointers:
        value = f"reinterpret_cast<void*>({result.name})" if result.kind in HANDLES else result.name
        return [f"  return {value};"]
    failure = failure_value(function, spelling)
    if failure is not None:
        return [f"  return has_failed() ? {failure} : {result.name};"]
    if result.kind in OWNED_LISTS:
        return [f"  return to_spl_array({result.name}, {result.name}_len);"]
    if result.kind == "anys":
        return [f"  return {result.name} != nullptr ? {result.name} : spl_array_new();"]
    if result.kind == "text":
        text = f"to_spl_string({result.name})"
        return [f"  return {'reinterpret_cast<int64_t>(' + text + ')' if spelling.flat is not None else text};"]
    if result.kind == "address":
        return [f"  return reinterpret_cast<int64_t>({result.name});"]
    if result.kind == "f64" and spelling.flat is not None:
        return [f"  return std::bit_cast<int64_t>({result.name});"]
    return [f"  return {result.name};"]


def simple_source(functions: list[Function]) -> str:
    adapters = "\n\n".join(simple_adapter(f, s) for f in functions for s in f.spellings)
    return f"""\
// {NOTE}
// Simple's spellings: convert the arguments, call the slot, convert the result; return an empty value on failure.
#include <bit>

#include "abi/front/convert.h"
#include "abi/front/slots.h"
#include "simple_torch/simple_api.h"

using namespace simple_torch::abi;  // NOLINT(google-build-using-namespace): every line below is generated

extern "C" {{

{adapters}

}}  // extern "C"
"""
