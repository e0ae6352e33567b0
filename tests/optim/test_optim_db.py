"""PyTorch's configurations of each optimizer (optim_db): parameters match Python after 1, 2, 10, 100 steps."""

from __future__ import annotations

from copy import deepcopy

import pytest
from compare_optimizers import largest_difference, ours, problems_for, pythons, torch

from torch.testing._internal.common_optimizers import optim_db  # isort: skip

INFO = {info.name: info for info in optim_db}
CONFIGURATIONS = [
    pytest.param(name, config.kwargs, id=f"{name}-{config.desc}")
    for name, info in INFO.items()
    for config in info.optim_inputs_func("cpu")
]
STEPS = [1, 1, 8, 90]  # 1, 2, 10 and 100 in total


def differences(name, options, python_options=None, dtype=torch.float32):
    """The largest difference of an element after 1, 2, 10, 100 steps."""
    theirs, mine = problems_for(name, dtype)
    their_optimizer = pythons(name, theirs.params, **(options if python_options is None else python_options))
    my_optimizer = ours(name, mine.params, **deepcopy(options))
    found = []
    for count in STEPS:
        closure = INFO[name].step_requires_closure
        theirs.steps(their_optimizer, count, closure=closure)
        mine.steps(my_optimizer, count, closure=closure)
        assert not torch.equal(theirs.params[0], problems_for(name, dtype)[0].params[0])
        # L-BFGS that maximizes without a line search diverges, in both.
        assert name == "LBFGS" or all(value.isfinite().all() for value in theirs.values())
        found.append(largest_difference(theirs.values(), mine.values()))
    return found


def test_every_optimizer_has_configurations():
    assert len(CONFIGURATIONS) >= 91
    assert {name for name, *_ in (each.values for each in CONFIGURATIONS)} == set(INFO)


@pytest.mark.parametrize(("name", "options"), CONFIGURATIONS)
def test_parameters_match_python_bit_for_bit(name, options):
    assert differences(name, options) == [0, 0, 0, 0]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", [name for name in INFO if name not in ("LBFGS", "SparseAdam")])
def test_16_bit_parameters_match_python_bit_for_bit(name, dtype):
    """With steps large enough for the dtype, and no eps that is 0 in it."""
    options = {"lr": 0.05} if name == "Rprop" else {"lr": 0.05, "weight_decay": 0.1}
    if name in ("Adam", "AdamW", "NAdam", "RAdam"):
        options["eps"] = 1e-3
    if name in ("SGD", "RMSprop"):
        options["momentum"] = 0.9
    assert differences(name, options, dtype=dtype) == [0, 0, 0, 0]


@pytest.mark.parametrize("name", [name for name in INFO if name not in ("SparseAdam", "LBFGS")])
def test_float64_parameters_match_python_bit_for_bit(name):
    assert differences(name, {}, dtype=torch.float64) == [0, 0, 0, 0]


@pytest.mark.parametrize("name", [name for name, info in INFO.items() if info.supports_complex])
def test_complex_parameters_match_python_bit_for_bit(name):
    options = {} if name == "LBFGS" else {"weight_decay": 0.1} if name != "Rprop" else {"lr": 0.001}
    assert differences(name, options, dtype=torch.complex64) == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("name", "options"),
    [each for each in CONFIGURATIONS if "fused" in INFO[each.values[0]].supported_impls],
)
def test_fused_kernels_match_pythons_fused_kernels(name, options):
    assert differences(name, {**options, "fused": True}) == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("name", "options"),
    [each for each in CONFIGURATIONS if "foreach" in INFO[each.values[0]].supported_impls],
)
def test_foreach_is_accepted_and_close_to_python(name, options):
    if isinstance(options.get("lr"), torch.Tensor):
        options = {**options, "lr": options["lr"].item()}
    assert max(differences(name, {**options, "foreach": True})[:3]) < 1e-4


def test_a_difference_is_detected():
    assert max(differences("SGD", {"lr": 0.1}, python_options={"lr": 0.1000001})) > 0
