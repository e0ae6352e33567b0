"""torch.nn.functional on PyTorch's samples: values and gradients match Python bit for bit."""

from __future__ import annotations

import itertools
import os
import sys
import warnings
from collections import Counter
from pathlib import Path

import pytest

if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
torch = pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from compare_modules import Difference, difference, first_line, tolerance_of, tolerances  # noqa: E402
from module_runs import BINDINGS, SEED, Case, copied, copy_of_module, differentiate, flattened, our_twin, recorded_inits  # noqa: E402
from torch.testing._internal.common_methods_invocations import SampleInput, op_db  # noqa: E402

LONG = os.environ.get("SIMPLE_LONG_TESTS") == "1"
MOST = None if LONG else 40  # samples of each function
TOLERANCES = tolerances()
PREFIX = "nn.functional."
BY_NAME = {}
for op in op_db:
    if op.name.startswith(PREFIX) and torch.float32 in op.dtypes:
        BY_NAME.setdefault(op.name.removeprefix(PREFIX), []).append(op)
TABLE_FIRST = {"embedding", "embedding_bag"}  # their samples have the table before the indices
MISSING = [name for name in BY_NAME if not BINDINGS.has_function(name)]


def outcome(call, sample, make):
    """Results and gradients by name, or the error message; modules among the arguments are converted by `make`."""
    memo = {}
    args = copied((sample.input, *sample.args), memo, make)
    kwargs = copied(sample.kwargs, memo, make)
    torch.default_generator.manual_seed(SEED)
    try:
        outputs = list(flattened(call(args, kwargs)))
        differentiate([output for _, output in outputs])
    except Exception as error:
        return first_line(str(error))
    inputs = [value for value in memo.values() if isinstance(value, torch.Tensor)]
    return [*outputs, *((f"gradient of input {i}", tensor.grad) for i, tensor in enumerate(inputs))]


def differences(name, sample):
    if name in TABLE_FIRST:
        sample.input, sample.args = sample.args[0], (sample.input, *sample.args[1:])
    function = getattr(torch.nn.functional, name)
    expected = outcome(lambda args, kwargs: function(*args, **kwargs), sample, copy_of_module)
    ours = outcome(lambda args, kwargs: BINDINGS.function_called(name, args, kwargs), sample, our_twin)
    if isinstance(ours, str) or isinstance(expected, str):
        return [] if ours == expected else [Difference("error", f"{ours} is not {expected}")]
    if [part for part, _ in ours] != [part for part, _ in expected]:
        return [Difference("names", f"{ours} is not {expected}")]
    found = [difference(part, mine, theirs) for (part, mine), (_, theirs) in zip(ours, expected)]
    return [one for one in found if one is not None]


def verdict(name, sample, found):
    tolerance = tolerance_of(Case(name, torch.float32, True, kwargs=sample.kwargs), TOLERANCES)
    if not found:
        return "equal to the bit"
    if tolerance is not None and all(one.is_within(*tolerance) for one in found):
        return "within tolerance"
    return "different"


def samples(name):
    for op in BY_NAME[name]:
        torch.manual_seed(SEED)
        with recorded_inits():
            samples_left = list(
                itertools.islice(op.sample_inputs("cpu", torch.float32, requires_grad=op.supports_autograd), MOST)
            )
        yield from samples_left


@pytest.fixture(scope="module")
def counts():
    whole = Counter()
    yield whole
    print(f"\nfunctional: {dict(whole)}; {len(MISSING)} functions missing")


def test_every_function_with_samples_is_implemented():
    assert MISSING == []


@pytest.mark.parametrize("name", [name for name in BY_NAME if name not in MISSING])
def test_function(name, counts):
    reported = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in samples(name):
            found = differences(name, sample)
            kind = verdict(name, sample, found)
            counts["samples"] += 1
            counts[kind] += 1
            if kind == "different":
                reported.append(f"{sample.summary()}: {[f'{one.part}: {one.what}' for one in found]}")
    assert reported == [], f"{len(reported)} differ:\n" + "\n".join(reported[:5])


# Functions without samples: the shapes of their tensors, then the other arguments.
WITHOUT_SAMPLES = {
    "max_pool1d_with_indices": ([(2, 3, 8)], (2,), {}),
    "max_pool2d_with_indices": ([(2, 3, 8, 6)], (2,), {"padding": 1}),
    "max_pool3d_with_indices": ([(2, 3, 4, 4, 4)], (2,), {}),
    "adaptive_max_pool1d_with_indices": ([(2, 3, 8)], (3,), {}),
    "adaptive_max_pool2d_with_indices": ([(2, 3, 8, 6)], ((3, None),), {}),
    "adaptive_max_pool3d_with_indices": ([(2, 3, 4, 4, 4)], (3,), {}),
    "fractional_max_pool2d_with_indices": ([(2, 3, 8, 6)], (2, 3), {}),
    "fractional_max_pool3d_with_indices": ([(2, 3, 6, 6, 6)], (2,), {"output_ratio": 0.5}),
    "lp_pool1d": ([(2, 3, 8)], (2.0, 3), {}),
    "lp_pool2d": ([(2, 3, 8, 6)], (3.0, (2, 3)), {"stride": 1}),
    "lp_pool3d": ([(2, 3, 4, 4, 4)], (2.0, 2), {"ceil_mode": True}),
    "dropout1d": ([(2, 3, 8)], (0.4,), {}),
    "conv_tbc": ([(7, 2, 3), (3, 3, 5), (5,)], (1,), {}),
    "affine_grid": ([(2, 2, 3)], ((2, 3, 4, 5),), {"align_corners": True}),
    "native_channel_shuffle": ([(2, 4, 3, 3)], (2,), {}),  # not differentiable; both report it
    "upsample": ([(2, 3, 4, 4)], (), {"scale_factor": 2, "mode": "bilinear"}),
}


@pytest.mark.parametrize("name", WITHOUT_SAMPLES)
def test_a_function_without_samples(name):
    shapes, args, kwargs = WITHOUT_SAMPLES[name]
    torch.manual_seed(SEED)
    first, *others = [torch.randn(shape, requires_grad=True) for shape in shapes]
    sample = SampleInput(first, args=(*others, *args), kwargs=kwargs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert [f"{one.part}: {one.what}" for one in differences(name, sample)] == []
