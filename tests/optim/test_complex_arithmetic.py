"""Steps on complex parameters compute on the same dtypes as PyTorch's single-tensor optimizers.

The kernels for real and complex numbers round differently on CPUs with AVX-512 only, so comparing values does not
show on every machine whether an operation runs on a complex tensor or on its real view. This compares the operations.
"""

from __future__ import annotations

import pytest
from compare_optimizers import Problem, ours, pythons, torch
from torch.utils._python_dispatch import TorchDispatchMode

from torch.testing._internal.common_optimizers import optim_db  # isort: skip

NAMES = [info.name for info in optim_db if info.supports_complex and info.name != "LBFGS"]
STEPS = 7  # RAdam's variance is tractable from step 6 on


class Arithmetic(TorchDispatchMode):
    """Records each elementwise operation with a parameter's elements, as its name and the dtypes of its operands.

    `_foreach_x` counts as x for each tensor. In-place and out-of-place operations have the same name, so the copy of an
    operand before an in-place operation does not count. `x[mask] = number` is index_put in torch 2.11 and masked_fill
    in 2.15.
    """

    def __init__(self) -> None:
        super().__init__()
        self.operations: list[tuple[str, tuple[torch.dtype, ...]]] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if not func.is_view:
            name = func.overloadpacket.__name__.removeprefix("_foreach_").rstrip("_")
            for operands in items_of(args) if isinstance(args[0], list) else [args]:
                dtypes = tuple(each.dtype for each in operands if isinstance(each, torch.Tensor) and each.dim() > 0)
                if name in ("index_put", "masked_fill"):
                    self.operations.append(("masked_fill", dtypes[:1]))
                elif dtypes and name != "clone":
                    self.operations.append((name, dtypes))
        return result


def items_of(args):
    """The arguments of each item of a _foreach_ call; numbers and tensors outside of lists belong to every item."""
    for i in range(len(args[0])):
        yield [argument[i] if isinstance(argument, list) else argument for argument in args]


def operations_of(optimizer, problem):
    """The operations of each step."""
    found = []
    for _ in range(STEPS):
        problem.closure(optimizer)()
        with Arithmetic() as recorded:
            optimizer.step()
        found.append(recorded.operations)
    return found


class OneParameter(Problem):
    """The bias alone is trained, so that the operations of the parameters do not interleave."""

    def __init__(self) -> None:
        super().__init__(torch.complex64)
        self.trained = [self.params[1]]


@pytest.mark.parametrize("name", NAMES)
def test_a_step_runs_the_operations_of_pytorch(name):
    options = {"weight_decay": 0.1} if name != "Rprop" else {"lr": 0.001}
    theirs, mine = OneParameter(), OneParameter()
    expected = operations_of(pythons(name, theirs.trained, foreach=False, **options), theirs)
    found = operations_of(ours(name, mine.trained, **options), mine)
    assert found == expected
