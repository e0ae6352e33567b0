"""Sparse matrices of SciPy as sparse tensors of torch, and the other way round."""

from __future__ import annotations

from typing import Any

COMPRESSED = {"csr": "sparse_csr_tensor", "csc": "sparse_csc_tensor", "bsr": "sparse_bsr_tensor"}


def is_sparse_matrix(value: object) -> bool:
    """Whether `value` is a matrix or array of scipy.sparse, which has been imported if there is one."""
    return any(base.__module__.startswith("scipy.sparse") for base in type(value).__mro__)


def tensor_of(matrix: Any) -> Any:
    """Return a sparse tensor of the same shape, dtype and values.

    The formats csr, csc and bsr become the layouts of these names and share the matrix's memory; csr and csc with
    entries that are not sorted or not distinct are copied, and so is read-only memory. coo becomes the layout coo with
    copied indices; the other formats become csr.

    Raises:
        TypeError: torch has no such dtype.
        RuntimeError: an index or an offset is outside the matrix.
    """
    import torch

    if matrix.format == "coo" or matrix.ndim != 2:
        matrix = matrix.tocoo()
        indices = torch.stack([torch.as_tensor(of, dtype=torch.int64) for of in _coordinates(matrix)])
        return torch.sparse_coo_tensor(indices, _values(matrix.data), matrix.shape, check_invariants=True)
    if matrix.format not in COMPRESSED:
        matrix = matrix.tocsr()
    _require_offsets(matrix)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    parts = [_values(part) for part in (matrix.indptr, matrix.indices, matrix.data)]
    return getattr(torch, COMPRESSED[matrix.format])(*parts, matrix.shape, check_invariants=True)


def _values(array: Any) -> Any:
    """A tensor on the array's memory; on a copy if it is read-only, which a sparse tensor cannot protect."""
    import torch

    return torch.from_numpy(array if array.flags.writeable else array.copy())


def _require_offsets(matrix: Any) -> None:
    """SciPy's own functions read the entries between two offsets unchecked."""
    offsets, count = matrix.indptr, min(len(matrix.indices), len(matrix.data))
    if offsets[0] != 0 or offsets[-1] > count or (offsets[1:] < offsets[:-1]).any():
        raise RuntimeError(f"indptr of the matrix must rise from 0 to at most the number of entries, {count}")


def matrix_of(tensor: Any) -> Any:
    """Return a SciPy array of the tensor's format. It shares the values' memory, unless entries of coo are added up.

    Raises:
        RuntimeError: the tensor requires grad, which a matrix would lose.
        TypeError: the tensor is not sparse, is on another device than the CPU, or has dense or batch dimensions.
    """
    import scipy.sparse
    import torch

    if tensor.layout == torch.strided or tensor.device.type != "cpu":
        raise TypeError(f"expected a sparse tensor on the CPU, got one of layout {tensor.layout} on {tensor.device}")
    if tensor.requires_grad:
        raise RuntimeError("a matrix of SciPy would lose the gradient of a tensor that requires grad: use .detach()")
    if tensor.layout == torch.sparse_coo:
        tensor = tensor.coalesce()
        if tensor.dense_dim():
            raise TypeError(f"a tensor with {tensor.dense_dim()} dense dimensions is no matrix of SciPy")
        return scipy.sparse.coo_array((tensor.values().numpy(), tuple(tensor.indices().numpy())), tuple(tensor.shape))
    if tensor.ndim != 2:
        raise TypeError(f"a tensor with {tensor.ndim} dimensions of layout {tensor.layout} is no matrix of SciPy")
    by_rows = tensor.layout in (torch.sparse_csr, torch.sparse_bsr)
    offsets = tensor.crow_indices() if by_rows else tensor.ccol_indices()
    indices = tensor.col_indices() if by_rows else tensor.row_indices()
    kinds = {
        torch.sparse_csr: scipy.sparse.csr_array,
        torch.sparse_csc: scipy.sparse.csc_array,
        torch.sparse_bsr: scipy.sparse.bsr_array,
    }
    if tensor.layout not in kinds:
        raise TypeError(f"SciPy has no format for the layout {tensor.layout}")
    values = (tensor.values().numpy(), indices.numpy(), offsets.numpy())
    return kinds[tensor.layout](values, shape=tuple(tensor.shape))


def _coordinates(matrix: Any) -> tuple[Any, ...]:
    return matrix.coords if hasattr(matrix, "coords") else (matrix.row, matrix.col)
