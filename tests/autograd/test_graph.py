"""torch.autograd.graph: save_on_cpu and saved tensor hooks, compared with Python."""

from __future__ import annotations

import pytest
from embedded_simple import equal, run, torch

OURS = run(
    """
    use torch
    fn saved_on_cpu(x, pin):
        var y = nil
        with torch.autograd.graph.save_on_cpu(pin_memory: pin):
            y = (x * x).exp().sum()
        y.backward()
        x.grad
    fn with_hook(x, hook): x.register_hook(hook)
    fn hooked(x, pack, unpack):
        var y = nil
        with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
            y = (x * x).sum()
        y.backward()
        x.grad
    """,
    name="graph",
)


@pytest.mark.parametrize("pin", [False, True])
def test_save_on_cpu_keeps_the_gradients(pin):
    ours, theirs = (torch.tensor([0.5, -1.0, 2.0], requires_grad=True) for _ in range(2))
    found = OURS.saved_on_cpu(ours, pin)
    with torch.autograd.graph.save_on_cpu(pin_memory=pin):
        y = (theirs * theirs).exp().sum()
    y.backward()
    assert equal(found, theirs.grad)


def test_hooks_receive_each_saved_tensor():
    results = []
    for side in ("ours", "theirs"):
        x, seen = torch.tensor([0.5, -1.0], requires_grad=True), []

        def pack(tensor, seen=seen):
            seen.append(("pack", tensor.tolist()))
            return tensor * 3.0

        def unpack(tensor, seen=seen):
            seen.append(("unpack", tensor.tolist()))
            return tensor

        if side == "ours":
            OURS.hooked(x, pack, unpack)
        else:
            with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
                y = (x * x).sum()
            y.backward()
        results.append((seen, x.grad.tolist()))
    assert results[0] == results[1] and len(results[0][0]) == 4


def test_gradient_hooks_may_be_python_functions():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    OURS.with_hook(x, lambda grad: grad * 3.0)
    OURS.with_hook(x, lambda grad: None)
    (x * x).sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]
