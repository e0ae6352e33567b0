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
from simple_torch.notebook.source import name_at, simple_part

_loaded: WeakKeyDictionary[InteractiveShell, Cells] = WeakKeyDictionary()
_CONNECT = """
use std.progress
use std.host.{rt_on_input}
fn connect(f): progress.set_live(f)
fn ask_with(f): rt_on_input([f])
"""


def load(shell: InteractiveShell, *, simple_by_default: bool = False) -> Cells:
    """Load Simple into the shell, once; a second call changes nothing and keeps the session."""
    if shell in _loaded:
        return _loaded[shell]
    cells = Cells(shell)
    shell.register_magics(SimpleMagics(shell, cells))
    shell.push({"display": display.Display()}, interactive=False)
    simple_torch.run(_CONNECT).ask_with(read_line)
    display.register(shell, cells.result)
    completions = Completions(cells.session, shell.user_ns, simple_by_default=simple_by_default)
    shell.Completer.custom_matchers.append(completions.matcher())
    _inspect_simple_cells(shell, cells, simple_by_default)
    _render_syntax_errors(shell)
    _watch_cells(shell, cells)
    _loaded[shell] = cells
    return cells


def read_line(prompt: str = "", /) -> str:
    """Ask the user for a line, for Simple's input(), which otherwise reads the process's own input."""
    return builtins.input(prompt)


def _watch_cells(shell: InteractiveShell, cells: Cells) -> None:
    output, live = OrderedOutput(), LiveText()
    output.start()
    if getattr(shell, "kernel", None) is not None:  # a terminal has lines of its own that can be replaced
        simple_torch.run(_CONNECT).connect(live)

    def begin_cell() -> None:
        cells.result.set(None)
        live.start_cell()
        output.begin_cell()

    shell.events.register("pre_execute", begin_cell)
    shell.events.register("post_execute", output.end_cell)


def _inspect_simple_cells(shell: InteractiveShell, cells: Cells, simple_by_default: bool) -> None:
    """Let Shift-Tab describe the names of Simple cells; a terminal has no such request."""
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return
    python_inspect = kernel.do_inspect

    def do_inspect(self: Any, code: str, cursor_pos: int, *args: Any, **options: Any) -> dict[str, Any]:
        part = simple_part(code, simple_by_default=simple_by_default)
        if part is None or cursor_pos < part.start:
            return python_inspect(code, cursor_pos, *args, **options)
        name = name_at(part.source, cursor_pos - part.start)
        found = inspected(cells.session, shell, name) if name else {}
        return {"status": "ok", "found": bool(found), "data": found, "metadata": {}}

    kernel.do_inspect = MethodType(do_inspect, kernel)


def _render_syntax_errors(shell: InteractiveShell) -> None:
    """Let a SyntaxError of Simple show itself, as IPython lets other exceptions."""
    python_show = shell.showsyntaxerror

    def showsyntaxerror(self: InteractiveShell, *args: Any, **options: Any) -> None:
        kind, error, _ = self._get_exc_info()
        if not hasattr(error, "_render_traceback_"):
            return python_show(*args, **options)
        return self._showtraceback(kind, error, error._render_traceback_())

    shell.showsyntaxerror = MethodType(showsyntaxerror, shell)
