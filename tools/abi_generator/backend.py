"""The backend: its table of functions, and the bodies that a row's `expr` describes."""

from __future__ import annotations

import re

from abi_generator.signatures import c_parameter_text, c_parameters, fingerprint, out_parameters
from abi_generator.sources import NOTE
from abi_generator.table import LISTS, Function, Value


def backend_table(functions: list[Function]) -> str:
    slots = [f for f in functions if f.home == "backend"]
    members = "\n".join(f"  int32_t (*{f.name})({c_parameter_text(f)});" for f in slots)
    bodies = "\n".join(f"int32_t {f.name}({c_parameter_text(f)});" for f in slots)
    return f"""\
// {NOTE}
// One slot for each function that needs LibTorch, and the declarations of the bodies behind them.
#pragma once

#include <cstdint>

#include "simple_torch/c_api.h"

namespace simple_torch::abi {{

inline constexpr char kTableFingerprint[] = "{fingerprint(functions)}";

struct BackendTable {{
{members}
}};

namespace body {{
{bodies}
}}  // namespace body

}}  // namespace simple_torch::abi
"""


def backend_fill(functions: list[Function]) -> str:
    slots = [f for f in functions if f.home == "backend"]
    entries = ",\n    ".join(f"body::{f.name}" for f in slots)
    return f"""\
// {NOTE}
// The table of functions that the backend passes to the front.
#include "abi/generated/backend_table.h"

namespace simple_torch::abi {{

extern const BackendTable kBodies = {{
    {entries},
}};

}}  // namespace simple_torch::abi
"""


def body_argument(arg: Value) -> tuple[list[str], str | None]:
    """Statements that unwrap one argument, and the operand for an error (None: no tensor)."""
    name = arg.name
    if arg.kind == "tensor":
        return [
            f"    const auto {name}_borrowed = tensor_argument({name}_handle);",
            f"    const at::Tensor& {name} = *{name}_borrowed;",
        ], f"&{name}"
    if arg.kind == "tensor?":
        return [f"    const std::optional<at::Tensor> {name} = optional_tensor({name}_handle);"], f"pointer_to({name})"
    if arg.kind == "tensors":
        return [f"    const std::vector<at::Tensor> {name} = tensor_list({name}_items, {name}_len);"], None
    if arg.kind == "dims":
        return [f'    const at::IntArrayRef {name} = dims_argument({name}_items, {name}_len, "{name}");'], None
    if arg.kind == "text":
        return [f'    require({name}, "{name}");'], None
    return [], None


def body_parameter(kind: str, name: str, function: Function) -> str:
    for arg in function.args:
        if arg.name == name and arg.kind in {"tensor", "tensor?"}:
            return f"{kind} {name}_handle"
        if arg.name == name and arg.kind in LISTS:
            return f"{kind} {name}_items"
    return f"{kind} {name}"


def is_below_autograd(function: Function) -> bool:
    """Whether the expression is one call of an operation in [skip_autograd]."""
    lone_call = re.match(r"at::(\w+)\(", function.expr)
    return bool(lone_call) and lone_call[1] in function.fields["skip_autograd"]


def backend_body(function: Function) -> str:
    parameters = ", ".join(body_parameter(kind, name, function) for kind, name in c_parameters(function))
    lines = [f'    require({name}, "{name}");' for kind, name in out_parameters(function)]
    operands, lists = [], []
    for arg in function.args:
        statements, operand = body_argument(arg)
        lines += statements
        if operand:
            operands.append(operand)
        if arg.kind == "tensors":
            lists.append(arg.name)
    if operands:
        seen = f"{{{', '.join(operands)}}}"
    else:
        seen = f"at::TensorList({lists[0]})" if lists else "core::kNoOperands"
    shortcut = f"const core::SkipAutogradGuard shortcut({seen}); " if is_below_autograd(function) else ""
    name = function.fields.get("op", function.name)
    call = f'core::with_error_context("{name}", {seen}, [&] {{ {shortcut}return {function.expr}; }})'
    lines += body_result(function, call)
    return f"int32_t {function.name}({parameters}) {{\n  return guarded([&] {{\n" + "\n".join(lines) + "\n  });\n}"


def body_result(function: Function, call: str) -> list[str]:
    if not function.results:
        return [f"    {call};"]
    if len(function.results) > 1:
        names = [result.name for result in function.results]
        lines = [f"    auto results = {call};"]
        lines.append(f"    store_results(results, {', '.join(names)});")
        return lines
    (result,) = function.results
    if result.kind in {"tensor", "tensor?"}:
        return [f"    *out = new_handle({call});"]
    if result.kind == "tensors":
        return [f"    store_handles({call}, out, out_len);"]
    if result.kind in {"dims", "f64s"}:
        return [f"    store_values({call}, out, out_len);"]
    if result.kind == "text":
        return [f"    *out = to_malloc_string({call});"]
    return [f"    *out = {call};"]


def included_ops(functions: list[Function]) -> list[str]:
    names = set()
    for f in functions:
        names |= set(re.findall(r"\bat::([a-z]\w*)\(", f.expr or ""))
        names |= set(f.fields.get("ops", []))
    return sorted(names - {"get_num_threads"})  # of ATen/Parallel.h


def body_sources(functions: list[Function], groups: dict[str, str]) -> dict[str, str]:
    """File name -> text, for the bodies of each group of families. A family without a group is its own group."""
    parts: dict[str, list[Function]] = {}
    for f in functions:
        if f.expr:
            family = f.fields["family"]
            parts.setdefault(groups.get(family, family), []).append(f)
    return {f"bodies_{group}.cpp": body_source(part) for group, part in parts.items()}


def cmake_list(names: list[str]) -> str:
    lines = "\n".join(f"  ${{CMAKE_CURRENT_LIST_DIR}}/{name}" for name in names)
    return f"# {NOTE}\nset(simple_torch_body_sources\n{lines})\n"


def body_source(functions: list[Function]) -> str:
    includes = "\n".join(f"#include <ATen/ops/{name}.h>" for name in included_ops(functions))
    bodies = "\n\n".join(backend_body(f) for f in functions)
    titles = ", ".join(dict.fromkeys(f.fields["title"] for f in functions))
    return f"""\
// {NOTE}
// Bodies that convert the arguments, call one expression and convert the result: {titles}.
{includes}

#include "abi/generated/backend_table.h"
#include "abi/backend/guarded.h"
#include "abi/backend/tensor_arguments.h"
#include "core_libtorch/autograd/autocast.h"
#include "core_libtorch/autograd/differentiate.h"
#include "core_libtorch/skip_autograd.h"
#include "core_libtorch/ops.h"
#include "core_libtorch/threads.h"

namespace simple_torch::abi::body {{

{bodies}

}}  // namespace simple_torch::abi::body
"""
