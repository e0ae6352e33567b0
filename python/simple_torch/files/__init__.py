"""Simple files as Python modules, `simple_torch.files.<quoted path>`: pickle and worker processes import them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from urllib.parse import quote, unquote

_PREFIX = f"{__name__}."


def module_name(path: str) -> str:
    """The name of the module of a file."""
    return _PREFIX + quote(path, safe="").replace(".", "%2E")


class _Loader(Loader):
    def exec_module(self, module: ModuleType) -> None:
        from simple_torch.simple import run_file

        path = unquote(module.__name__.removeprefix(_PREFIX))
        module.__file__ = path
        module.__getattr__ = partial(getattr, run_file(path))  # type: ignore[method-assign]


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, _Loader()) if fullname.startswith(_PREFIX) else None


sys.meta_path.append(_Finder())
__all__ = ["module_name"]
