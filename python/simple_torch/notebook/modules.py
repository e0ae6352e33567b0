"""The modules of the Simple library and of the current folder, for completions. Files are read, not run."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from simple_torch._library import folder_of_library

_EXPORT = re.compile(r"^export\s+(?!use\b)(?:fn\s+|class\s+)?([\w, ]+)", re.M)
_DEFINITION = re.compile(r"^(?:fn|class|struct|enum|trait|val|var|const)\s+([^\W\d]\w*)", re.M)


def submodules(path: str) -> list[str]:
    """Return the names that may follow `path` and a dot in a `use` statement; for "" the first names."""
    found = set()
    for root in (folder_of_library().parent / "share" / "simple", Path.cwd()):
        folder = root.joinpath(*path.split(".")) if path else root
        if folder.is_dir():
            found |= set(_children(folder))
    return sorted(found)


def _children(folder: Path) -> list[str]:
    names = []
    for entry in folder.iterdir():
        if entry.suffix == ".spl" and entry.stem not in ("mod", "__init__"):
            names.append(entry.stem)
        elif entry.is_dir() and not entry.name.startswith((".", "_")) and any(entry.glob("*.spl")):
            names.append(entry.name)
    return names


def exported_names(path: str) -> list[str]:
    """Return the names that a module exports."""
    for root in (folder_of_library().parent / "share" / "simple", Path.cwd()):
        place = root.joinpath(*path.split("."))
        for file in (place.with_suffix(".spl"), place / "mod.spl", place / "__init__.spl"):
            if file.is_file():
                return _names_in(file, file.stat().st_mtime_ns)
    return []


@lru_cache(maxsize=64)
def _names_in(file: Path, _changed: int) -> list[str]:
    source = file.read_text()
    exported = [name.strip() for names in _EXPORT.findall(source) for name in names.split(",")]
    return sorted({name for name in exported or _DEFINITION.findall(source) if name and not name.startswith("_")})
