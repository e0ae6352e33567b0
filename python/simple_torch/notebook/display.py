"""How notebooks show tensors, images and the results of Simple cells."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

from simple_torch import Tensor
from simple_torch.notebook.images import png
from simple_torch.notebook.tables import numbers_html, text_table_html
from simple_torch.notebook.tensors import description, tensor_html
from simple_torch.notebook.values import simple_repr


class Display:
    """IPython's `display`, also under that name in Simple cells, and `display.image(tensor)`."""

    def __call__(self, *values: Any, **options: Any) -> Any:
        return display(*values, **options)

    def image(self, tensor: torch.Tensor, *, columns: int | None = None, rescale: bool = False, scale: int = 1) -> None:
        """Show a tensor as an image, or a batch as a grid; see `simple_torch.notebook.images.png`."""
        content = png(tensor, columns=columns, rescale=rescale, scale=scale)
        data = {"image/png": b64encode(content).decode(), "text/plain": f"image of {description(tensor)}"}
        display(data, raw=True)

    def __repr__(self) -> str:
        return "display(value, ...), display.image(tensor)"


class Result:
    """The value of the Simple cell that ended last: it is shown as Simple's, unlike an equal value of a Python cell."""

    def __init__(self) -> None:
        self._value: Any = None

    def set(self, value: Any) -> None:
        self._value = value

    def is_it(self, value: Any) -> bool:
        return value is self._value


def register(shell: InteractiveShell, result: Result) -> None:
    """Register how the shell's output shows these types."""
    formatters = shell.display_formatter.formatters
    html, plain = formatters["text/html"], formatters["text/plain"]
    html.for_type(torch.Tensor, tensor_html)
    html.for_type(Tensor, lambda tensor: tensor_html(tensor.torch()))
    html.for_type(str, lambda text: text_table_html(text) if result.is_it(text) else None)
    html.for_type(dict, lambda values: numbers_html(values) if result.is_it(values) else None)
    html.for_type_by_name("simple_torch", "History", lambda history: text_table_html(str(history)))
    formatters["image/png"].for_type_by_name("matplotlib.figure", "Figure", _figure_png)
    for kind in (str, list, tuple, dict):
        plain.for_type(kind, _shown_as_simple(result, plain.lookup_by_type(kind)))
    for value in (True, False):
        singletons = plain.singleton_printers
        singletons[id(value)] = _shown_as_simple(result, singletons[id(value)])


def _shown_as_simple(result: Result, otherwise: Any) -> Any:
    def show(value: Any, printer: Any, cycle: bool) -> None:
        if result.is_it(value) and len(printer.stack) <= 1:
            printer.text(value if isinstance(value, str) and "\n" in value else simple_repr(value))
        else:
            otherwise(value, printer, cycle)

    return show


def _figure_png(figure: Any) -> bytes:
    from io import BytesIO

    content = BytesIO()
    figure.savefig(content, format="png", bbox_inches="tight")
    return content.getvalue()
