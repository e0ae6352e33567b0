"""Attributions of native models equal captum's of the same Python models; attention equals its formula."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest
import torch
from captum import attr as theirs
from captum.attr import visualization as their_visualization
from embedded_simple import run
from torchvision import models
from transformers import BertConfig, BertForSequenceClassification

OURS = run(
    """
    use torch
    use attribution
    use attribution.{IntegratedGradients, LayerAttribution, LayerGradCam, LayerIntegratedGradients}
    use python as py
    use text.models as text_models
    use torch.nn
    use torch.nn.python_results.{native_result}
    use vision.models.native

    fn network(name, state, options):
        val net = getattr(native, name)(**py.to_value(options))
        net.load_state_dict(state)
        net.eval()
    fn bert(config, state):
        val net = text_models.BertForSequenceClassification(text_models.BertConfig(**py.to_value(config)))
        net.load_state_dict(state)
        net.eval()
    fn options(given):
        native_result(given)
    fn grad_cam(net, path, inputs, given, is_transformer):
        val transform = if is_transformer: attribution.patch_grid else: nil
        val layer = net.get_submodule(path)
        LayerGradCam(net, layer).attribute(inputs, reshape_transform: transform, **options(given))
    fn integrated(forward, inputs, given, multiply):
        IntegratedGradients(forward, multiply).attribute(inputs, **options(given))
    fn of_embeddings(net, ids, mask, given):
        LayerIntegratedGradients(\\i, m: net(i, m).logits, net.bert.embeddings).attribute(ids, **options(given),
            additional_forward_args: mask)
    fn resized(x, sizes, mode): LayerAttribution.interpolate(x, py.to_value(sizes), mode)
    fn vision_maps(net, x): attribution.attention_maps(net, x)
    fn bert_maps(net, ids): net(ids, output_attentions: true).attentions
    fn rollout(maps, fusion): attribution.attention_rollout(py.to_value(maps), fusion)
    fn image(values, given): attribution.visualize_image_attr(values, **options(given))
    fn hooks_of(net, path): net.get_submodule(path)._hooks_of("forward").len()
    fn message(work):
        match torch.attempt(work):
            case Ok(_): ""
            case Err(torch.TorchError.InvalidArgument(message)): "InvalidArgument: " + message
            case Err(torch.TorchError.DtypeMismatch(_, _, message)): "DtypeMismatch: " + message
            case Err(torch.TorchError.ShapeMismatch(_, _, message)): "ShapeMismatch: " + message
            case Err(torch.TorchError.IndexOutOfRange(message)): "IndexOutOfRange: " + message
            case Err(other): "another: " + other.message()
    val x = torch.ones([2, 3])
    fn sums(x): x.cumsum(1)
    fn attributed(given): message(\\: IntegratedGradients(sums).attribute(x, **options(given)))
    fn cam_message():
        val layer = nn.Linear(3, 3)
        message(\\: LayerGradCam(sums, layer).attribute(x, 0))
    fn tuple_layer_message():
        val layer = Named()
        message(\\: LayerGradCam(\\v: layer(v)["a"], layer).attribute(x, 0))
    class Named(nn.Module):
        fn forward(v): {"a": v}
    fn messages():
        [message(\\: IntegratedGradients(\\v: 1).attribute(x)), message(\\: IntegratedGradients(sums).attribute(1)),
            message(\\: IntegratedGradients(sums).attribute(x.long(), target: 0)),
            message(\\: attribution.patch_grid(torch.ones([1, 4, 2]))),
            message(\\: attribution.attention_maps(nn.Linear(3, 3), x)),
            message(\\: attribution.attention_rollout([])), message(\\: attribution.attention_rollout([x])),
            message(\\: attribution.attention_rollout([torch.ones([1, 1, 2, 2])], "median"))]
    fn image_message(given): message(\\: image(torch.ones([2, 3]), given))
    fn ragged_image_message(): message(\\: attribution.visualize_image_attr(torch.ones([2])))
    """
)


@pytest.fixture(scope="module")
def images() -> torch.Tensor:
    return torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(3))


def both(name: str, **options):
    torch.manual_seed(0)
    net = getattr(models, name)(num_classes=5, **options).eval()
    # torchvision's initial values make some networks constant: a transformer's head is 0.
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.02)
    return OURS.network(name, net.state_dict(), {"num_classes": 5, **options}), net


FAMILIES = [
    ("resnet18", "layer4"),
    ("resnet50", "layer3.1"),
    ("mobilenet_v3_small", "features.12"),
    ("efficientnet_b0", "features.8"),
    ("convnext_tiny", "features.7"),
]


def close(ours, expected: torch.Tensor, tolerance: float = 1e-4) -> None:
    torch.testing.assert_close(ours, expected, rtol=tolerance, atol=tolerance * float(expected.abs().max()))


class TestGradCam:
    @pytest.mark.parametrize(("name", "layer"), FAMILIES)
    def test_equals_captums_for_each_native_family(self, name, layer, images) -> None:
        ours, net = both(name)
        expected = theirs.LayerGradCam(net, net.get_submodule(layer)).attribute(images, [1, 3])
        found = OURS.grad_cam(ours, layer, images, {"target": [1, 3]}, False)
        assert found.shape == expected.shape
        close(found, expected.detach())

    @pytest.mark.parametrize(
        "options",
        [{"relu_attributions": True}, {"attr_dim_summation": False}, {"attribute_to_layer_input": True}],
    )
    def test_has_captums_options(self, options, images) -> None:
        ours, net = both("resnet18")
        expected = theirs.LayerGradCam(net, net.layer3).attribute(images, 2, **options)
        close(OURS.grad_cam(ours, "layer3", images, {"target": 2, **options}, False), expected.detach())

    def test_a_layer_whose_output_changes_in_place_keeps_its_values(self, images) -> None:
        ours, net = both("resnet18")
        expected = theirs.LayerGradCam(net, net.layer4[1].bn2).attribute(images, 2)
        close(OURS.grad_cam(ours, "layer4.1.bn2", images, {"target": 2}, False), expected.detach())

    def test_a_frozen_network_has_the_same_attributions(self, images) -> None:
        ours, net = both("resnet18")
        expected = theirs.LayerGradCam(net, net.layer4).attribute(images, 2)
        ours.requires_grad_(False)
        close(OURS.grad_cam(ours, "layer4", images, {"target": 2}, False), expected.detach())

    def test_of_a_vision_transformer_averages_over_the_grid_of_patches(self, images) -> None:
        ours, net = both("vit_b_16", image_size=64)
        layer = "encoder.layers.encoder_layer_11.ln_1"
        kept = []
        net.get_submodule(layer).register_forward_hook(lambda _module, _inputs, output: kept.append(output))
        (gradient,) = torch.autograd.grad(net(images)[:, 4].sum(), kept)
        grid = [t[:, 1:].transpose(1, 2).reshape(2, 768, 4, 4) for t in (gradient, kept[0].detach())]
        expected = (grid[0].mean((2, 3), keepdim=True) * grid[1]).sum(1, keepdim=True)
        close(OURS.grad_cam(ours, layer, images, {"target": 4}, True), expected)

    def test_leaves_no_hook_and_resizes_to_the_image(self, images) -> None:
        ours, _net = both("resnet18")
        found = OURS.grad_cam(ours, "layer4", images, {"target": 2}, False)
        assert OURS.hooks_of(ours, "layer4") == 0
        for mode in ("nearest", "bilinear"):
            expected = theirs.LayerAttribution.interpolate(found, (64, 48), mode)
            assert OURS.resized(found, [64, 48], mode).equal(expected)


# captum rounds the sizes of the steps to float32.
CAPTUM = 2e-7


class TestIntegratedGradients:
    @pytest.mark.parametrize(("name", "_layer"), FAMILIES)
    def test_equals_captums_for_each_native_family(self, name, _layer, images) -> None:
        ours, net = both(name)
        expected = theirs.IntegratedGradients(net).attribute(images, target=3, n_steps=8)
        close(OURS.integrated(ours, images, {"target": 3, "n_steps": 8}, True), expected, 1e-3)

    @pytest.mark.parametrize("multiply", [True, False])
    @pytest.mark.parametrize(
        "method", ["gausslegendre", "riemann_left", "riemann_right", "riemann_middle", "riemann_trapezoid"]
    )
    def test_has_captums_rules(self, method, multiply, images) -> None:
        x = images.flatten(1)[:, :6].double()
        options = {"n_steps": 7, "method": method, "target": 1, "baselines": 0.5}
        expected = theirs.IntegratedGradients(cubes, multiply).attribute(x, **options)
        close(OURS.integrated(cubes, x, options, multiply), expected, CAPTUM)

    @pytest.mark.parametrize("count", [1, 2, 50, 300])
    def test_the_rule_of_gauss_integrates_a_polynomial(self, count) -> None:
        x = torch.tensor([[0.3, 2.0]], dtype=torch.float64)
        found = OURS.integrated(lambda v: v.pow(2).sum(1), x, {"n_steps": count}, True)
        close(found, x.pow(2), 1e-12)

    @pytest.mark.parametrize(
        "target", [1, (2,), [1, 4], [(1,), (4,)], torch.tensor([1, 4]), torch.tensor([3]), torch.tensor(3)]
    )
    def test_has_captums_targets(self, target, images) -> None:
        x = images.flatten(1)[:, :6].double()
        expected = theirs.IntegratedGradients(cubes).attribute(x, target=target, n_steps=4)
        close(OURS.integrated(cubes, x, {"target": target, "n_steps": 4}, True), expected, CAPTUM)

    def test_selects_from_outputs_of_more_dimensions(self, images) -> None:
        x = images[:, :, :4, :4].double()
        for target in ((1, 2, 3), [(1, 2, 3), (0, 1, 1)]):
            expected = theirs.IntegratedGradients(lambda v: v.exp()).attribute(x, target=target, n_steps=4)
            close(OURS.integrated(lambda v: v.exp(), x, {"target": target, "n_steps": 4}, True), expected, CAPTUM)

    @pytest.mark.parametrize("batch", [None, 1, 5, 100])
    def test_has_several_inputs_baselines_and_arguments_in_any_batch_size(self, batch) -> None:
        a, b = torch.rand(3, 2, dtype=torch.float64), torch.rand(3, 4, dtype=torch.float64)
        weight = torch.rand(3, 1, dtype=torch.float64)
        options = {
            "baselines": (0, torch.rand(1, 4, dtype=torch.float64)),
            "additional_forward_args": (weight, 2),
            "n_steps": 6,
            "internal_batch_size": batch,
            "return_convergence_delta": True,
        }
        expected, delta = theirs.IntegratedGradients(products).attribute((a, b), **options)
        found, found_delta = OURS.integrated(products, (a, b), options, True)
        for ours, value in zip(found, expected, strict=True):
            close(ours, value, CAPTUM)
        torch.testing.assert_close(found_delta, delta, rtol=1e-5, atol=CAPTUM)


def cubes(x: torch.Tensor) -> torch.Tensor:
    return x.pow(3) * x.sum(1, keepdim=True)


def products(a, b, weight, power):
    return (a.sum(1) * b.pow(power).sum(1)) * weight.squeeze(1)


BERT = {"vocab_size": 30, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}


@pytest.fixture(scope="module")
def berts():
    torch.manual_seed(0)
    net = BertForSequenceClassification(BertConfig(**BERT, num_labels=3, attn_implementation="eager")).eval()
    return OURS.bert({**BERT, "num_labels": 3}, net.state_dict()), net


class TestBert:
    def test_integrated_gradients_of_its_embeddings_equal_captums(self, berts) -> None:
        ours, net = berts
        ids, mask = torch.tensor([[2, 7, 9, 3], [2, 5, 3, 0]]), torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]])
        options = {"target": 1, "n_steps": 10, "baselines": 0, "return_convergence_delta": True}
        expected, delta = theirs.LayerIntegratedGradients(lambda i, m: net(i, m).logits, net.bert.embeddings).attribute(
            ids, additional_forward_args=mask, **options
        )
        found, found_delta = OURS.of_embeddings(ours, ids, mask, options)
        close(found, expected.detach())
        torch.testing.assert_close(found_delta, delta, rtol=1e-3, atol=1e-6)

    def test_its_attention_equals_that_of_transformers(self, berts) -> None:
        ours, net = berts
        ids = torch.tensor([[2, 7, 9, 3]])
        for found, expected in zip(OURS.bert_maps(ours, ids), net(ids, output_attentions=True).attentions, strict=True):
            close(found, expected.detach(), 1e-5)


class TestAttention:
    def test_maps_of_a_vision_transformer_are_those_of_its_layers(self, images) -> None:
        ours, net = both("vit_b_16", image_size=64)
        expected = []
        for block in net.encoder.layers:
            attention = block.self_attention
            block.ln_1.register_forward_hook(
                lambda _m, _i, x, attention=attention: expected.append(
                    attention(x, x, x, need_weights=True, average_attn_weights=False)[1].detach()
                )
            )
        net(images)
        found = OURS.vision_maps(ours, images)
        assert len(found) == 12
        for ours_of_layer, theirs_of_layer in zip(found, expected, strict=True):
            close(ours_of_layer, theirs_of_layer)

    @pytest.mark.parametrize("fusion", ["mean", "max", "min"])
    def test_rollout_is_the_product_of_the_layers(self, fusion) -> None:
        maps = [torch.rand(2, 3, 5, 5, dtype=torch.float64).softmax(-1) for _ in range(4)]
        fuse = {"mean": torch.mean, "max": torch.amax, "min": torch.amin}[fusion]
        expected = torch.eye(5, dtype=torch.float64).expand(2, 5, 5)
        for weights in maps:
            step = 0.5 * fuse(weights, 1) + 0.5 * torch.eye(5)
            expected = (step / step.sum(-1, keepdim=True)) @ expected
        found = OURS.rollout(maps, fusion)
        close(found, expected, 1e-12)
        close(found.sum(-1), torch.ones(2, 5, dtype=torch.float64), 1e-12)


SIGNS = ["all", "positive", "negative", "absolute_value"]
MAPS = {"all": None, "positive": "Greens", "negative": "Reds", "absolute_value": "Blues"}


def their_colors(values: np.ndarray, sign: str, cmap: str | None = None) -> np.ndarray:
    normalized = their_visualization._normalize_attr(values, sign)
    default, low, high = their_visualization._initialize_cmap_and_vmin_vmax(sign)
    chosen = cmap or default
    mapped = matplotlib.colormaps[chosen] if isinstance(chosen, str) else chosen
    return mapped(matplotlib.colors.Normalize(low, high)(normalized))[:, :, :3]


class TestVisualization:
    values = torch.randn(3, 12, 17, generator=torch.Generator().manual_seed(1))
    photo = torch.randint(0, 256, (3, 12, 17), dtype=torch.uint8, generator=torch.Generator().manual_seed(2))

    def check(self, expected: np.ndarray, **options) -> None:
        found = OURS.image(self.values, options)
        assert (found.dtype, found.shape) == (torch.uint8, (3, 12, 17))
        difference = found.permute(1, 2, 0).numpy().astype(float) - 255.0 * expected
        assert np.abs(difference).max() <= 1.0

    @pytest.mark.parametrize("sign", SIGNS)
    def test_a_heat_map_has_the_colors_of_matplotlib(self, sign) -> None:
        self.check(their_colors(self.values.sum(0).numpy(), sign), sign=sign)

    @pytest.mark.parametrize("cmap", ["jet", "gray", "Reds"])
    def test_other_color_maps_can_be_named(self, cmap) -> None:
        self.check(their_colors(self.values.sum(0).numpy(), "positive", cmap), sign="positive", cmap=cmap)

    @pytest.mark.parametrize("sign", SIGNS)
    def test_a_blended_heat_map_lies_over_the_gray_image(self, sign) -> None:
        gray = self.photo.numpy().astype(float).mean(0)
        gray = ((gray - gray.min()) / (gray.max() - gray.min()))[:, :, None]
        expected = 0.7 * gray + 0.3 * their_colors(self.values.sum(0).numpy(), sign)
        options = {"method": "blended_heat_map", "original_image": self.photo, "alpha_overlay": 0.3}
        self.check(expected, sign=sign, **options)

    @pytest.mark.parametrize("sign", SIGNS[1:])
    def test_masked_and_scaled_images_are_captums(self, sign) -> None:
        image = self.photo.permute(1, 2, 0).numpy() / 255.0
        mask = their_visualization._normalize_attr(self.values.sum(0).numpy(), sign)[:, :, None]
        options = {"original_image": self.photo, "sign": sign}
        self.check(image * mask, method="masked_image", **options)
        self.check(image * mask + 1.0 - mask, method="alpha_scaling", **options)
        self.check(image, method="original_image", **options)

    def test_attributions_of_zero_have_the_lowest_color(self) -> None:
        found = OURS.image(torch.zeros(2, 2), {"sign": "positive"})
        assert found[:, 0, 0].tolist() == [247, 252, 245]


class TestErrors:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({}, "InvalidArgument: Target not provided when necessary, cannot take gradient with respect to multiple "
             "outputs; got outputs of shape [100, 3]."),
            ({"target": 3}, "IndexOutOfRange: select(): index 3 out of range"),
            ({"target": (1, 1)}, "InvalidArgument: Cannot choose target column with output shape [100, 3]."),
            ({"target": [1]}, "InvalidArgument: Target list length does not match output! Got 50 targets for 100"),
            ({"target": ["a", "b"]}, "InvalidArgument: attribute: the targets of an array must all be integers"),
            ({"target": "a"}, "InvalidArgument: attribute: target must be an integer, a tuple, or one of them"),
            ({"target": 0, "method": "simpson"}, "InvalidArgument: attribute: unknown method 'simpson'"),
            ({"target": 0, "n_steps": 0}, "InvalidArgument: attribute: n_steps must be at least 1"),
            ({"target": 0, "internal_batch_size": 0}, "InvalidArgument: attribute: internal_batch_size must be pos"),
            ({"target": 0, "baselines": torch.ones(2, 2)}, "ShapeMismatch: attribute: a baseline must have the shape "
             "of the input [2, 3], or of one sample of it, got [2, 2]"),
            ({"target": 0, "baselines": "a"}, "InvalidArgument: attribute: a baseline must be a tensor or a number"),
            ({"target": 0, "baselines": (0, 1)}, "InvalidArgument: attribute: expected a baseline for each input"),
        ],
    )  # fmt: skip
    def test_arguments_that_do_not_fit_are_named(self, options, message) -> None:
        assert OURS.attributed(options).startswith(message)

    def test_a_target_of_each_sample_needs_a_matrix(self) -> None:
        x = torch.ones(2, 3, 4)
        with pytest.raises(Exception, match="Output must be 2D to select tensor of targets, got shape"):
            OURS.integrated(lambda v: v.exp(), x, {"target": [0, 1]}, True)

    def test_a_layer_that_did_not_run_or_has_no_tensor_is_named(self) -> None:
        assert OURS.cam_message() == "InvalidArgument: attribute: forward_func did not run the layer Linear"
        assert OURS.tuple_layer_message() == (
            "InvalidArgument: attribute: the layer Named must have a tensor, or a tuple that starts with one, got dict"
        )

    def test_models_inputs_and_attention_that_do_not_fit_are_named(self) -> None:
        found = OURS.messages()
        expected = [
            "InvalidArgument: attribute: forward_func must return a tensor, got i64; pass a function that returns "
            "one, such as \\x: model(x).logits",
            "InvalidArgument: attribute: inputs must be a tensor or a tuple of tensors, got i64",
            "DtypeMismatch: attribute: inputs must be floating point, got torch.int64; use LayerIntegratedGradients "
            "with the embedding layer for token ids",
            "ShapeMismatch: patch_grid: expected tokens of shape [n, 1 + h * h, c], got [1, 4, 2]",
            "InvalidArgument: attention_maps: Linear runs no MultiheadAttention; the models of text.models return "
            "their weights with output_attentions: true",
            "InvalidArgument: attention_rollout: expected the weights of at least one layer",
            "ShapeMismatch: attention_rollout: expected weights of shape [n, heads, tokens, tokens], got [2, 3]",
            "InvalidArgument: attention_rollout: head_fusion must be mean, max or min, got 'median'",
        ]
        assert list(found) == expected

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"method": "bar"}, "InvalidArgument: visualize_image_attr: unknown method 'bar'; the methods are heat"),
            ({"sign": "both"}, "InvalidArgument: visualize_image_attr: unknown sign 'both'; the signs are all"),
            ({"cmap": "hot"}, "InvalidArgument: visualize_image_attr: unknown cmap 'hot'; the maps are gray"),
            ({"outlier_perc": 101}, "InvalidArgument: visualize_image_attr: outlier_perc must be between 0 and 100"),
            ({"method": "masked_image", "sign": "all"}, "InvalidArgument: visualize_image_attr: masked_image cannot"),
            ({"method": "original_image"}, "InvalidArgument: visualize_image_attr: original_image expected for"),
            ({"method": "blended_heat_map", "original_image": torch.ones(3, 2, 3)}, "DtypeMismatch: visualize"),
            ({"method": "blended_heat_map", "original_image": torch.ones(3, 3, 3).byte()}, "ShapeMismatch: visualize"),
        ],
    )  # fmt: skip
    def test_images_that_cannot_be_drawn_are_named(self, options, message) -> None:
        assert OURS.image_message(options).startswith(message)

    def test_attributions_of_another_shape_are_named(self) -> None:
        assert OURS.ragged_image_message().startswith("ShapeMismatch: visualize_image_attr: expected attributions of")
