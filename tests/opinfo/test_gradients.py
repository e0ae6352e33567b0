"""The gradients of PyTorch's operator samples, computed by handle, match Python bit for bit.

For each sample the operator is called by name on handles that require grad, and one backward pass over handles computes
the gradients, without Python. An operator that PyTorch composes in Python is called there, and only its backward pass
is started in Simple. A difference must be in DIFFERENT, with the reason; the counts must not decrease.
SIMPLE_LONG_TESTS=1 uses all samples and complex ones.
"""

from __future__ import annotations

import itertools
import os
import sys
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)

from embedded_abi import AbiError, Unreplayable  # noqa: E402
from gradient_replay import GradientAbi, inputs_of, outputs_of, same_bits, weights_for  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from simple_torch import run  # noqa: E402

LONG = os.environ.get("SIMPLE_LONG_TESTS") == "1"
SAMPLES = None if LONG else 3
DTYPES = (torch.float32, torch.complex64) if LONG else (torch.float32,)
# The differences over all samples. istft: Python computes no gradient for the window of two, and their clones have
# ours. smooth_l1_loss: Python calls l1_loss if beta is 0; by handle it is the operator of that name.
DIFFERENT = {"istft": 2, "nn.functional.smooth_l1_loss": 1} if LONG else {}
LEAST_BY_HANDLE, LEAST_OPERATORS, LEAST_PASSES = 1139, 383, 341  # for torch 2.11, which has fewer

# Python's functions accept as separate arguments the tensors that the operators accept as a list.
OF_SEVERAL = {"block_diag", "broadcast_tensors", "cartesian_prod", "meshgrid"}

SIMPLE = """
use torch
fn own(v): [for t in v: t.to_tensor()]
fn gradients(outputs, inputs, weights): torch.autograd.grad(own(outputs), own(inputs), own(weights), allow_unused: true)
"""


@dataclass
class Outcomes:
    by_handle: int = 0  # forward and backward through the ABI
    operators: set[str] = field(default_factory=set)
    passes: int = 0  # the backward pass only
    why_only_passes: Counter = field(default_factory=Counter)
    different: dict[str, list[str]] = field(default_factory=dict)
    left_out: Counter = field(default_factory=Counter)
    live: int = 0


def samples(op):
    for dtype in DTYPES:
        if (
            op.supports_autograd
            and dtype in op.supported_dtypes("cpu")
            and dtype in op.supported_backward_dtypes("cpu")
        ):
            try:
                yield from itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=True), SAMPLES)
            except (RuntimeError, NotImplementedError, AssertionError, TypeError, ValueError, ImportError):
                return  # PyTorch itself has none here


def forward(op, sample):
    torch.manual_seed(0)
    return op(sample.input, *sample.args, **sample.kwargs)


def pythons(op, sample, inputs):
    outputs = outputs_of(forward(op, sample))
    return outputs, torch.autograd.grad(outputs, inputs, weights_for(outputs), allow_unused=True)


def by_handle(abi: GradientAbi, op, sample, inputs, expected) -> str | None:
    """None if all is equal, else the difference. Raises if the operator cannot be called by name."""
    name = next(
        (n for n in (op.aten_name, op.name.replace("nn.functional.", "").replace(".", "_")) if abi.knows(n)), None
    )
    if name is None:
        raise Unreplayable("composed in Python")
    outputs, gradients = expected
    torch.manual_seed(0)
    args = [sample.input, *sample.args]
    if op.name in OF_SEVERAL:
        args = [args]
    found, ours = abi.forward_and_gradients(name, args, sample.kwargs, inputs, weights_for)
    if len(found) != len(outputs) or not all(map(same_bits, found, outputs)):
        raise Unreplayable("the operator of that name is another function")
    return None if all(map(same_bits, ours, gradients)) else "gradients of the operator by handle"


def by_pass(simple, op, sample, inputs, expected) -> str | None:
    outputs = outputs_of(forward(op, sample))
    ours = simple.gradients(outputs, inputs, weights_for(outputs))
    return None if all(map(same_bits, ours, expected[1])) else "gradients of the backward pass"


def compare(found: Outcomes, abi: GradientAbi, simple, op, sample) -> None:
    inputs = inputs_of(sample)
    try:
        expected = pythons(op, sample, inputs)
    except (RuntimeError, NotImplementedError, IndexError, TypeError, ValueError):
        found.left_out["PyTorch has no gradient"] += 1
        return
    if not all(tensor.layout == torch.strided for tensor in inputs + expected[0]):
        found.left_out["sparse"] += 1
        return
    try:
        why = by_handle(abi, op, sample, inputs, expected)
        found.by_handle += 1
        found.operators.add(op.name)
    except (Unreplayable, AbiError, AttributeError) as error:
        found.why_only_passes[str(error).split("\n")[0].split("(")[0]] += 1
        why = by_pass(simple, op, sample, inputs, expected)
        found.passes += 1
    if why is not None:
        found.different.setdefault(op.name, []).append(why)


@pytest.fixture(scope="module")
def outcomes() -> Outcomes:
    from torch.testing._internal.common_methods_invocations import op_db

    simple = run(SIMPLE, name="opinfo")
    found, abi = Outcomes(), GradientAbi()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for op in op_db:
            for sample in samples(op):
                compare(found, abi, simple, op, sample)
    found.live = abi.live()
    print(
        f"\ngradients: {found.by_handle} samples of {len(found.operators)} operators by handle, "
        f"{found.passes} backward passes; left out: {dict(found.left_out)}"
    )
    for why, count in found.why_only_passes.most_common(12):
        print(f"  only the pass, {count}: {why}")
    for name, whys in found.different.items():
        print(f"  {name}: {len(whys)} ({whys[0]})")
    return found


def test_every_gradient_matches_python_or_is_a_known_difference(outcomes: Outcomes) -> None:
    assert {name: len(whys) for name, whys in outcomes.different.items()} == DIFFERENT


def test_coverage_does_not_shrink(outcomes: Outcomes) -> None:
    assert outcomes.by_handle >= LEAST_BY_HANDLE
    assert len(outcomes.operators) >= LEAST_OPERATORS
    assert outcomes.passes >= LEAST_PASSES


def test_leaks_no_handle(outcomes: Outcomes) -> None:
    assert outcomes.live == 0
