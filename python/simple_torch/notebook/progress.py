"""The progress bar of a training in a notebook: one output that is updated."""

from __future__ import annotations

from typing import Any

from IPython.display import display


class LiveText:
    """Lines of text, of which the last one changes. Programs that do not update outputs, such as nbconvert, show it."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._handle: Any = None

    def __call__(self, line: str, is_final: bool) -> None:
        """Replace the last line; a final one is kept, and the next one starts below it."""
        self._show([*self._lines, line])
        if is_final:
            self._lines.append(line)

    def start_cell(self) -> None:
        """Forget the output of the cell before."""
        self.__init__()

    def _show(self, lines: list[str]) -> None:
        data = {"text/plain": "\n".join(lines)}
        if self._handle is None:
            self._handle = display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)
