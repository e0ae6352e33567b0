"""The documentation of a function: a C comment, and the reference."""

from __future__ import annotations

import textwrap

from abi_generator.signatures import c_parameter_text
from abi_generator.sources import NOTE
from abi_generator.table import HANDLE_LISTS, HANDLES, OWNED_LISTS, Function, by_family

REFERENCE_COLUMNS = 100


def error_lines(function: Function) -> list[str]:
    kinds = {value.kind for value in function.args}
    lines = []
    if function.results:
        lines.append(f"INVALID_ARGUMENT ({' or '.join(r.name for r in function.results)} is NULL)")
    if kinds & (HANDLES | HANDLE_LISTS):
        lines.append("INVALID_HANDLE")
    lines += function.fields.get("errors", [])
    if function.expr:
        lines.append("TORCH (any other LibTorch error)")
    return lines


def ownership(function: Function) -> str:
    parts = []
    for result in function.results:
        if result.kind in HANDLES:
            parts.append(f"*{result.name} is a new handle; release it with spt_release.")
        elif result.kind == "text":
            parts.append(f"*{result.name} is from malloc; free it with spt_free.")
        elif result.kind in HANDLE_LISTS:
            parts.append(f"*{result.name} is a malloc'ed list of new handles; free it with spt_free.")
        elif result.kind in OWNED_LISTS:
            parts.append(f"*{result.name} is from malloc; free it with spt_free.")
        elif result.kind == "anys":
            parts.append(f"*{result.name} is a new array; free it with spl_array_free.")
    return " ".join(parts)


def doc_fields(function: Function) -> list[tuple[str, str]]:
    fields = function.fields
    pairs = [(key, fields.get(key.lower(), "")) for key in ("Shapes", "Dtype", "Device", "Autograd")]
    pairs.append(("Owns", fields.get("owns", ownership(function))))
    errors = ", ".join(error_lines(function))
    pairs.append(("Errors", f"{errors}." if errors else ""))
    pairs.append(("Source", fields.get("source", "")))
    pairs.append(("Simple", ", ".join(spelling.name for spelling in function.spellings)))
    return [(key, value) for key, value in pairs if value]


def doc_comment(function: Function) -> str:
    lines = textwrap.wrap(function.fields["summary"], 100)
    lines.append("")
    for key, value in doc_fields(function):
        first = f"{key + ':':<10}"
        lines += textwrap.wrap(value, 100, initial_indent=first, subsequent_indent=" " * 10)
    return "/** " + "\n *  ".join(lines).replace(" *  \n", " *\n") + " */"


def reference(functions: list[Function]) -> str:
    out = [
        "# Reference of the C ABI\n",
        f"\n<!-- {NOTE} -->\n",
        "\nEvery function returns `SPT_OK` (0) or the kind of its error. The conventions for errors, handles",
        "\nand lists are described in `abi/include/simple_torch/types.h`, the error record in `library.h`",
        "\nnext to it.\n",
    ]
    for title, group in by_family(functions):
        out.append(f"\n## {title}\n")
        for f in group:
            out.append(f"\n### spt_{f.name}\n\n```c\nint32_t spt_{f.name}({c_parameter_text(f)});\n```\n\n")
            out.append(f"{_wrapped(f.fields['summary'])}\n\n")
            out += [_reference_field(f, key, value) for key, value in doc_fields(f)]
    return "".join(out)


def _reference_field(function: Function, key: str, value: str) -> str:
    if key == "Errors":
        return "- Errors:\n" + "".join(f"{_wrapped(line, '  - ')}\n" for line in error_lines(function))
    return f"{_wrapped(f'{key}: {value}', '- ')}\n"


def _wrapped(text: str, bullet: str = "") -> str:
    return textwrap.fill(
        text,
        REFERENCE_COLUMNS,
        initial_indent=bullet,
        subsequent_indent=" " * len(bullet),
        break_long_words=False,
        break_on_hyphens=False,
    )
