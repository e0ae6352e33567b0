"""The C ABI of the last release, as one C header, and what a later version must keep of it.

The ABI only grows: a program that was linked with a release runs with every later version. abi/released/ has the header
of the last release. It is made of the public headers, without comments.
"""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = "abi/released"
# In the order in which they include each other.
_HEADERS = ("kinds.h", "spl_runtime.h", "types.h", "library.h", "c_api.h", "simple_api.h")
_NOTE = "The C ABI of simple_torch {version}, written by tools/generate_abi.py --release. Do not edit it."
_C_LINKAGE = {"begin": '#ifdef __cplusplus\nextern "C" {\n#endif', "end": "#ifdef __cplusplus\n}\n#endif"}


def version(root: Path) -> str:
    """The version in CMakeLists.txt."""
    found = re.search(r"^project\(simple_torch VERSION (\S+)", (root / "CMakeLists.txt").read_text(), re.MULTILINE)
    if found is None:
        raise ValueError("CMakeLists.txt: no project(simple_torch VERSION …)")
    return found[1]


def flat_header(root: Path) -> str:
    """All declarations of the public C headers as one header that includes only the standard library."""
    folder = root / "abi" / "include" / "simple_torch"
    bodies = [_body((folder / name).read_text()) for name in _HEADERS]
    note = _NOTE.format(version=version(root))
    text = "\n".join(
        [f"/* {note} */", "#include <stdbool.h>", "#include <stddef.h>", "#include <stdint.h>",
         "", _C_LINKAGE["begin"], "", *bodies, _C_LINKAGE["end"], ""]
    )  # fmt: skip
    return re.sub(r"\n{3,}", "\n\n", text)


def _body(text: str) -> str:
    """A header without its comments, include guard, inclusions and linkage."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    for linkage in _C_LINKAGE.values():
        text = text.replace(linkage, "")
    text = re.sub(r"^#include .*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^#ifndef (SIMPLE_TORCH_\w+_H_)\n#define \1\n(.*)^#endif\s*\Z", r"\2", text, flags=re.S | re.M)
    return "\n".join(line.rstrip() for line in text.splitlines())


def released_header(root: Path) -> Path:
    """The header of the last release."""
    headers = sorted((root / FOLDER).glob("*.h"))
    if len(headers) != 1:
        raise ValueError(f"{FOLDER}: expected the header of one release, found {len(headers)}")
    return headers[0]


def write_release(root: Path) -> Path:
    """Replaces the header of the last release by that of this version."""
    for old in (root / FOLDER).glob("*.h"):
        old.unlink()
    path = root / FOLDER / f"{version(root)}.h"
    path.parent.mkdir(exist_ok=True)
    path.write_text(flat_header(root))
    return path


def functions(header: str) -> dict[str, str]:
    """Name -> the types of its result and parameters, without the names of parameters.

    >>> functions("SPT_API int32_t spt_add(int64_t a, const double* values, int64_t* out);")
    {'spt_add': 'int32_t(int64_t, const double*, int64_t*)'}
    """
    text = re.sub(r"^#.*$", "", header, flags=re.MULTILINE)
    found = {}
    for result, name, parameters in re.findall(r"^([A-Za-z_][\w \*]*?)\b(\w+)\(([^()]*)\);", text, flags=re.MULTILINE):
        types = ", ".join(_type_of(each) for each in " ".join(parameters.split()).split(","))
        found[name] = f"{result.removeprefix('SPT_API').strip()}({types})"
    return found


def _type_of(parameter: str) -> str:
    parameter = parameter.strip()
    words = re.fullmatch(r"(.*[\s\*])(\w+)", parameter)
    is_named = words is not None and words[1].strip() not in ("const", "struct", "enum", "unsigned")
    return " ".join((words[1] if is_named else parameter).split())


def numbers(header: str) -> dict[str, int]:
    """The enumerators and numeric macros.

    >>> numbers("#define SPT_MAX 32\\nenum A { B = 1, C = 2 };")
    {'SPT_MAX': 32, 'B': 1, 'C': 2}
    """
    found = re.findall(r"^#define (SP[LT]_\w+) (\d+)", header, flags=re.MULTILINE)
    for body in re.findall(r"\benum\b[^{;]*\{(.*?)\}", header, flags=re.DOTALL):
        found += re.findall(r"(\w+) = (\d+)", body)
    return {name: int(number) for name, number in found}


def types(header: str) -> dict[str, str]:
    """The structs, and the types of callbacks, by name."""
    found = {}
    for name, body in re.findall(r"^(?:typedef )?struct (\w+) (\{.*?^\})", header, flags=re.DOTALL | re.MULTILINE):
        found[f"struct {name}"] = " ".join(body.split())
    for result, name, parameters in re.findall(
        r"^typedef ([^;{]*?)\(\*(\w+)\)\(([^;]*)\);", header, flags=re.MULTILINE
    ):
        found[name] = f"{result.strip()} {' '.join(parameters.split())}"
    return found


def broken_promises(old: str, new: str) -> list[str]:
    """What programs of the release `old` use and `new` lacks or declares otherwise, one line each."""
    lines = []
    for kind, read in (("function", functions), ("number", numbers), ("type", types)):
        now = read(new)
        for name, was in read(old).items():
            if name not in now:
                lines.append(f"{kind} {name} is missing")
            elif now[name] != was:
                lines.append(f"{kind} {name} was {was}, is {now[name]}")
    return lines


def stub_source(header: str, include: str) -> str:
    """A library with every function of the header: what abidiff compares with the real one."""
    text = re.sub(r"^#.*$", "", header, flags=re.MULTILINE)
    out = [f'#include "{include}"\n']
    for declaration, result in re.findall(
        r"^((?:SPT_API )?([A-Za-z_][\w \*]*?)\b\w+\([^()]*\));", text, flags=re.MULTILINE
    ):
        value = "" if result.removeprefix("SPT_API").strip() == "void" else " {}"
        out.append(f'extern "C" {" ".join(declaration.split())} {{ return{value}; }}\n')
    return "".join(out)
