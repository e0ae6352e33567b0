"""The public names of the library in simple/, and the declaration behind each."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from pathlib import Path

from website.repository import ROOT
from website.spl_source import Declaration, SourceFile, read_source

LIBRARY = ROOT / "simple"
# Packages that are parts of other modules, which re-export them, or that belong to a command.
PARTS = ("torch.nn.container", "torch.nn.conv", "torch.nn.loss", "torch.nn.pooling", "torch.nn.rnn", "zoo")
# Modules of the library itself, and those with the names of Python's packages.
_INTERNAL = ("std.host", "std.decorators", "std.set", "std.iteration", "std.progress")
_PYTHON_PACKAGES = ("transformers", "sentence_transformers", "timm", "torchaudio")
# Modules that `torch` loads at the first use of a name, for which it has no import.
_LATE = {
    "torch": (
        ("torch.amp", None),
        ("torch.distributions", None),
        ("torch.hub", None),
        ("torch.jit", None),
        ("torch.onnx", None),
        ("torch.sparse", None),
        ("torch.amp", "GradScaler"),
        ("torch.lobpcg", "lobpcg"),
        ("torch.lowrank", "svd_lowrank"),
        ("torch.lowrank", "pca_lowrank"),
    ),
    "torch.nn": (("torch.nn.python_module", "PythonModule"),),
}


@dataclass(frozen=True)
class Found:
    """A declaration and the module whose file has it."""

    module: str
    declaration: Declaration


@dataclass
class PublicModule:
    """A module that programs import, with its public names."""

    name: str
    doc: str
    names: dict[str, Found] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)  # the modules among its names


@functools.cache
def public_modules() -> dict[str, PublicModule]:
    """Every public module by name."""
    found: dict[str, PublicModule] = {}
    waiting = [
        *packages(),
        *_PYTHON_PACKAGES,
        *(f"std.{file.stem}" for file in sorted((LIBRARY / "std").glob("*.spl"))),
    ]
    while waiting:
        name = waiting.pop(0)
        if name in found or name in _INTERNAL:
            continue
        made = found[name] = _public(name)
        waiting += made.modules.values()
    return dict(sorted(found.items()))


def packages() -> list[str]:
    """The folders with a `mod.spl` that programs import."""
    folders = (file.parent.relative_to(LIBRARY).as_posix() for file in sorted(LIBRARY.rglob("mod.spl")))
    return [name for name in (folder.replace("/", ".") for folder in folders) if name not in PARTS]


def _public(name: str) -> PublicModule:
    made = PublicModule(name, source_of(name).doc)
    names = dict(exported(name))
    for module, late in (*_LATE.get(name, ()), *_autocast_names(name)):
        names[late or module.rsplit(".", 1)[-1]] = exported(module)[late] if late else module
    for local, target in sorted(names.items()):
        if isinstance(target, str):
            made.modules[local] = target
        elif not local.startswith("_"):
            made.names[local] = target
    return made


def _autocast_names(module: str) -> list[tuple[str, str]]:
    """The names of torch.amp.autocast_mode that `torch` has, too."""
    if module != "torch":
        return []
    (listed,) = re.findall(r"val AUTOCAST_NAMES = \[(.*?)\]", (LIBRARY / "torch" / "mod.spl").read_text(), re.S)
    return [("torch.amp.autocast_mode", name) for name in re.findall(r'"(\w+)"', listed)]


@functools.cache
def file_of(module: str) -> Path | None:
    """The file of a module, as the host finds it: by simple/modules.sdn, else by its path."""
    for path in (_listed().get(module), f"{module.replace('.', '/')}.spl", f"{module.replace('.', '/')}/mod.spl"):
        if path and (LIBRARY / path).is_file():
            return LIBRARY / path
    return None


@functools.cache
def _listed() -> dict[str, str]:
    return dict(re.findall(r"^    ([\w.]+), ([\w./]+)$", (LIBRARY / "modules.sdn").read_text(), re.M))


def other_names(module: str) -> list[str]:
    """The further names of a module's file that programs may import."""
    return sorted(name for name in _listed() if name != module and file_of(name) == file_of(module))


@functools.cache
def source_of(module: str) -> SourceFile:
    file = file_of(module)
    if file is None:
        raise ValueError(f"the module {module} has no file in {LIBRARY}")
    return read_source(file.read_text())


@functools.cache
def exported(module: str) -> dict[str, Found | str]:
    """The names that a module exports: a declaration, or the name of a module. Without an export, all names."""
    source = source_of(module)
    names: dict[str, Found | str] = {}
    for use in source.uses:
        if use.is_exported and use.name == "*":
            names.update(exported(use.module))
        elif use.is_exported:
            names[use.local] = target_of(module, use.local)
    exports = source.exports
    if not exports and not names:
        exports = [each.name for each in source.declarations if each.kind != "impl" and not is_extern(each)]
    for name in exports:
        target = target_of(module, name)
        if target is not None:
            names[name] = target
    return names


def is_extern(declaration: Declaration) -> bool:
    return declaration.signature.startswith("extern ")


def target_of(module: str, name: str) -> Found | str | None:
    """What a name means in a module: a declaration or a module."""
    source = source_of(module)
    for declaration in source.declarations:
        if declaration.name == name and declaration.kind != "impl":
            return Found(module, declaration)
    for use in source.uses:
        if use.name == "*" and file_of(use.module) and name in exported(use.module):
            return exported(use.module)[name]
        if use.local != name or use.name == "*":
            continue
        if use.name is None:
            return use.module
        below = f"{use.module}.{use.name}"
        found = target_of(use.module, use.name) if file_of(use.module) else None
        return found or (below if file_of(below) else None)
    return None


@functools.cache
def additions() -> dict[tuple[str, str], list[Found]]:
    """The members that `impl` blocks of other files add to a class, by the module and the name of the class."""
    found: dict[tuple[str, str], list[Found]] = {}
    for file in sorted(LIBRARY.rglob("*.spl")):
        module = file.relative_to(LIBRARY).with_suffix("").as_posix().replace("/", ".").removesuffix(".mod")
        for block in source_of(module).declarations:
            if block.kind == "impl":
                target = target_of(module, block.name)
                key = (target.module, block.name) if isinstance(target, Found) else (module, block.name)
                found.setdefault(key, []).extend(Found(module, member) for member in block.members)
    return found


def members_of(found: Found) -> list[Found]:
    """The public members of a class, in the order of the source."""
    own = [Found(found.module, member) for member in found.declaration.members]
    added = additions().get((found.module, found.declaration.name), [])
    shown = {}
    for member in (*own, *added):
        name = member.declaration.name
        if not name.startswith("_") or (name.startswith("__") and member.declaration.doc):
            shown.setdefault(name, member)
    return list(shown.values())


def inherited_from(owner: Found, name: str) -> tuple[Found, Found] | None:
    """The nearest parent that describes a member of this name, and that member."""
    for base in owner.declaration.bases:
        parent = target_of(owner.module, base)
        if not isinstance(parent, Found):
            continue
        for member in members_of(parent):
            if member.declaration.name == name and member.declaration.doc:
                return parent, member
        if found := inherited_from(parent, name):
            return found
    return None
