"""Tensors as HTML tables."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import product
from typing import Any

import torch

_EDGE = 4  # the rows, columns and matrices at each end of a summarized dimension
_MOST_ROWS, _MOST_COLUMNS, _MOST_MATRICES = 12, 12, 4
_GAP = None  # an index that stands for the omitted ones


def tensor_html(tensor: torch.Tensor) -> str:
    """Return an HTML table of a tensor's values, with shape, dtype, device and grad_fn above it.

    Long dimensions are summarized: only the values shown are copied from the device.
    """
    head = f"<div><code>{escape(description(tensor))}</code></div>"
    if not _has_values(tensor):
        return f"{head}<pre>{escape(repr(tensor))}</pre>"
    return f"{head}{''.join(_tables(tensor.detach()))}"


def description(tensor: torch.Tensor) -> str:
    """Return shape, dtype, device and gradient of a tensor in one line.

    >>> description(torch.ones(2, 3))
    'Tensor [2, 3], float32, cpu'
    """
    parts = [f"Tensor {list(tensor.shape)}", str(tensor.dtype).removeprefix("torch."), str(tensor.device)]
    if tensor.layout != torch.strided:
        parts.append(str(tensor.layout).removeprefix("torch."))
    if tensor.grad_fn is not None:
        parts.append(f"grad_fn={tensor.grad_fn.name()}")
    elif tensor.requires_grad:
        parts.append("requires_grad")
    return ", ".join(parts)


def _has_values(tensor: torch.Tensor) -> bool:
    plain = type(tensor) in (torch.Tensor, torch.nn.Parameter)
    return plain and tensor.layout == torch.strided and tensor.device.type != "meta" and not tensor.is_quantized


def _tables(tensor: torch.Tensor) -> Iterator[str]:
    if tensor.numel() == 0:
        return
    if tensor.dim() == 0:
        yield f"<div>{number(tensor.item())}</div>"
        return
    if tensor.dim() <= 2:
        yield _table(tensor.reshape(1, -1) if tensor.dim() < 2 else tensor, rows_are_named=tensor.dim() == 2)
        return
    for index in product(*(_indices(size, _MOST_MATRICES, 1) for size in tensor.shape[:-2])):
        if _GAP in index:
            continue
        yield f"<div><code>[{', '.join(map(str, index))}]</code></div>{_table(tensor[index], rows_are_named=True)}"
    hidden = any(size > _MOST_MATRICES for size in tensor.shape[:-2])
    if hidden:
        yield "<div><code>&hellip;</code> only the first and the last matrices are shown</div>"


def _indices(size: int, most: int, edge: int) -> list[Any]:
    """Return the indices that are shown of a dimension; None marks the omitted ones.

    >>> _indices(9, 6, 2)
    [0, 1, None, 7, 8]
    """
    if size <= most:
        return list(range(size))
    return [*range(edge), _GAP, *range(size - edge, size)]


def _table(matrix: torch.Tensor, *, rows_are_named: bool) -> str:
    rows = _indices(matrix.shape[0], _MOST_ROWS, _EDGE)
    columns = _indices(matrix.shape[1], _MOST_COLUMNS, _EDGE)
    shown = matrix[[row for row in rows if row is not _GAP]][:, [column for column in columns if column is not _GAP]]
    values = iter(shown.cpu().tolist())
    header = "".join(f"<th>{'&hellip;' if column is _GAP else column}</th>" for column in columns)
    lines = [f"<tr>{'<th></th>' if rows_are_named else ''}{header}</tr>"]
    for row in rows:
        cells = _gap_row(columns) if row is _GAP else _row(columns, iter(next(values)))
        name = f"<th>{'&hellip;' if row is _GAP else row}</th>" if rows_are_named else ""
        lines.append(f"<tr>{name}{cells}</tr>")
    return f"<table><thead>{lines[0]}</thead><tbody>{''.join(lines[1:])}</tbody></table>"


def _gap_row(columns: list[Any]) -> str:
    return "<td>&hellip;</td>" * len(columns)


def _row(columns: list[Any], values: Iterator[Any]) -> str:
    return "".join(f"<td>{'&hellip;' if column is _GAP else number(next(values))}</td>" for column in columns)


def number(value: Any) -> str:
    """Return a number with four decimals as torch prints them; very large and small ones in scientific notation.

    >>> [number(x) for x in (3, 0.5, 1e-9, True)]
    ['3', '0.5000', '1.0000e-09', 'true']
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, float):
        return escape(str(value))
    if value != 0 and value == value and not 1e-4 <= abs(value) < 1e8:
        return f"{value:.4e}" if abs(value) != float("inf") else str(value)
    return f"{value:.4f}"
