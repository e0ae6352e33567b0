"""The reference of the library as pages: each public name with its signature, its docstring and its source."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field

from website.examples import all_files
from website.library import (
    Found,
    PublicModule,
    file_of,
    inherited_from,
    members_of,
    other_names,
    public_modules,
    source_of,
    target_of,
)
from website.prose import markdown_of, summary
from website.repository import ROOT
from website.source_pages import line_anchor
from website.spl_source import Declaration

FOLDER = "reference/library"
_NAMES_ON_A_PAGE = 40
# Methods that have one meaning in all classes.
_CONVENTIONS = {
    "create": "Upstream's name for the constructor.",
    "drop": "Releases what the object holds. Its last reference calls it.",
    "iter": "The iterator of a loop over the object.",
    "initialize_parameters": "Sets the sizes of a lazy module by its first input.",
    "len": "The number of elements: `len(x)`.",
    "reset_parameters": "Draws the initial parameters again, in place.",
    "to_string": "The text that print shows.",
}
_KINDS = {"fn": "function", "me": "function", "val": "value", "var": "value", "let": "value", "const": "value"}


@dataclass
class Place:
    """Where a declaration is described: the page, and the name under which programs use it."""

    page: str
    name: str
    others: list[str] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        return self.name


def pages() -> dict[str, str]:
    """The Markdown of each page, by its path."""
    made = {f"{FOLDER}/index.md": overview()}
    modules = public_modules()
    for module in modules.values():
        made[page_path(module.name)] = module_page(module)
    for page in sorted({place.page for place in places().values()} - modules.keys()):
        made[page_path(page)] = part_page(page)
    return made


def page_path(page: str) -> str:
    return f"{FOLDER}/{page}.md"


def menu() -> list:
    """The entries of the site's menu: each module, with those below it."""
    return [f"{FOLDER}/index.md", *_below("")]


def _below(parent: str) -> list:
    entries = []
    modules = public_modules()
    parts = {place.page for place in places().values()} - modules.keys()
    for name in sorted(modules.keys() | parts):
        if _parent_of(name, modules) != parent:
            continue
        inner = _below(name)
        label = name.removeprefix(f"{parent}.")
        entries.append({label: [page_path(name), *inner] if inner else page_path(name)})
    return entries


def _parent_of(name: str, modules: dict[str, PublicModule]) -> str:
    """The nearest module above a name that has a page."""
    above = name.rpartition(".")[0]
    while above and above not in modules:
        above = above.rpartition(".")[0]
    return above


@functools.cache
def places() -> dict[tuple[str, str], Place]:
    """The place of each public declaration, by its file's module and its name."""
    uses: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for module in public_modules().values():
        for local, found in module.names.items():
            uses.setdefault(_key(found), []).append((module.name, local))
    made = {key: _place(key, named) for key, named in uses.items()}
    _split_long_pages(made)
    return made


def _place(key: tuple[str, str], named: list[tuple[str, str]]) -> Place:
    """Of several modules with the name, the page is that of the nearest one to the file."""

    def distance(use: tuple[str, str]) -> tuple[int, int, str]:
        module, local = use
        is_above = key[0] == module or key[0].startswith(f"{module}.")
        return (-len(module) if is_above else 0, len(module) + len(local), module)

    first, *rest = sorted(named, key=distance)
    return Place(first[0], ".".join(first), sorted(".".join(use) for use in rest))


def _split_long_pages(made: dict[tuple[str, str], Place]) -> None:
    """A module with many names has a page for each of its files."""
    counts: dict[str, int] = {}
    for place in made.values():
        counts[place.page] = counts.get(place.page, 0) + 1
    for (module, _), place in made.items():
        if counts[place.page] > _NAMES_ON_A_PAGE:
            place.page = module


def _key(found: Found) -> tuple[str, str]:
    return (found.module, found.declaration.name)


def on_page(page: str) -> list[tuple[Place, Found]]:
    """What a page describes, by name."""
    found: dict[str, tuple[Place, Found]] = {}
    for module in public_modules().values():
        for each in module.names.values():
            place = places()[_key(each)]
            if place.page == page:
                found[place.name] = (place, each)
    return [found[name] for name in sorted(found, key=str.lower)]


def overview() -> str:
    lines = [
        "# Library",
        "",
        "Every public name of the `.spl` library: its signature, its description and its source. The search finds",
        "each name. [Built-in functions](../builtins.md) need no import, and each",
        "[operator of PyTorch](../operators.md) is a function and a method: `torch.logsumexp(x, dim: 1)`.",
        "",
        "| module | contents |",
        "|---|---|",
    ]
    lines += [f"| [`{m.name}`]({m.name}.md) | {summary(m.doc)} |" for m in public_modules().values()]
    return "\n".join(lines) + "\n"


