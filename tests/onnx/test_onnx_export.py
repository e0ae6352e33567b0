"""Modules of Simple and of Python become files that onnx's checker accepts and onnxruntime runs to the same values."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx_sessions import OURS, python_session, run, torch

EXPORTS = run(
    r"""
    use torch
    use torch.nn
    use vision.models.native as vision

    class Tower(nn.Module):
        conv: any = nn.Conv2d(3, 4, 3, padding: 1)
        norm: any = nn.BatchNorm2d(4)
        blocks: any = [nn.Linear(4, 8), nn.Linear(8, 5)]
        scale: any = nn.Buffer(torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0]))
        fn forward(image, mask = nil):
            var x = self.norm(self.conv(image)).relu().mean([2, 3])
            for block in self.blocks: x = block(x).tanh()
            if mask != nil: x = x * mask
            x * self.scale

    class Two(nn.Module):
        fc: any = nn.Linear(3, 2)
        fn forward(a, b): (self.fc(a) + b, {"sum": a.sum(dim: 1)})

    class Fixed(nn.Module):
        fn forward(x): x.reshape([x.shape[0], -1])

    class Attention(nn.Module):
        layer: any = nn.TransformerEncoderLayer(16, 2, dim_feedforward: 32, batch_first: true, dropout: 0.0)
        fn forward(x): self.layer(x)

    fn make(name):
        torch.manual_seed(0)
        match name:
            case "tower": Tower().eval()
            case "sequential": nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 5)).eval()
            case "lstm": nn.LSTM(4, 6, num_layers: 2, batch_first: true).eval()
            case "attention": Attention().eval()
            case "resnet18": vision.resnet18(num_classes: 7).eval()
            case "mobilenet": vision.mobilenet_v3_small(num_classes: 7).eval()
            case "two": Two()
            case "fixed": Fixed()
    fn call(net, args...): torch.no_grad(\: net(*args))
    fn write(net, args, f, options): torch.onnx.export(net, args, f, verbose: false, **options.to_value())
    fn failure(net, args, options): torch.attempt(\: write(net, args, nil, options)).unwrap_err()
    fn state(net): net.state_dict().keys()
    """
)


def outputs_of(path, *arrays):
    """Return the outputs of onnxruntime in Python and in Simple, which must be the same, after onnx's checker."""
    onnx.checker.check_model(path, full_check=True)
    session = python_session(path)
    feeds = dict(zip([node.name for node in session.get_inputs()], arrays, strict=True))
    theirs = session.run(None, {name: array.numpy() for name, array in feeds.items()})
    ours = OURS.run(OURS.session(str(path), OURS.quiet()), None, feeds)
    assert all(np.array_equal(found.numpy(), expected) for found, expected in zip(ours, theirs, strict=True))
    return ours


def close(found, expected) -> bool:
    return found.shape == expected.shape and torch.allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("tower", (2, 3, 8, 8)),
        ("sequential", (2, 3, 8, 8)),
        ("resnet18", (2, 3, 64, 64)),
        ("mobilenet", (2, 3, 64, 64)),
    ],
)
def test_modules_of_simple_have_the_same_values_for_each_batch(name, shape, tmp_path):
    net = EXPORTS.make(name)
    path = tmp_path / "model.onnx"
    torch.manual_seed(1)
    options = {"input_names": ["x"], "output_names": ["y"], "dynamic_shapes": ({0: "batch"},)}
    EXPORTS.write(net, torch.randn(shape), str(path), options)
    (node,) = onnx.load(path).graph.input
    assert node.name == "x" and node.type.tensor_type.shape.dim[0].dim_param == "batch"
    for batch in (1, 2, 5):
        x = torch.randn(batch, *shape[1:])
        (found,) = outputs_of(path, x)
        assert close(found, EXPORTS.call(net, x))


def test_parameters_keep_their_names(tmp_path):
    net = EXPORTS.make("tower")
    path = tmp_path / "model.onnx"
    EXPORTS.write(net, torch.randn(1, 3, 8, 8), str(path), {"optimize": False})
    names = {tensor.name for tensor in onnx.load(path).graph.initializer}
    assert set(EXPORTS.state(net)) - names <= {"norm.num_batches_tracked"}


