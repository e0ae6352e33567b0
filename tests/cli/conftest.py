"""The commands of tools/setup as a module."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from layout import ROOT


def module_of_file(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture
def commands() -> ModuleType:
    return module_of_file("setup_commands", ROOT / "tools" / "setup" / "__main__.py")


@pytest.fixture
def load():
    """Loads a file that is no module of a package."""
    return module_of_file
