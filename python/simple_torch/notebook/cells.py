"""Runs the Simple cells of a notebook in one session, and the magics %simple and %%simple."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

import simple_torch
from simple_torch.notebook.display import Result
from simple_torch.notebook.errors import Tracebacks
from simple_torch.notebook.source import is_hidden

# Names that IPython defines, and that mean something else in Simple.
_IPYTHONS_OWN = frozenset({"exit", "get_ipython", "open", "quit"})


class Cells:
    """The Simple side of a notebook: a session that shares the notebook's variables."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self.session = simple_torch.Session(shell.user_ns, name="notebook", hidden=_IPYTHONS_OWN)
        self.result = Result()
        self.tracebacks = Tracebacks(self._title_of_python_cell, lambda: shell.colors.lower() != "nocolor")

    def run(self, source: str) -> Any:
        """Run a cell and return its value, None if the source ends in a semicolon.

        A first line that is blank stands for that of the magic. exit() asks the kernel to stop, after the cell. A
        failure is raised, with a traceback for the notebook.
        """
        __tracebackhide__ = True
        return self._run(self.session, source)

    def run_isolated(self, source: str, inputs: Mapping[str, Any], outputs: list[str] | None) -> Any:
        """Run a cell in a session of its own, which sees only `inputs`; only `outputs` reach the notebook's variables.

        `outputs` None: all.
        """
        __tracebackhide__ = True
        namespace = dict(inputs)
        session = simple_torch.Session(namespace, name="notebook", hidden=_IPYTHONS_OWN)
        try:
            value = self._run(session, source)
        finally:
            session.close()
        made = {name: each for name, each in namespace.items() if name not in inputs or inputs[name] is not each}
        for name in made if outputs is None else outputs:
            if name not in namespace:
                raise UsageError(f"%%simple -o {name}: the cell has no variable of that name")
            self._shell.user_ns[name] = namespace[name]
        return value

    def _run(self, session: Any, source: str) -> Any:
        __tracebackhide__ = True
        name = f"cell {self._shell.displayhook.prompt_count}"
        self.tracebacks.add_cell(name, f"%%simple{source}" if source.startswith("\n") else source)
        try:
            value = session.run(source, name)
        except SystemExit:
            self._shell.ask_exit()
            return None
        except BaseException as error:
            self.tracebacks.attach(error)
            raise
        if is_hidden(source):
            return None
        self.result.set(value)
        return value

    def _title_of_python_cell(self, file: str) -> str | None:
        found = self._shell.compile.format_code_name(file)
        return " ".join(found) if found else None


@magics_class
class SimpleMagics(Magics):
    """%simple and %%simple."""

    def __init__(self, shell: InteractiveShell, cells: Cells) -> None:
        super().__init__(shell)
        self._cells = cells

    @no_var_expand
    @line_cell_magic
    def simple(self, line: str, cell: str | None = None) -> Any:
        """Run Simple, which shares the variables of the notebook.

        `%simple x.sum()` runs a line and returns its value. A cell that begins with `%%simple` is Simple:

            %%simple [-i NAME,...] [-o NAME,...]

        -i  the cell sees only these of the notebook's variables, and none of those of other Simple cells
        -o  only these variables of the cell become the notebook's; with -o alone the cell sees all of Python's
        """
        __tracebackhide__ = True
        if cell is None:
            return self._cells.run(line)
        inputs, outputs = _parsed(line)
        source = "\n" + cell  # so that line numbers count the magic's line
        if inputs is None and outputs is None:
            return self._cells.run(source)
        visible = self.shell.user_ns
        for name in inputs or ():
            if name not in visible:
                raise UsageError(f"%%simple -i {name}: the notebook has no variable of that name")
        chosen = {name: visible[name] for name in (visible if inputs is None else inputs)}
        return self._cells.run_isolated(source, chosen, outputs)


def _parsed(line: str) -> tuple[list[str] | None, list[str] | None]:
    """Return the names after -i and after -o."""
    found: dict[str, list[str] | None] = {"-i": None, "-o": None}
    words = iter(shlex.split(line, comments=True))
    for word in words:
        if word[:2] not in found:
            raise UsageError(f"%%simple: unknown argument {word}; usage: %%simple [-i NAME,...] [-o NAME,...]")
        names = word[2:] or next(words, "")
        if not names:
            raise UsageError(f"%%simple: {word} must be followed by names")
        found[word[:2]] = [*(found[word[:2]] or []), *filter(None, names.split(","))]
    return found["-i"], found["-o"]
