"""The kinds of errors and of handles (abi/kinds.toml), as enumerations of C and C++ and as names of Simple."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from abi_generator.sources import KINDS_NOTE, ROOT, read_toml


@dataclass(frozen=True)
class ErrorKind:
    number: int
    name: str  # "SHAPE_MISMATCH"

    @property
    def camel(self) -> str:
        """
        >>> ErrorKind(3, "SHAPE_MISMATCH").camel
        'ShapeMismatch'
        """
        return "".join(word.capitalize() for word in self.name.split("_"))


@dataclass(frozen=True)
class HandleKind(ErrorKind):
    noun: str  # "Python object"
    signatures: tuple[str, ...]  # "object", "object?"


def load_kinds(root: Path = ROOT) -> tuple[list[ErrorKind], list[HandleKind]]:
    document = read_toml(root / "abi" / "kinds.toml")
    errors = [ErrorKind(**row) for row in document["error"]]
    handles = [HandleKind(**{**row, "signatures": tuple(row["signatures"])}) for row in document["handle"]]
    for rows, what in ((errors, "error"), (handles, "handle")):
        if [row.number for row in rows] != list(range(1, len(rows) + 1)):
            raise ValueError(f"abi/kinds.toml: the numbers of [[{what}]] must be 1, 2, … in order")
    return errors, handles


def c_header(errors: list[ErrorKind], handles: list[HandleKind]) -> str:
    statuses = ",\n".join(f"  SPT_{row.name} = {row.number}" for row in errors)
    kinds = ",\n".join(f"  SPT_HANDLE_{row.name} = {row.number}" for row in handles)
    return f"""\
/* {KINDS_NOTE} */
/* The kinds of errors and of handles. */
#ifndef SIMPLE_TORCH_KINDS_H_
#define SIMPLE_TORCH_KINDS_H_

/* The status of a call: SPT_OK or the kind of its error. Numbers are never reused. */
enum SptStatus {{
  SPT_OK = 0,
{statuses}
}};

/* Kinds of handles, for spt_live_handles and spt_peak_handles. */
enum SptHandleKind {{
{kinds}
}};

#endif /* SIMPLE_TORCH_KINDS_H_ */
"""


def error_kinds_header(errors: list[ErrorKind]) -> str:
    rows = "\n".join(f"  k{row.camel} = {row.number}," for row in errors)
    return f"""\
// {KINDS_NOTE}
// The kinds of errors: enum SptStatus of the C ABI without SPT_OK.
#pragma once

#include <cstdint>

namespace simple_torch {{

enum class ErrorKind : int32_t {{
{rows}
}};

inline constexpr ErrorKind kLastErrorKind = ErrorKind::k{errors[-1].camel};

}}  // namespace simple_torch
"""


def handle_kinds_header(handles: list[HandleKind]) -> str:
    rows = "\n".join(f"  k{row.camel} = {row.number}," for row in handles)
    cases = "\n".join(f'    case HandleKind::k{row.camel}:\n      return "{row.noun}";' for row in handles)
    return f"""\
// {KINDS_NOTE}
// The kinds of handles: enum SptHandleKind of the C ABI, and what messages call them.
#pragma once

#include <cstdint>

namespace simple_torch::abi {{

/// A handle contains its kind.
enum class HandleKind : int32_t {{
{rows}
}};

/// One more than the greatest kind.
inline constexpr int32_t kHandleKinds = {len(handles) + 1};

constexpr const char* name_of(HandleKind kind) {{
  switch (kind) {{
{cases}
  }}
  return "value of unknown kind";
}}

}}  // namespace simple_torch::abi
"""


def simple_error_kinds(errors: list[ErrorKind]) -> str:
    cases = "\n".join(f'        case {row.number}: "{row.camel}"' for row in errors)
    return f'''\
# {KINDS_NOTE}
"""The kinds of errors of the C ABI by name."""

fn error_kind_name(number: i64) -> text:
    """The variant of TorchError for a kind of the C ABI; "" for an unknown number."""
    match number:
{cases}
        case _: ""
'''