def module_page(module: PublicModule) -> str:
    lines = [f"# `{module.name}`", "", markdown_of(module.doc), ""]
    if others := other_names(module.name):
        lines += [f"Other names: {', '.join(f'`{name}`' for name in others)}.", ""]
    rows = [f"| [`{name}`]({target}.md) | module: {summary(source_of(target).doc)} |"
            for name, target in sorted(module.modules.items()) if target in public_modules()]  # fmt: skip
    rows += [_row(name, found) for name, found in sorted(module.names.items(), key=lambda item: item[0].lower())]
    if rows:
        lines += ["| name | |", "|---|---|", *rows, ""]
    return "\n".join([*lines, *_sections(module.name)]) + "\n"


def part_page(page: str) -> str:
    """The page of one file of a module with many names."""
    return "\n".join([f"# `{page}`", "", markdown_of(source_of(page).doc), "", *_sections(page)]) + "\n"


def _row(name: str, found: Found) -> str:
    place = places()[_key(found)]
    kind = _KINDS.get(found.declaration.kind, found.declaration.kind)
    text = summary(found.declaration.doc)
    return f"| [`{name}`]({place.page}.md#{place.anchor}) | {f'{kind}: {text}' if text else kind} |"


def _sections(page: str) -> list[str]:
    lines: list[str] = []
    for place, found in on_page(page):
        declaration = found.declaration
        lines += [f'## `{place.name}` {{ #{place.anchor} data-toc-label="{place.name.rpartition(".")[2]}" }}', ""]
        lines += _described(found) + _example(place)
        if place.others:
            lines += [f"Also {', '.join(f'`{name}`' for name in place.others)}.", ""]
        if declaration.is_record:
            lines += _bases(found) + _fields(found)
            for member in members_of(found):
                if member.declaration.is_function and not _is_shown_as_call(member.declaration):
                    name = f"{declaration.name}.{member.declaration.name}"
                    anchor = f"{place.anchor}.{member.declaration.name}"
                    lines += [f'### `{name}` {{ #{anchor} data-toc-label="{member.declaration.name}" }}', ""]
                    lines += _described(member, _inherited_doc(found, member))
    return lines


def _described(found: Found, inherited: str = "") -> list[str]:
    declaration = found.declaration
    lines = ["```simple", declaration.signature, *_constructor(declaration), "```", ""]
    if doc := markdown_of(declaration.doc) or inherited:
        lines += [doc, ""]
    return [*lines, _source_link(found), ""]


def _example(place: Place) -> list[str]:
    """The example of a name, as a program that can be pasted."""
    for file in all_files():
        for example in file.examples:
            if {place.name, *place.others} & set(example.names):
                return ["Example:", "", example.markdown(uses_in(example.code, file.uses)), ""]
    return []


def uses_in(code: list[str], uses: list[str]) -> list[str]:
    """The `use` lines of the modules that the code names.

    >>> uses_in(["nn.ReLU()"], ["use torch", "use torch.nn", "use torch.nn.functional as F"])
    ['use torch.nn']
    """
    words = set(re.findall(r"\w+", "\n".join(code)))
    return [use for use in uses if re.split(r"\W", use)[-1] in words]


def _inherited_doc(owner: Found, member: Found) -> str:
    """What a parent writes about a method that the class defines again."""
    found = inherited_from(owner, member.declaration.name)
    if found is None:
        return _CONVENTIONS.get(member.declaration.name, "")
    parent, described = found
    doc = markdown_of(described.declaration.doc)
    place = places().get(_key(parent))
    if place is None:
        return doc
    name = described.declaration.name
    return f"As [`{parent.declaration.name}.{name}`]({place.page}.md#{place.anchor}.{name}): {doc}"


def _constructor(declaration: Declaration) -> list[str]:
    """How an instance of a class is made."""
    found = [member for member in declaration.members if member.name == "init"]
    return [found[0].signature.replace("fn init", declaration.name, 1)] if found else []


def _is_shown_as_call(member: Declaration) -> bool:
    return member.name == "init" and not member.doc


def _source_link(found: Found) -> str:
    """A link in HTML, because mkdocs does not know the anchors of highlighted lines."""
    path, line = file_of(found.module).relative_to(ROOT).as_posix(), found.declaration.line
    return f'<a href="../../source/{path}.html#{line_anchor(line)}">{path}:{line}</a>'


def _bases(found: Found) -> list[str]:
    """Links to the parents of a class."""
    shown = []
    for base in found.declaration.bases:
        target = target_of(found.module, base)
        place = places().get(_key(target)) if isinstance(target, Found) else None
        shown.append(f"[`{base}`]({place.page}.md#{place.anchor})" if place else f"`{base}`")
    return [f"Inherits {', '.join(shown)}.", ""] if shown else []


def _fields(found: Found) -> list[str]:
    members = [member.declaration for member in members_of(found)]
    fields = [member.signature for member in members if not member.is_function]
    return ["Fields:", "", "```simple", *fields, "```", ""] if fields else []


def sources() -> list[str]:
    """The files with public declarations."""
    modules = {module for module, _ in places()}
    modules |= {member.module for module in public_modules().values() for found in module.names.values()
                for member in members_of(found)}  # fmt: skip
    return sorted(file_of(module).relative_to(ROOT).as_posix() for module in modules)
