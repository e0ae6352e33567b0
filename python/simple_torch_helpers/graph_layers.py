"""Exported programs as modules of PyTorch's layers, which quantization replaces."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any


def layered(model: Any, args: tuple[Any, ...]) -> Any:
    """Return a graph of torch.nn.Linear, Conv2d and BatchNorm2d layers and functions that computes what the model does.

    Args:
        model: a torch.nn.Module in evaluation mode, such as one that stands for a module of Simple.
        args: an example input. Its first size stays open if the model allows it.
    """
    import torch

    module = _exported(model, args).module()
    module._guards_fn = None
    graph = module.graph
    for node in list(graph.nodes):
        if node.op == "call_module":  # checks of sizes
            graph.erase_node(node)
        elif node.op == "call_function":
            _replace(module, node)
    graph.eliminate_dead_code()
    made = torch.fx.GraphModule(module, graph, "Layers")
    made.eval()
    return made


def _exported(model: Any, args: tuple[Any, ...]) -> Any:
    import torch

    auto = torch.export.Dim.AUTO
    shapes = tuple({0: auto} if isinstance(arg, torch.Tensor) and arg.dim() > 0 else None for arg in args)
    return torch.export.export(model, args, dynamic_shapes=shapes)


def _replace(module: Any, node: Any) -> None:
    """Replace a call of an operator by a call of a layer, or of the function that users of PyTorch call."""
    import torch

    aten = torch.ops.aten
    layers: dict[Any, Callable[..., Any]] = {
        aten.linear.default: _linear,
        aten.conv2d.default: _conv2d,
        aten.batch_norm.default: _batch_norm,
    }
    functions: dict[Any, Callable[..., Any]] = {
        aten.relu.default: torch.nn.functional.relu,
        aten.relu_.default: torch.nn.functional.relu,
        aten.add.Tensor: operator.add,
        aten.mul.Tensor: operator.mul,
        aten.flatten.using_ints: torch.flatten,
        aten.max_pool2d.default: torch.nn.functional.max_pool2d,
        aten.adaptive_avg_pool2d.default: torch.nn.functional.adaptive_avg_pool2d,
    }
    if node.target in functions and not (node.target in (aten.add.Tensor, aten.mul.Tensor) and node.kwargs):
        node.target = functions[node.target]
    elif node.target in layers:
        layer, inputs = layers[node.target](_values(module, node))
        if layer is not None:
            name = node.name + "_layer"
            module.add_submodule(name, layer)
            with module.graph.inserting_before(node):
                made = module.graph.call_module(name, (inputs,))
            made.meta = dict(node.meta)
            node.replace_all_uses_with(made)
            module.graph.erase_node(node)


def _values(module: Any, node: Any) -> list[Any]:
    """Return the arguments by position; parameters and buffers of the module as their tensors."""
    values = [
        node.args[i] if i < len(node.args) else node.kwargs.get(a.name, a.default_value) for i, a in _schema(node)
    ]
    return [_attribute(module, value) if getattr(value, "op", "") == "get_attr" else value for value in values]


def _schema(node: Any) -> list[tuple[int, Any]]:
    return list(enumerate(node.target._schema.arguments))


def _attribute(module: Any, node: Any) -> Any:
    return operator.attrgetter(node.target)(module)


def _tensors(*values: Any) -> bool:
    import torch

    return all(value is None or isinstance(value, torch.Tensor) for value in values)


def _linear(values: list[Any]) -> tuple[Any, Any]:
    import torch

    inputs, weight, bias = values
    if not _tensors(weight, bias):
        return None, None
    layer = torch.nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None, device="meta")
    return _filled(layer, weight=weight, bias=bias), inputs


def _conv2d(values: list[Any]) -> tuple[Any, Any]:
    import torch

    inputs, weight, bias, stride, padding, dilation, groups = values
    if not _tensors(weight, bias):
        return None, None
    sizes = {"stride": tuple(stride), "padding": tuple(padding), "dilation": tuple(dilation), "groups": groups}
    channels = (weight.shape[1] * groups, weight.shape[0])
    layer = torch.nn.Conv2d(*channels, tuple(weight.shape[2:]), bias=bias is not None, device="meta", **sizes)
    return _filled(layer, weight=weight, bias=bias), inputs


def _batch_norm(values: list[Any]) -> tuple[Any, Any]:
    import torch

    inputs, weight, bias, mean, variance, training, momentum, eps, _ = values
    if training or mean is None or not _tensors(weight, bias, mean, variance) or inputs.meta["val"].dim() != 4:
        return None, None
    layer = torch.nn.BatchNorm2d(mean.shape[0], eps, momentum, affine=weight is not None, device="meta")
    layer = _filled(layer, weight=weight, bias=bias)
    layer.running_mean, layer.running_var = mean, variance
    layer.num_batches_tracked = torch.tensor(0)
    return layer, inputs


def _filled(layer: Any, **tensors: Any) -> Any:
    import torch

    for name, tensor in tensors.items():
        if tensor is not None:
            setattr(layer, name, torch.nn.Parameter(tensor.detach(), requires_grad=False))
    return layer.eval()
