"""Native modules and those of Python in 8 bits have the values of PyTorch's quantization of the same layers."""

from __future__ import annotations

import copy
import warnings
from importlib.util import find_spec

import pytest
from embedded_simple import run, torch

TORCHAO = pytest.mark.skipif(find_spec("torchao") is None, reason="this Python has no torchao")
QUANTIZED = run(
    r"""
    use python as py
    use torch
    use torch.nn
    use torch.ao.quantization as quantization
    use torchao
    fn network():
        torch.manual_seed(0)
        nn.Sequential(nn.Conv2d(1, 8, 3, padding: 1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
            nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10)).eval()
    fn call(net, x): torch.no_grad(\: net(x))
    fn dynamic(net, x): quantization.quantize_dynamic(net, example_inputs: if x == nil: nil else: (x,))
    fn static(net, x):
        val prepared = quantization.prepare_fx(net, (x,))
        prepared(x)
        quantization.convert_fx(prepared)
    fn weights(net, x): torchao.quantize_(net, torchao.quantization.Int8WeightOnlyConfig(), example_inputs: (x,))
    fn int4_of_cpus(net, x):
        val config = py.import("torchao.prototype.quantization.int4").PrototypeInt4WeightOnlyConfig(group_size: 32)
        torchao.quantize_(net, config, \layer, name: fits_int4(layer), example_inputs: (x,))
    fn fits_int4(layer): py.type_name(layer).ends_with(".Linear") and layer.out_features % 16 == 0
    fn int4(net, x): torchao.quantize_(net, torchao.quantization.Int4WeightOnlyConfig(), example_inputs: (x,))
    fn failure(body):
        match torch.attempt(body):
            case Ok(_): "ok"
            case Err(torch.TorchError.Unavailable(message)): "Unavailable: {message}"
            case Err(torch.TorchError.InvalidArgument(message)): "InvalidArgument: {message}"
            case Err(other): "another: {other.message()}"
    fn training(x): quantization.quantize_dynamic(network().train(), example_inputs: (x,))
    fn state(net): net.state_dict()
    """
)
X = torch.randn(16, 1, 8, 8, generator=torch.Generator().manual_seed(1))
pytestmark = pytest.mark.filterwarnings("ignore")


def reference():
    """The same network in Python, with the same values."""
    nn = torch.nn
    layers = [nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()]
    net = nn.Sequential(*layers, nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10)).eval()
    net.load_state_dict({name: tensor.clone() for name, tensor in QUANTIZED.state(QUANTIZED.network()).items()})
    return net


@torch.no_grad()
def test_dynamic_quantization_of_a_native_module_has_the_values_of_pytorch():
    expected = torch.ao.quantization.quantize_dynamic(reference(), {torch.nn.Linear}, dtype=torch.qint8)(X)
    assert QUANTIZED.call(QUANTIZED.dynamic(QUANTIZED.network(), X), X).equal(expected)


@torch.no_grad()
def test_static_quantization_of_a_native_module_has_the_values_of_pytorch():
    from torch.ao.quantization import quantize_fx as fx

    mapping = torch.ao.quantization.get_default_qconfig_mapping("x86")
    with warnings.catch_warnings(action="ignore"):
        prepared = fx.prepare_fx(reference(), mapping, (X,))
        prepared(X)
        expected = fx.convert_fx(prepared)(X)
    small = QUANTIZED.static(QUANTIZED.network(), X)
    assert QUANTIZED.call(small, X).equal(expected)
    assert QUANTIZED.call(small, X[:3]).shape == (3, 10)


@TORCHAO
@torch.no_grad()
def test_weights_of_a_native_module_in_8_bits_have_the_values_of_torchao():
    from torchao.quantization import Int8WeightOnlyConfig, quantize_

    theirs = reference()
    quantize_(theirs, Int8WeightOnlyConfig())
    net = QUANTIZED.network()
    before = QUANTIZED.call(net, X)
    assert QUANTIZED.call(QUANTIZED.weights(net, X), X).equal(theirs(X))
    assert QUANTIZED.call(net, X).equal(before)


@TORCHAO
@torch.no_grad()
def test_weights_of_a_native_module_in_4_bits_have_the_values_of_torchao():
    from torchao.prototype.quantization.int4 import PrototypeInt4WeightOnlyConfig
    from torchao.quantization import quantize_

    theirs = reference()
    quantize_(theirs[5], PrototypeInt4WeightOnlyConfig(group_size=32))  # kernels need sizes that 16 divides
    small = QUANTIZED.int4_of_cpus(QUANTIZED.network(), X)
    found = QUANTIZED.call(small, X)
    assert found.equal(theirs(X))
    assert not found.equal(reference()(X))


@TORCHAO
def test_int4_without_kernels_is_rejected_by_name_with_the_reason():
    reported = QUANTIZED.failure(lambda: QUANTIZED.int4(QUANTIZED.network(), X))
    assert reported.startswith("Unavailable: quantize_: torchao has no kernels here for Int4WeightOnlyConfig: ")
    assert reported.endswith(". torchao.prototype.quantization.int4 has PrototypeInt4WeightOnlyConfig for CPUs")


@torch.no_grad()
def test_a_module_of_python_is_quantized_as_in_python():
    net = reference()
    expected = torch.ao.quantization.quantize_dynamic(copy.deepcopy(net), {torch.nn.Linear}, dtype=torch.qint8)(X)
    assert QUANTIZED.call(QUANTIZED.dynamic(net, None), X).equal(expected)


@TORCHAO
def test_weights_of_a_module_of_python_are_quantized_in_place():
    net = reference()
    QUANTIZED.weights(net, X)
    assert type(net[5].weight).__module__.startswith("torchao")


def test_what_cannot_be_quantized_is_an_error():
    net = QUANTIZED.network()
    assert QUANTIZED.failure(lambda: QUANTIZED.dynamic(net, None)) == (
        "InvalidArgument: quantize_dynamic: a native module needs example_inputs, a tuple, got nil"
    )
    assert QUANTIZED.failure(lambda: QUANTIZED.dynamic(3, X)) == (
        "InvalidArgument: quantize_dynamic: expected a module, got i64"
    )
    assert QUANTIZED.failure(lambda: QUANTIZED.training(X)) == (
        "InvalidArgument: quantize_dynamic: the module is in training mode; call eval() first"
    )
