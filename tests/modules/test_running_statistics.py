"""The running statistics of a batch norm follow several batches as in PyTorch."""

from __future__ import annotations

import json

import pytest

from programs import run

torch = pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)

PROGRAM = """use torch
val norm = torch.nn.BatchNorm1d(1, momentum: MOMENTUM)
for i in 0..5: norm(torch.tensor([[1.0 * i], [2.0 * i + 1.0]]))
print [norm.running_mean.item(), norm.running_var.item()]
"""


@pytest.mark.parametrize("momentum", [0.1, 0.5, 1.0, None])
def test_running_statistics_after_several_batches(momentum: float | None) -> None:
    norm = torch.nn.BatchNorm1d(1, momentum=momentum)
    for i in range(5):
        norm(torch.tensor([[1.0 * i], [2.0 * i + 1.0]]))
    done = run("-e", PROGRAM.replace("MOMENTUM", "nil" if momentum is None else str(momentum)))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == pytest.approx([norm.running_mean.item(), norm.running_var.item()], rel=1e-6)
