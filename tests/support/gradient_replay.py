"""Gradients through the C ABI only: an operator called by name on handles, then one backward pass over handles."""

from __future__ import annotations

import ctypes

import torch
from embedded_abi import Abi, Unreplayable, _Call
from torch.utils._pytree import tree_leaves

Handles = ctypes.POINTER(ctypes.c_int64)


class _RecordedCall(_Call):
    """Arguments whose tensors require grad where Python's do; `leaves` maps Python's tensors to them."""

    def __init__(self, abi: GradientAbi) -> None:
        super().__init__(abi)
        self.leaves: dict[int, int] = {}

    def _handle(self, tensor: torch.Tensor) -> int:
        if id(tensor) in self.leaves:
            return self.leaves[id(tensor)]
        handle = super()._handle(tensor.detach())
        if tensor.requires_grad:
            self._abi.check(self._abi.front.spt_set_requires_grad(ctypes.c_int64(handle), True))
            self.leaves[id(tensor)] = handle
        return handle


class GradientAbi(Abi):
    """Forward and backward passes of operators."""

    def forward_and_gradients(self, name: str, args: list, named: dict, inputs: list, weights_for) -> tuple[list, list]:
        """The results that require grad, and the gradients of `inputs` with `weights_for(results)`."""
        call = _RecordedCall(self)
        made: list[int] = []
        try:
            made += self._called(call, name, args, named)
            outputs = [handle for handle in made if self._requires_grad(handle)]
            results = [self._shown(handle) for handle in outputs]
            return results, self._gradients(call, outputs, weights_for(results), inputs)
        finally:
            for handle in made:
                self.release(handle)
            call.release()

    def _called(self, call: _RecordedCall, name: str, args: list, named: dict) -> list[int]:
        out = self._called_by_name(call, name, args, named)
        given, found = out.contents, []
        for letter, i in zip(given.items[0].as_string.decode(), range(2, given.len)):
            if letter == "t":
                found.append(given.items[i].as_int)
            elif letter == "l":
                inner = given.items[i].as_array.contents
                found += [inner.items[j].as_int for j in range(inner.len)]
        self.front.spl_array_free(out)
        return [handle for handle in found if handle != 0]

    def _requires_grad(self, handle: int) -> bool:
        requires = ctypes.c_bool()
        self.check(self.front.spt_requires_grad(ctypes.c_int64(handle), ctypes.byref(requires)))
        return requires.value

    def _shown(self, handle: int) -> torch.Tensor:
        detached = ctypes.c_int64()
        self.check(self.front.spt_detach(ctypes.c_int64(handle), ctypes.byref(detached)))
        return self.leave(detached.value)

    def _gradients(self, call: _RecordedCall, outputs: list[int], weights: list, inputs: list) -> list:
        leaves = [call.leaves[id(tensor)] for tensor in inputs if id(tensor) in call.leaves]
        if len(leaves) != len(inputs) or not outputs:
            raise Unreplayable("an input that does not reach the operator, or no output with a gradient")
        out, count = Handles(), ctypes.c_int64()
        self.check(
            self.front.spt_grad_of(
                *_list(outputs),
                *_list(leaves),
                *_list([call._handle(weight) for weight in weights]),
                False,
                False,
                True,
                ctypes.byref(out),
                ctypes.byref(count),
            )
        )
        handles = out[: count.value]
        self.front.spt_free(out)
        taken = []
        for i, handle in enumerate(handles):
            try:
                taken.append(None if handle == 0 else self.leave(handle))
            except Unreplayable:
                for rest in handles[i + 1 :]:
                    if rest:
                        self.release(rest)
                raise
        return taken


def _list(handles: list[int]) -> tuple:
    return (ctypes.c_int64 * max(len(handles), 1))(*handles), ctypes.c_int64(len(handles))


def inputs_of(sample) -> list[torch.Tensor]:
    """The tensors of a sample that require grad, each once."""
    leaves = tree_leaves((sample.input, sample.args, sample.kwargs))
    found = {id(leaf): leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.requires_grad}
    return list(found.values())


def outputs_of(result) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor) and leaf.requires_grad]


def weights_for(outputs: list[torch.Tensor]) -> list[torch.Tensor]:
    """The same weights for outputs of the same shapes and dtypes."""
    torch.manual_seed(7)
    return [torch.randn(output.shape, dtype=output.dtype, device=output.device) for output in outputs]


def same_bits(a, b) -> bool:
    """Whether two gradients, or None, are equal in dtype, shape and each bit."""
    if a is None or b is None:
        return a is b
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    a, b = a.detach().resolve_conj().resolve_neg(), b.detach().resolve_conj().resolve_neg()
    return torch.equal(_bits(a), _bits(b))


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    dense = torch.empty(tensor.numel(), dtype=tensor.dtype)
    return dense.copy_(tensor.reshape(-1)).view(torch.uint8)
