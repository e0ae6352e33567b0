"""torch.nn.init: each initializer draws Python's values under the same seed, and raises the same errors."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import pytest

if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
torch = pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from compare_modules import bits  # noqa: E402
from module_runs import BINDINGS, SEED  # noqa: E402

# Name, shape, other arguments.
CALLS = [
    ("uniform_", (3, 4), {}),
    ("uniform_", (3, 4), {"a": -1.0, "b": 2.0}),
    ("normal_", (3, 4), {"mean": 0.5, "std": 2.0}),
    ("constant_", (2, 2), {"val": 0.3}),
    ("constant_", (2, 2), {"val": 3}),
    ("ones_", (2, 3), {}),
    ("zeros_", (2, 3), {}),
    ("eye_", (3, 5), {}),
    ("eye_", (5, 3), {}),
    ("dirac_", (6, 2, 3), {}),
    ("dirac_", (6, 2, 3, 4), {"groups": 2}),
    ("dirac_", (2, 6, 3, 4, 5), {}),
    ("xavier_uniform_", (3, 5), {}),
    ("xavier_uniform_", (3, 5, 2, 2), {"gain": 1.5}),
    ("xavier_normal_", (3, 5, 2), {}),
    ("xavier_normal_", (3, 5), {"gain": 2}),
    ("kaiming_uniform_", (3, 5), {}),
    ("kaiming_uniform_", (3, 5, 2), {"a": 0.1, "mode": "fan_out"}),
    ("kaiming_uniform_", (3, 5), {"mode": "FAN_IN", "nonlinearity": "tanh"}),
    ("kaiming_uniform_", (3, 0), {}),
    ("kaiming_normal_", (3, 5), {"nonlinearity": "relu"}),
    ("kaiming_normal_", (3, 5, 2), {"a": 0.3}),
    ("orthogonal_", (3, 5), {}),
    ("orthogonal_", (5, 3), {"gain": 2.0}),
    ("orthogonal_", (6, 3, 2), {}),
    ("orthogonal_", (0, 3), {}),
    ("sparse_", (10, 4), {"sparsity": 0.25}),
    ("sparse_", (7, 4), {"sparsity": 0.5, "std": 1.0}),
]
TRUNCATED = [
    ("trunc_normal_", (300, 4), {}),
    ("trunc_normal_", (300, 4), {"mean": 1.0, "std": 2.0, "a": 0.0, "b": 4.0}),
    ("trunc_normal_", (300, 4), {"a": 2.0, "b": 3.0}),
    ("trunc_normal_", (300, 4), {"mean": 0, "std": 2, "a": 1, "b": 3}),
    ("trunc_normal_", (300, 4), {"mean": 5.0, "a": -2.0, "b": 3.0}),
    ("trunc_normal_", (300, 4), {"mean": -1.0, "a": 2.0, "b": 3.0, "std": 0.5}),
]
REJECTED = [
    ("eye_", (3,), {}),
    ("dirac_", (3, 3), {}),
    ("dirac_", (3, 3, 3), {"groups": 2}),
    ("xavier_uniform_", (3,), {}),
    ("xavier_normal_", (3,), {}),
    ("kaiming_uniform_", (3,), {}),
    ("kaiming_uniform_", (3, 3), {"mode": "fan"}),
    ("kaiming_normal_", (3, 3), {"nonlinearity": "unknown"}),
    ("kaiming_normal_", (3, 3), {"a": "text"}),
    ("orthogonal_", (3,), {}),
    ("sparse_", (3, 3, 3), {"sparsity": 0.1}),
]
OF_2_15 = pytest.mark.skipif(torch.__version__ < "2.15", reason="draws its numbers otherwise; ours is that of 2.15")


def filled(fill, shape: tuple, dtype: torch.dtype) -> tuple[bytes, bytes, bool]:
    tensor = torch.zeros(shape, dtype=dtype, requires_grad=True)
    torch.default_generator.manual_seed(SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        returned = fill(tensor)
    assert returned is tensor
    return bits(tensor.detach()), bits(torch.get_rng_state()), tensor.is_leaf


def same(name: str, shape: tuple, named: dict, dtype: torch.dtype) -> None:
    expected = filled(lambda tensor: getattr(torch.nn.init, name)(tensor, **named), shape, dtype)
    assert filled(lambda tensor: BINDINGS.initialized(name, tensor, (), named), shape, dtype) == expected


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("name", "shape", "named"), CALLS)
def test_values_match_python(name, shape, named, dtype):
    same(name, shape, named, dtype)


@OF_2_15
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize(("name", "shape", "named"), TRUNCATED)
def test_truncated_values_match_python(name, shape, named, dtype):
    same(name, shape, named, dtype)


@pytest.mark.parametrize(("name", "shape", "named"), REJECTED)
def test_rejects_the_same_as_python_with_its_message(name, shape, named):
    with pytest.raises(ValueError) as expected:
        getattr(torch.nn.init, name)(torch.zeros(shape), **named)
    with pytest.raises(RuntimeError) as raised:
        BINDINGS.initialized(name, torch.zeros(shape), (), named)
    assert str(raised.value) == str(expected.value)


@pytest.mark.parametrize(
    "args",
    [("linear",), ("conv_transpose2d",), ("sigmoid",), ("tanh",), ("relu",), ("selu",), ("leaky_relu",)]
    + [("leaky_relu", 0.2), ("leaky_relu", 2)],
)
def test_gains_match_python(args):
    assert BINDINGS.gain(args) == torch.nn.init.calculate_gain(*args)


def test_every_initializer_is_implemented():
    names = [name for name in vars(torch.nn.init) if name.endswith("_") and not name.startswith("_")]
    assert [name for name in [*names, "calculate_gain"] if not BINDINGS.has_initialiser(name)] == []
    assert {name for name, *_ in CALLS + TRUNCATED} == set(names)
