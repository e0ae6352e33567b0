"""Includes follow the layers of host/README.md and the component dependencies of docs/architecture.md."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = {".h", ".cpp", ".inc"}
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^">]+)[">]', re.MULTILINE)

# Lowest first. A file may include its own layer and the layers below. Prefixes are paths inside host/.
LAYERS = (
    ("installation.",),
    ("syntax/",),
    ("values/",),
    ("sdn/",),
    ("compiler/",),
    ("vm/", "interrupts/", "output."),
    ("modules/",),
    ("ffi/",),
    ("report.",),
    ("builtins/", "tokenizers/"),
    ("startup.",),
    ("main.", "embedded.", "malloc_tuning."),
)

# The components that the C++ of each component may include.
COMPONENTS = {
    "core_libtorch": set(),
    "dlpack_interop": {"core_libtorch"},
    "bridge": {"dlpack_interop", "core_libtorch"},
    "abi": {"core_libtorch", "dlpack_interop", "bridge"},
    "host": set(),
}
# Plain C and plain data, which every component may include.
INTERFACES = (
    "abi/include/",
    "abi/front_backend.h",
    "abi/interrupt_transitions.h",
    "abi/fork_watch.h",
    "abi/forced_unwind.h",
)


def sources(folder: str) -> Iterator[Path]:
    return (path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in SOURCES)


def includes(path: Path) -> list[str]:
    return INCLUDE.findall(path.read_text(encoding="utf-8"))


def layer_of(path: str) -> int:
    """The layer of a file, by its path inside host/.

    >>> LAYERS[layer_of("vm/thread.h")]
    ('vm/', 'interrupts/', 'output.')
    """
    matches = [number for number, prefixes in enumerate(LAYERS) if path.startswith(prefixes)]
    assert len(matches) == 1, f"{path} belongs to {len(matches)} layers"
    return matches[0]


def test_no_file_of_the_host_includes_a_higher_layer() -> None:
    upward = [
        f"{path.relative_to(ROOT)} includes {include}"
        for path in sources("host")
        for include in includes(path)
        if include.startswith("host/")
        and layer_of(include.removeprefix("host/")) > layer_of(str(path.relative_to(ROOT / "host")))
    ]
    assert upward == []


@pytest.mark.parametrize("component", COMPONENTS)
def test_a_component_includes_only_the_components_below(component: str) -> None:
    allowed = COMPONENTS[component] | {component}
    wrong = [
        f"{path.relative_to(ROOT)} includes {include}"
        for path in sources(component)
        for include in includes(path)
        if include.split("/")[0] in COMPONENTS
        and include.split("/")[0] not in allowed
        and not include.startswith(INTERFACES)
    ]
    assert wrong == []


def test_only_the_bridge_includes_python() -> None:
    folders = [path.relative_to(ROOT) for name in COMPONENTS for path in sources(name) if "Python.h" in includes(path)]
    assert {path.parts[0] for path in folders} == {"bridge"}
