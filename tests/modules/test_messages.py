"""Errors for common mistakes with modules state what is wrong, where, and what would be right."""

from __future__ import annotations

import subprocess

import pytest

from programs import host

pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)

MISTAKES = [
    ('nn.Linear("a", 2)', "in_features of Linear: expected an integer, got text", ""),
    ("nn.Linear(2.5, 2)", "in_features of Linear: expected an integer, got f64", ""),
    ("nn.Linear(2)", "Linear(): the argument out_features is missing", "it takes (in_features, out_features, bias?, "),
    ("nn.Linear(2, 3, biass: true)", "Linear(): there is no parameter biass", "did you mean 'bias'?"),
    (
        "nn.Conv2d(2, 3)",
        "Conv2d(): the argument kernel_size is missing",
        "it takes (in_channels, out_channels, kernel_",
    ),
    ('nn.Conv2d("a", 3, 3)', "in_channels of Conv2d: expected an integer, got text", ""),
    ('nn.Conv2d(2, 3, [3, "a"])', "kernel_size of Conv2d: expected an integer, got text", ""),
    ('nn.ConvTranspose1d(2, 3, "a")', "kernel_size of ConvTranspose1d: expected an integer, got text", ""),
    ('nn.BatchNorm2d("a")', "num_features of BatchNorm2d: expected an integer, got text", ""),
    ("nn.LayerNorm([2, 2.5])", "normalized_shape of LayerNorm: expected an integer, got f64", ""),
    ('nn.GroupNorm("a", 2)', "num_groups of GroupNorm: expected an integer, got text", ""),
    ("nn.Embedding(2, nil)", "embedding_dim of Embedding: expected an integer, got nil", ""),
    ('nn.Bilinear(2, "a", 3)', "in2_features of Bilinear: expected an integer, got text", ""),
    ("nn.Linear(2, 3)()", "Linear.forward(): the argument input is missing", "it takes (input)"),
    ("nn.Linear(2, 3)(x, x)", "Linear.forward(): takes 1 argument, got 2", "it takes (input)"),
    ("nn.Linear(2, 3)(3)", "argument 'input' must be Tensor, not int", ""),
    ("Two()(x, q: x)", "Two.forward(): there is no parameter q", ""),
    ("Empty()(x)", 'Module [Empty] is missing the required "forward" function', ""),
    ('nn.ModuleDict([("a", 3)])', 'ModuleDict ("a"): i64 is not a Module subclass', ""),
    ("nn.ModuleList([nn.ReLU])", "ModuleList: <class ReLU> (a class, not an instance) is not a Module subclass", ""),
    ("nn.Sequential(nn.ReLU)", "Sequential: <class ReLU> (a class, not an instance) has no forward()", ""),
    ("nn.Linear(2, 3).wieght", "Linear has no field wieght", ""),
    ('nn.Linear(2, 3).to("foo")', "Expected one of cpu, cuda, ", "device type at start of device string: foo"),
    ('nn.ReLU().get_buffer("a")', 'ReLU has no buffer "a"; available: (none)', ""),
    (
        'nn.ReLU().register_buffer("a", 3)',
        "cannot assign 'i64' as buffer 'a' of ReLU (torch Tensor or nil required)",
        "",
    ),
    ("nn.utils.rnn.pad_packed_sequence(x)", "pad_packed_sequence(): expected a PackedSequence, got Tensor", ""),
    ("torch.utils.checkpoint.checkpoint(x, x)", "checkpoint(): expected a function, got Tensor", ""),
    (
        'torch.optim.SGD([x], lr: 0.1).add_param_group({"params": 3})',
        'param_group["params"] must be a Tensor or an array of Tensors, got i64',
        "",
    ),
    (
        "torch.autograd.grad(x.clone().requires_grad_().sum(), [x.clone().requires_grad_()])",
        "The differentiated Tensor at index 0 appears to not have been used in the graph. Set allow_unused=True",
        "",
    ),
    (
        "hooked(nn.Linear(2, 3))",
        "forward pre-hook must return nil or a tuple of (new_args, new_kwargs), but got 3.",
        "",
    ),
    ("spoil(nn.Linear(2, 3))", "cannot assign 'Tensor' as parameter 'weight' of Linear", ""),
]
PROGRAM = """use torch
use torch.nn
class Two(nn.Module):
    fn forward(a, b): a + b
class Empty(nn.Module):
    size: i64 = 0
fn spoil(m):
    m.weight = torch.ones([3, 2])
val x = torch.ones([1, 2])
fn hooked(m):
    m.register_forward_pre_hook(\\_m, _args, _kwargs: 3, with_kwargs: true)
    m(x)
{}
"""


@pytest.mark.parametrize(("mistake", "message", "hint"), MISTAKES)
def test_mistake_is_reported(mistake, message, hint, tmp_path):
    program = tmp_path / "mistake.spl"
    program.write_text(PROGRAM.format(mistake))
    ran = subprocess.run([host(), program], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 1
    assert message in ran.stderr
    assert hint in ran.stderr
    assert f"{program}:" in ran.stderr
