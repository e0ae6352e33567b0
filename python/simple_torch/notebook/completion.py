"""Completions in Simple cells: variables, members, keyword arguments, and module paths of both languages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher
from IPython.core.completerlib import module_completion
from simple_torch_jupyter.lexer import KEYWORDS

from simple_torch.notebook.modules import exported_names, submodules
from simple_torch.notebook.signatures import signature_of
from simple_torch.notebook.source import enclosing_call, path_before, simple_part

_USE = re.compile(r"^\s*(?:use|import|from|export\s+use)\s+([\w.]*)$")
_USE_NAMES = re.compile(r"^\s*(?:use|from)\s+([\w.]+?)(?:\.\{|\s+import\s+)[\w\s,{]*$")
_PYTHON_MODULE = re.compile(r"""\b\w+\.(?:import|try_import)\(["']([\w.]*)$""")


class Completions:
    """Completes the Simple part of cells."""

    def __init__(self, session: Any, python_names: Mapping[str, Any], *, simple_by_default: bool) -> None:
        """`python_names` are the notebook's variables, a mapping."""
        self._session, self._python_names = session, python_names
        self._simple_by_default = simple_by_default

    def matcher(self) -> Any:
        """Return a matcher for IPython's completer, which replaces all others in Simple cells."""

        @context_matcher(identifier="simple_torch")
        def match_simple(context: CompletionContext) -> SimpleMatcherResult:
            part = simple_part(context.full_text, simple_by_default=self._simple_by_default)
            before = "\n".join([*context.full_text.split("\n")[: context.cursor_line], ""])
            cursor = len(before) + context.cursor_position - (part.start if part else 0)
            if part is None or cursor < 0:
                return SimpleMatcherResult(completions=[], suppress=False)
            name = path_before(part.source, cursor)[1]
            found = self.complete(part.source, cursor)
            return SimpleMatcherResult(
                completions=[SimpleCompletion(text, type=kind) for text, kind in found],
                matched_fragment=name,
                suppress=True,
                ordered=True,
            )

        return match_simple

    def complete(self, source: str, cursor: int) -> list[tuple[str, str]]:
        """Return completions of the name that ends at `cursor`, and their kinds, in order."""
        base, name = path_before(source, cursor)
        unique = dict(self._candidates(source, cursor, base))
        fitting = [(text, kind) for text, kind in unique.items() if text.startswith(name)]
        hidden = [pair for pair in fitting if pair[0].startswith("_")]
        return [pair for pair in fitting if not pair[0].startswith("_")] + (hidden if name.startswith("_") else [])

    def _candidates(self, source: str, cursor: int, base: str) -> Iterator[tuple[str, str]]:
        line = source[:cursor].rpartition("\n")[2]
        if found := _USE.match(line):
            yield from _kind("module", submodules(found[1].rpartition(".")[0]))
        elif found := _USE_NAMES.match(line):
            yield from _kind("name", exported_names(found[1]))
        elif found := _PYTHON_MODULE.search(line):
            yield from _kind("module", _python_modules(found[1]))
        elif base == "?":
            return  # the members of an expression that would have to be run
        elif base:
            yield from _kind("property", self._session.members(base))
        else:
            yield from self._keywords(enclosing_call(source, cursor))
            yield from self._names()

    def _keywords(self, function: str) -> Iterator[tuple[str, str]]:
        signature = signature_of(self._session, self._python_names, function) if function else None
        return _kind("param", (f"{name}:" for name in signature.keywords) if signature else ())

    def _names(self) -> Iterator[tuple[str, str]]:
        yield from _kind("keyword", sorted(KEYWORDS))
        yield from _kind("variable", self._session.names())


def _python_modules(path: str) -> Iterable[str]:
    return [name.rpartition(".")[2] for name in module_completion(f"import {path}")]


def _kind(kind: str, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    return ((name, kind) for name in names)
