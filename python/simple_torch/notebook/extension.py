"""Loads Simple into an IPython shell: the magics, the display of values, completions and inspection."""

from __future__ import annotations

import builtins
from types import MethodType
from typing import Any
from weakref import WeakKeyDictionary

from IPython.core.interactiveshell import InteractiveShell

import simple_torch
from simple_torch.notebook import display
from simple_torch.notebook.cells import Cells, SimpleMagics
from simple_torch.notebook.completion import Completions
from simple_torch.notebook.inspection import inspected
from simple_torch.notebook.output import OrderedOutput
from simple_torch.notebook.progress import LiveText

_loaded: WeakKeyDictionary[InteractiveShell, Cells] = WeakKeyDictionary()
_CONNECT = "use std.progress\nfn connect(f): progress.set_live(f)"


def load(shell: InteractiveShell, *, simple_by_default: bool = False) -> Cells:
    """Load Simple into the shell, once; a second call changes nothing and keeps the session."""
    if shell in _loaded:
        return _loaded[shell]
    cells = Cells(shell)
    shell.register_magics(SimpleMagics(shell, cells))
    shell.push({"display": display.Display(), "input": read_line}, interactive=False)
    display.register(shell, cells.result)
    completions = Completions(cells.session, shell.user_ns, simple_by_default=simple_by_default)
    shell.Completer.custom_matchers.append(completions.matcher())
    _inspect_simple_names(shell, cells)
    _render_syntax_errors(shell)
    _watch_cells(shell, cells)
    _loaded[shell] = cells
    return cells


def read_line(prompt: str = "", /) -> str:
    """Ask the user for a line. It replaces Simple's function of that name, which reads the process's own input."""
    return builtins.input(prompt)


def _watch_cells(shell: InteractiveShell, cells: Cells) -> None:
    output, live = OrderedOutput(), LiveText()
    output.start()
    simple_torch.run(_CONNECT, name="progress").connect(live)

    def start_cell(*_: Any) -> None:
        cells.result.set(None)
        live.start_cell()

    def end_cell(*_: Any) -> None:
        output.drain()

    shell.events.register("pre_run_cell", start_cell)
    shell.events.register("post_run_cell", end_cell)


def _inspect_simple_names(shell: InteractiveShell, cells: Cells) -> None:
    """Let Shift-Tab and ?name find what Python does not have."""
    python_inspect = shell.object_inspect_mime

    def object_inspect_mime(self: InteractiveShell, name: str, *args: Any, **options: Any) -> dict[str, str]:
        try:
            return python_inspect(name, *args, **options)
        except KeyError:
            found = inspected(cells.session, self.user_ns, name)
            if not found:
                raise
            return found

    shell.object_inspect_mime = MethodType(object_inspect_mime, shell)


def _render_syntax_errors(shell: InteractiveShell) -> None:
    """Let a SyntaxError of Simple show itself, as IPython lets other exceptions."""
    python_show = shell.showsyntaxerror

    def showsyntaxerror(self: InteractiveShell, *args: Any, **options: Any) -> None:
        kind, error, _ = self._get_exc_info()
        if not hasattr(error, "_render_traceback_"):
            return python_show(*args, **options)
        return self._showtraceback(kind, error, error._render_traceback_())

    shell.showsyntaxerror = MethodType(showsyntaxerror, shell)
