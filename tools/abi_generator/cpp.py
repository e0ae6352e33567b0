"""The C++ functions: functions.hpp, a wrapper of each function of the table."""

from __future__ import annotations

import textwrap

from abi_generator.kinds import HandleKind
from abi_generator.sources import NOTE
from abi_generator.table import HANDLES, Function, Value, by_family

# What values.hpp and simple_torch.hpp have by hand: owners of handles, operators by name, DLPack structures.
BY_HAND = {
    "release", "discard_tensor", "scope_begin", "scope_keep", "scope_end", "another_handle",
    "op", "op_find", "op_call", "op_direct", "op_direct_results", "op_direct_tensor", "op_direct_number", "op_defaults",
    "to_dlpack", "into_dlpack", "from_dlpack",
}  # fmt: skip

HEAD = """\
// {note}
// The functions of the C ABI for C++17: handles are owned, failures are exceptions (TorchError).
#ifndef SIMPLE_TORCH_FUNCTIONS_HPP_
#define SIMPLE_TORCH_FUNCTIONS_HPP_

#include <simple_torch/values.hpp>

#include <tuple>

namespace simple_torch {{

"""

ARGUMENTS = {
    "i64": "int64_t", "i32": "int32_t", "f64": "double", "bool": "bool", "address": "void*",
    "text": "const std::string&", "dims": "const IntList&", "f64s": "const DoubleList&", "tensors": "const TensorList&",
    "objects": "const HandleList<Object>&", "texts": "const TextList&", "anys": "const Arguments&",
    "location": "SptLocation", "caller": "SptPyCall", "ender": "SptPyEnd", "interrupter": "SptPyInterrupt",
    "callback": "SptAutogradCall", "finisher": "SptAutogradEnd", "dataset_table": "const SptDataset&",
    "dlpack_legacy_in": "DLManagedTensor*",
}  # fmt: skip

# Kind -> (C++ type, the C variables behind the out pointers, the expression of the result).
RESULTS = {
    "i64": ("int64_t", ("int64_t {} = 0",), "{}"),
    "i32": ("int32_t", ("int32_t {} = 0",), "{}"),
    "f64": ("double", ("double {} = 0",), "{}"),
    "bool": ("bool", ("bool {} = false",), "{}"),
    "address": ("void*", ("void* {} = nullptr",), "{}"),
    "text": ("std::string", ("char* {} = nullptr",), "detail::take_text({})"),
    "dims": ("std::vector<int64_t>", ("int64_t* {} = nullptr", "int64_t {}_len = 0"), "detail::take_list({}, {}_len)"),
    "f64s": ("std::vector<double>", ("double* {} = nullptr", "int64_t {}_len = 0"), "detail::take_list({}, {}_len)"),
    "tensors": ("std::vector<Tensor>", ("int64_t* {} = nullptr", "int64_t {}_len = 0"),
                "detail::take_handles<Tensor>({}, {}_len)"),
    "objects": ("std::vector<Object>", ("int64_t* {} = nullptr", "int64_t {}_len = 0"),
                "detail::take_handles<Object>({}, {}_len)"),
    "anys": ("Array", ("SplArray* {} = nullptr",), "Array({})"),
    "dlpack_legacy": ("DLManagedTensor*", ("DLManagedTensor* {} = nullptr",), "{}"),
}  # fmt: skip


def owner_of(kind: HandleKind) -> str:
    """The C++ type that owns a handle.

    >>> owner_of(HandleKind(9, "EVENT_WRITER", "event writer", ("event_writer",)))
    'EventWriterHandle'
    """
    return kind.camel if kind.name in ("TENSOR", "OBJECT") else f"{kind.camel}Handle"


def functions_header(functions: list[Function], handles: list[HandleKind]) -> str:
    owners = {signature: owner_of(kind) for kind in handles for signature in kind.signatures}
    out = [HEAD.format(note=NOTE)]
    for kind in handles:
        if kind.name != "TENSOR":
            out.append(f"using {owner_of(kind)} = Handle<SPT_HANDLE_{kind.name}>;\n")
    for title, group in by_family(functions):
        wrapped = [_wrapper(f, owners) for f in group if f.name not in BY_HAND]
        if wrapped:
            out.append(f"\n// --- {title}\n\n" + "\n".join(wrapped))
    out.append("\n}  // namespace simple_torch\n\n#endif  // SIMPLE_TORCH_FUNCTIONS_HPP_\n")
    return "".join(out)


def _wrapper(f: Function, owners: dict[str, str]) -> str:
    consumed = f.fields.get("consumes", "")
    parameters, passed = _arguments(f, owners, consumed)
    types, locals_, values = [], [], []
    for result in f.results:
        if result.kind in HANDLES:
            owner = owners[result.kind]
            row = (owner, ("int64_t {} = 0",), f"{owner}({{}})")
        else:
            row = RESULTS[result.kind]
        types.append(row[0])
        locals_ += [declaration.format(result.name) for declaration in row[1]]
        values.append(row[2].replace("{}", result.name))
        passed += [f"&{declaration.format(result.name).split(' = ')[0].split()[-1]}" for declaration in row[1]]
    kind = f"std::tuple<{', '.join(types)}>" if len(types) > 1 else (types or ["void"])[0]
    lines = [f"  {each};" for each in locals_] + [f"  check(spt_{f.name}({', '.join(passed)}));"]
    if consumed:
        lines.append(f"  {consumed}.release();  // consumed")
    if values:
        lines.append(f"  return {{{', '.join(values)}}};" if len(values) > 1 else f"  return {values[0]};")
    comment = "\n".join(f"/// {line}" for line in textwrap.wrap(f.fields["summary"], 106))
    return f"{comment}\ninline {kind} {f.name}({', '.join(parameters)}) {{\n" + "\n".join(lines) + "\n}\n"


def _arguments(f: Function, owners: dict[str, str], consumed: str) -> tuple[list[str], list[str]]:
    """The parameters of the wrapper, and the arguments of the C function."""
    parameters, passed = [], []
    args = iter(enumerate(f.args))
    for i, arg in args:
        if arg.name == "kinds":  # with the array that follows, and the names of keyword arguments
            values = f.args[i + 1]
            has_names = i + 2 < len(f.args) and f.args[i + 2] == Value("names", "texts")
            next(args)
            parameters.append(f"const Arguments& {values.name}")
            source = values.name if has_names else f"{values.name}.without_names()"
            passed += [f"{source}.kinds()", f"{values.name}.values()"]
            if has_names:
                next(args)
                passed += [f"{values.name}.names()", f"{values.name}.names_size()"]
        elif arg.kind in HANDLES:
            reference = "&&" if arg.name == consumed else "&"
            parameters.append(f"{'' if reference == '&&' else 'const '}{owners[arg.kind]}{reference} {arg.name}")
            passed.append(f"{arg.name}.get()")
        else:
            parameters.append(f"{ARGUMENTS[arg.kind]} {arg.name}")
            if arg.kind == "text":
                passed.append(f"detail::c_text({arg.name})")
            elif arg.kind == "dataset_table":
                passed.append(f"&{arg.name}")
            elif arg.kind in ("dims", "f64s", "tensors", "objects", "texts"):
                passed += [f"{arg.name}.data()", f"{arg.name}.size()"]
            else:
                passed.append(arg.name)
    return parameters, passed
