"""Digests of the elements of tensors."""

from __future__ import annotations

import hashlib

import torch


def digest(value: torch.Tensor) -> str:
    """A digest of the elements in order, the same for all NaN; of the meaning, not of the layout or lazy bits."""
    if value.is_nested:
        return "".join(map(digest, value.unbind()))
    if value.device.type == "meta":
        return ""
    dense = value.detach().resolve_conj().resolve_neg()
    if dense.layout != torch.strided:
        dense = dense.to_dense()
    if dense.is_quantized:
        dense = dense.int_repr()
    if dense.is_complex():
        dense = torch.view_as_real(dense)
    if dense.is_floating_point() and dense.element_size() > 1:
        dense = dense.masked_fill(dense.isnan(), torch.nan)
    raw = dense.contiguous().reshape(-1).view(torch.uint8)
    return hashlib.sha256(raw.numpy().tobytes()).hexdigest()
