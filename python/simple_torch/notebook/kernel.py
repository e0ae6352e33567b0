"""The Simple kernel: ipykernel whose cells are Simple. `%%python` cells run in the same process."""

from __future__ import annotations

from typing import Any

from ipykernel.ipkernel import IPythonKernel
from ipykernel.zmqshell import ZMQInteractiveShell
from IPython.core import page
from traitlets import Type

import simple_torch
from simple_torch.notebook.extension import load
from simple_torch.notebook.inspection import inspected
from simple_torch.notebook.source import completeness, line_magics, simple_part


class SimpleShell(ZMQInteractiveShell):
    """IPython's shell, to which Simple cells are calls of Python. Magics that run their cell run it as Simple."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._cells = load(self, simple_by_default=True)

    def transform_cell(self, raw_cell: str) -> str:
        first, _, rest = raw_cell.partition("\n")
        if first.rstrip() == "%%python":
            return super().transform_cell("\n" + rest)  # the line numbers count the magic's line
        if raw_cell.startswith("%%"):
            return super().transform_cell(raw_cell)
        if name := _name_asked_for(raw_cell):
            return f"get_ipython().show_simple_help({name!r})\n"
        lines = raw_cell.split("\n")
        magics = line_magics(raw_cell)
        head = super().transform_cell("\n".join(lines[:magics])) if magics else ""
        source = "\n" * magics + "\n".join(lines[magics:])
        return f"{head}get_ipython().run_simple_cell({source!r})\n" if source.strip() else head

    def run_simple_cell(self, source: str) -> Any:
        """Run a Simple cell and return its value."""
        __tracebackhide__ = True
        return self._cells.run(source)

    def show_simple_help(self, name: str) -> None:
        """Show what ?name asks for."""
        found = inspected(self._cells.session, self, name)
        page.page(found if found else f"Object `{name}` not found.")


class SimpleKernel(IPythonKernel):
    """A Jupyter kernel whose cells are Simple."""

    shell_class = Type(SimpleShell)
    implementation = "simple"
    implementation_version = simple_torch.__version__
    language_info = {  # noqa: RUF012 (as in the base class)
        "name": "simple",
        "version": simple_torch.__version__,
        "mimetype": "text/x-simple",
        "codemirror_mode": "simple",
        "pygments_lexer": "simple",
        "nbconvert_exporter": "script",
        "file_extension": ".spl",
    }
    help_links: list[dict[str, str]] = []  # noqa: RUF012

    @property
    def banner(self) -> str:
        return f"Simple {simple_torch.__version__}. Cells are Simple; cells that begin with %%python are Python."

    def do_history(self, *args: Any, **options: Any) -> dict[str, Any]:
        """Return the history with the running session's number, which ipykernel's ranges replace by 0."""
        reply = super().do_history(*args, **options)
        running = self.shell.history_manager.session_number
        reply["history"] = [(session or running, *rest) for session, *rest in reply["history"]]
        return reply

    def do_is_complete(self, code: str) -> dict[str, str]:
        if simple_part(code, simple_by_default=True) is None:
            return super().do_is_complete(code)
        status, indent = completeness(code)
        return {"status": status, "indent": indent} if status == "incomplete" else {"status": status}


def _name_asked_for(cell: str) -> str:
    """Return the name in a cell `?name` or `name?`, or ""."""
    text = cell.strip()
    name = text.strip("?").strip()
    is_question = text.startswith("?") or text.endswith("?")
    return name if is_question and name.replace(".", "").isidentifier() else ""
