"""The generated files, by path."""

from __future__ import annotations

from pathlib import Path

from abi_generator import backend, cpp, documentation, front, fuzz, headers, kinds, spl, symbols
from abi_generator.table import load_bodies, load_table

FOLDER = "abi/generated"  # holds generated files only


def generate(root: Path) -> dict[str, str]:
    """Path below the root -> text, for every generated file."""
    functions = load_table(root)
    errors, handles = kinds.load_kinds(root)
    bodies = backend.body_sources(functions, load_bodies(root))
    return {
        "abi/include/simple_torch/c_api.h": headers.c_api_header(functions),
        "abi/include/simple_torch/simple_api.h": headers.simple_api_header(functions),
        "abi/include/simple_torch/functions.hpp": cpp.functions_header(functions, handles),
        "abi/include/simple_torch/kinds.h": kinds.c_header(errors, handles),
        "core_libtorch/error_kinds.h": kinds.error_kinds_header(errors),
        f"{FOLDER}/handle_kinds.h": kinds.handle_kinds_header(handles),
        f"{FOLDER}/backend_table.h": backend.backend_table(functions),
        f"{FOLDER}/backend_table.cpp": backend.backend_fill(functions),
        f"{FOLDER}/front.cpp": front.front_source(functions),
        f"{FOLDER}/simple_spellings.cpp": front.simple_source(functions),
        f"{FOLDER}/front.map": symbols.version_script(functions, root),
        f"{FOLDER}/symbols.txt": symbols.listing(functions, root),
        f"{FOLDER}/sources.cmake": backend.cmake_list(sorted(bodies)),
        "simple/torch/ffi.spl": spl.externs(functions, "rt_torch_", "The torch functions of the C ABI."),
        "simple/torch/error_kind.spl": kinds.simple_error_kinds(errors),
        "simple/python/ffi.spl": spl.externs(functions, "rt_py_", "The Python functions of the C ABI."),
        "tests/abi/generated/fuzz_table.c": fuzz.table_source(functions, root),
        "docs/reference/c_api.md": documentation.reference(functions),
        **{f"{FOLDER}/{name}": text for name, text in bodies.items()},
    }


def differing(root: Path) -> list[str]:
    """Generated files whose committed text differs, and files in abi/generated that nothing generates."""
    files = generate(root)
    changed = [name for name, text in files.items() if not _has_text(root / name, text)]
    return changed + _superfluous(root, files)


def write(root: Path) -> list[str]:
    """Writes what differs and removes superfluous files; returns the paths."""
    files = generate(root)
    names = differing(root)
    for name in names:
        path = root / name
        if name not in files:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files[name])
    return names


def _has_text(path: Path, text: str) -> bool:
    return path.exists() and path.read_text() == text


def _superfluous(root: Path, files: dict[str, str]) -> list[str]:
    paths = (path.relative_to(root).as_posix() for path in sorted((root / FOLDER).iterdir()))
    return [name for name in paths if name not in files]
