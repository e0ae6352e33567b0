"""Modules of Python that describe those of Simple to help()."""

from __future__ import annotations

from types import ModuleType
from typing import Any


def description_of(of: Any) -> ModuleType:
    described = ModuleType(repr(of).removeprefix("<module ").removesuffix(">"))
    names = of.__ask__("members")
    for name in names:
        setattr(described, name, getattr(of, name))
    described.__all__ = names  # type: ignore[attr-defined]
    return described