def test_several_inputs_and_outputs_have_their_names(tmp_path):
    net = EXPORTS.make("two")
    path = tmp_path / "model.onnx"
    a, b = torch.randn(4, 3), torch.randn(4, 2)
    options = {"input_names": ["left", "right"], "output_names": ["total", "sums"]}
    EXPORTS.write(net, (a, b), str(path), {**options, "dynamic_axes": {"left": {0: "n"}, "right": {0: "n"}}})
    graph = onnx.load(path).graph
    assert [node.name for node in graph.input] == ["left", "right"]
    assert [node.name for node in graph.output] == ["total", "sums"]
    a, b = torch.randn(7, 3), torch.randn(7, 2)
    total, sums = outputs_of(path, a, b)
    expected = EXPORTS.call(net, a, b)
    assert close(total, expected[0]) and close(sums, expected[1]["sum"])


def test_attention_has_the_same_values(tmp_path):
    net = EXPORTS.make("attention")
    path = tmp_path / "model.onnx"
    x = torch.randn(2, 5, 16)
    EXPORTS.write(net, x, str(path), {})
    assert close(outputs_of(path, x)[0], EXPORTS.call(net, x))


def test_a_recurrent_module_has_the_same_values(tmp_path):
    net = EXPORTS.make("lstm")
    path = tmp_path / "model.onnx"
    x = torch.randn(2, 5, 4)
    EXPORTS.write(net, x, str(path), {})
    expected, (hidden, cell) = EXPORTS.call(net, x)
    found = outputs_of(path, x)
    assert close(found[0], expected) and close(found[1], hidden) and close(found[2], cell)


def test_optional_arguments_and_opset_versions_reach_the_exporter(tmp_path):
    net = EXPORTS.make("tower")
    path = tmp_path / "model.onnx"
    x, mask = torch.randn(2, 3, 8, 8), torch.rand(2, 5)
    EXPORTS.write(net, (x, mask), str(path), {"opset_version": 18})
    assert {entry.version for entry in onnx.load(path).opset_import if entry.domain == ""} == {18}
    assert close(outputs_of(path, x, mask)[0], EXPORTS.call(net, x, mask))
    EXPORTS.write(net, x, str(path), {"kwargs": {"mask": mask}})
    assert close(outputs_of(path, x, mask)[0], EXPORTS.call(net, x, mask))


def test_modules_of_python_are_exported(tmp_path):
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.GELU()).eval()
    path = tmp_path / "model.onnx"
    program = EXPORTS.write(net, torch.ones(2, 3), str(path), {"dynamic_shapes": ({0: "n"},)})
    assert type(program).__name__ == "ONNXProgram"
    x = torch.randn(5, 3)
    assert close(outputs_of(path, x)[0], net(x).detach())


def test_a_size_that_the_program_reads_is_fixed():
    error = EXPORTS.failure(EXPORTS.make("fixed"), torch.ones(2, 3), {"dynamic_shapes": ({0: "n"},)})
    assert "tracing inferred a static shape of 2 for dimension inputs[0].shape[0]" in error.message()


def test_other_values_are_no_modules():
    error = EXPORTS.failure(3, torch.ones(2), {})
    assert error.message() == "torch.onnx.export: expected a module, got a value of type i64"


def test_torch_export_accepts_a_module_of_simple_by_the_names_of_its_inputs():
    net = EXPORTS.make("tower")
    module = run("use python as py\nfn module(net): py.module(net)").module(net)
    batch = torch.export.Dim("batch")
    program = torch.export.export(module, (torch.randn(2, 3, 8, 8),), dynamic_shapes={"image": {0: batch}})
    x = torch.randn(6, 3, 8, 8)
    assert close(program.module()(x), EXPORTS.call(net, x))
    assert set(program.state_dict) == set(EXPORTS.state(net))
