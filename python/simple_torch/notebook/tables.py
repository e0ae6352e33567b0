"""Results of Simple cells that are tables: printed ones, and dicts of numbers."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import torch

from simple_torch.notebook.tensors import number

_RULE = re.compile(r"-{3,}")
_GAP = re.compile(r" {2,}")


def text_table_html(text: str) -> str | None:
    """Return an HTML table for a printed one: a header, a rule, and columns with two spaces between them.

    `nn.summary(model)` and `History` print such tables. Returns None for other text.
    """
    lines = text.rstrip("\n").split("\n")
    if len(lines) < 3 or not _RULE.fullmatch(lines[1]):
        return None
    names = _GAP.split(lines[0].strip())
    body, notes = _parts(lines[2:])
    spans = _column_spans([lines[0], *body], len(names))
    if spans is None:
        return None
    header = "".join(f"<th>{escape(name)}</th>" for name in names)
    rows = "".join(_row_html(line, spans) for line in body)
    below = "".join(f"<div>{escape(note)}</div>" for note in notes)
    return f"<table><thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table>{below}"


def _parts(lines: list[str]) -> tuple[list[str], list[str]]:
    """Split the lines below the header at a second rule."""
    at = next((i for i, line in enumerate(lines) if _RULE.fullmatch(line)), None)
    return (lines, []) if at is None else (lines[:at], lines[at + 1 :])


def _column_spans(lines: list[str], count: int) -> list[tuple[int, int]] | None:
    """Return where columns begin and end: between positions that are blank in all lines, at least two wide."""
    width = max(map(len, lines))
    blank = "".join(" " if all(line[i : i + 1] in ("", " ") for line in lines) else "x" for i in range(width))
    spans = [(found.start(), found.end()) for found in re.finditer(r"x+( x+)*", blank)]
    return spans if len(spans) == count else None


def _row_html(line: str, spans: list[tuple[int, int]]) -> str:
    cells = []
    for i, (start, end) in enumerate(spans):
        cell = line[start : end if i + 1 < len(spans) else None].rstrip()
        depth = len(cell) - len(cell.lstrip()) if i == 0 else 0
        style = f' style="text-align: left; padding-left: {depth + 1}ch"' if i == 0 else ""
        cells.append(f"<td{style}>{escape(cell.strip())}</td>")
    return f"<tr>{''.join(cells)}</tr>"


def numbers_html(values: dict[Any, Any]) -> str | None:
    """Return an HTML table for a dict of numbers by name, such as metrics. Returns None for another dict."""
    if not values or not all(isinstance(name, str) and _is_number(value) for name, value in values.items()):
        return None
    header = "".join(f"<th>{escape(name)}</th>" for name in values)
    row = "".join(f"<td>{number(_plain(value))}</td>" for value in values.values())
    return f"<table><thead><tr>{header}</tr></thead><tbody><tr>{row}</tr></tbody></table>"


def _is_number(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return value.numel() == 1 and value.device.type != "meta"
    return isinstance(value, (int, float))


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, torch.Tensor) else value
