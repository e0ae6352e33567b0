"""The modules of Simple: the externs of the C ABI."""

from __future__ import annotations

import textwrap

from abi_generator.sources import NOTE
from abi_generator.table import KINDS, Function


def externs(functions: list[Function], prefix: str, title: str) -> str:
    readers = [
        "# Kind of the latest failure on this thread, 0 when the latest call succeeded. Does not clear it.",
        "extern fn rt_torch_last_error_kind() -> i64",
        "# Its message.",
        "extern fn rt_torch_last_error_message() -> text",
        "# One field: op, expected, got, requested_bytes, available_bytes, type, traceback.",
        "extern fn rt_torch_last_error_field(name: text) -> text",
    ]
    lines = [f"# {NOTE}", f"# {title}", ""]
    if prefix == "rt_torch_":
        lines += readers + [""]
    for f in functions:
        for s in f.spellings:
            if s.name.startswith(prefix) and s.flat is None and not s.pointers:
                args = ", ".join(f"{a.name}: {KINDS[a.kind].simple}" for a in f.args)
                lines += [f"# {line}" for line in textwrap.wrap(f.fields["summary"], 105)]
                lines.append(f"extern fn {s.name}({args}){simple_result(f)}")
    return "\n".join(lines) + "\n"


def simple_result(function: Function) -> str:
    if not function.results:
        return ""
    if len(function.results) > 1:
        return " -> [i64]"
    return f" -> {KINDS[function.results[0].kind].simple}"
