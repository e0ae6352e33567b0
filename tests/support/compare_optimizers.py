"""One training problem, optimized by Python's and by Simple's optimizer, on Python's tensors in one process."""

from __future__ import annotations

import sys
import warnings
from copy import deepcopy
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from simple_torch import run  # noqa: E402

# A function for each name of torch.optim; a failure is the error that would stop the program.
NAMES = [
    *("Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "ASGD", "LBFGS", "Muon", "NAdam", "RAdam"),
    *("RMSprop", "Rprop", "SGD", "SparseAdam"),
]
OURS = run(
    "use torch.optim\n" + "\n".join(f"fn {name}(args..., **named): optim.{name}(args..., **named)" for name in NAMES),
    name="optimizers",
)


def ours(name: str, *args, **options):
    """The optimizer with that name of Simple's torch.optim, as a Python object."""
    return getattr(OURS, name)(*args, **options)


class Problem:
    """Two layers whose mean square is minimized; it starts with the same numbers each time."""

    def __init__(self, dtype=torch.float32, *, matrices_only=False, sparse=False):
        generator = torch.Generator().manual_seed(3)

        def random(*sizes):
            return torch.randn(*sizes, generator=generator, dtype=dtype)

        self.sparse = sparse
        sizes = [(5, 3)] if sparse else [(3, 4), (4, 2)] if matrices_only else [(3, 4), (4,), (4, 2), (2,)]
        self.params = [random(*each) for each in sizes]
        for param in self.params:
            param.requires_grad_()
        self.x, self.y = random(6, 3), random(6, 2)

    def loss(self):
        if self.sparse:
            rows = torch.nn.functional.embedding(torch.tensor([0, 3, 3]), self.params[0], sparse=True)
            return (rows * rows).sum() + rows.sum()
        if len(self.params) == 2:
            output = (self.x @ self.params[0]).sin() @ self.params[1]
        else:
            first, bias, second, last = self.params
            output = (self.x @ first + bias).sin() @ second + last
        # Bounded, so that it can also be maximized.
        output = output if output.is_complex() else output.sin()
        return (output - self.y).abs().pow(2).mean()

    def closure(self, optimizer):
        def evaluate():
            optimizer.zero_grad()
            loss = self.loss()
            loss.backward()
            return loss

        return evaluate

    def steps(self, optimizer, count: int, *, closure=False):
        for _ in range(count):
            if closure:
                optimizer.step(self.closure(optimizer))
            else:
                self.closure(optimizer)()
                optimizer.step()

    def values(self):
        return [param.detach().clone() for param in self.params]


def problems_for(name: str, dtype=torch.float32):
    """Two equal problems, for Python's optimizer and Simple's."""
    options = {"matrices_only": name == "Muon", "sparse": name == "SparseAdam"}
    return Problem(dtype, **options), Problem(dtype, **options)


def pythons(name: str, params, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(torch.optim, name)(params, **deepcopy(options))


def largest_difference(a, b) -> float:
    """The largest relative difference of numbers above 1e-3. Infinite if only one of the two is NaN."""
    if any(not torch.equal(x.isnan(), y.isnan()) for x, y in zip(a, b, strict=True)):
        return float("inf")
    a, b = [x.nan_to_num() for x in a], [y.nan_to_num() for y in b]
    return max(((x - y).abs() / x.abs().clamp(min=1e-3)).max().item() for x, y in zip(a, b, strict=True))


def plain(state):
    """Converts tensors and tuples to lists, so that `==` compares."""
    if isinstance(state, torch.Tensor):
        return [str(state.dtype), list(state.shape), state.tolist()]
    if isinstance(state, dict):
        return {key: plain(value) for key, value in state.items()}
    if isinstance(state, (list, tuple)):
        return [plain(value) for value in state]
    return state
