"""Operators that the host calls without Simple code have PyTorch's results, and the errors of all other calls."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from embedded_simple import equal, run, torch

ROOT = Path(__file__).resolve().parents[2]
HEADER = """
use torch
val x = torch.arange(24).reshape(2, 3, 4).to(torch.float32)
val y = torch.linspace(-1, 1, 4)
val mask = y > 0
val index = torch.tensor([0, 1])
"""
NAMES = {
    "torch": torch,
    "x": torch.arange(24).reshape(2, 3, 4).float(),
    "y": torch.linspace(-1, 1, 4),
    "mask": torch.linspace(-1, 1, 4) > 0,
    "index": torch.tensor([0, 1]),
}
# In Python's spelling; `name=` becomes `name:` for Simple.
CALLS = """
torch.zeros(2, 3)
torch.zeros([2, 3], dtype=torch.int32)
torch.zeros(size=[2])
torch.ones(2, requires_grad=True)
torch.full([2], 3)
torch.full([2], 3, dtype=torch.float64)
torch.arange(5)
torch.arange(5.0)
torch.arange(1, 7, 2)
torch.arange(end=3)
torch.eye(2, 3)
torch.linspace(0, 1, 3)
torch.cat([y, y])
torch.cat([x, x], dim=1)
torch.cat([x, x], axis=1)
torch.stack([y, y], dim=-1)
torch.where(mask, y, 0.5)
torch.clamp(y, min=0.0)
torch.clamp(y, max=y)
torch.maximum(y, -y)
torch.add(y, 2)
torch.add(y, y, alpha=3)
torch.sub(y, y, alpha=0.5)
torch.div(y, 2, rounding_mode="floor")
torch.sum(x, dim=[0, 1])
torch.sum(input=x, dim=1, keepdim=True)
torch.std(x, dim=1, correction=0)
torch.bernoulli(torch.ones(2))
torch.one_hot if False else y
torch.roll(y, 1)
torch.tril(x[0], diagonal=-1)
torch.cumsum(x, dim=1, dtype=torch.float64)
torch.take_along_dim(y, index)
torch.meshgrid(y, y, indexing="ij")
torch.norm(x)
torch.norm(x, dim=1)
torch.norm(x, 1)
torch.norm(x, p=3, dim=-1, keepdim=True)
torch.norm(x, dim=[0, 1])
torch.norm(x[0], p="nuc")
torch.norm(x, p=None, dim=1)
torch.norm(x, 2, dtype=torch.float64)
torch.norm(x[0].to_sparse())
x.norm()
x.norm(2, -1)
x.norm(p=1, dim=(0, 1))
torch.linalg.norm(x)
torch.linalg.norm(x[0], ord=2)
torch.linalg.vector_norm(x, 3, dim=1)
torch.linalg.inv(torch.eye(3))
torch.linalg.slogdet(torch.eye(3))
torch.fft.rfft(y)
torch.fft.fftfreq(4, 0.5)
torch.special.logit(y.abs(), eps=1e-3)
torch.tensor([[1.0, 2.0], [3.0, 4.0]])
torch.tensor([[1, 2], [3, 4]])
torch.tensor([[1, 2.5], [3, 4]])
torch.tensor([[[True]], [[False]]])
torch.tensor([True, 2])
torch.tensor([True, 2.5])
torch.tensor([0.1, 1e40, float("inf")])
torch.tensor([9007199254740993, 0])
torch.tensor([[], []])
torch.tensor([(1, 2), (3, 4)])
torch.tensor(([1.5],))
torch.tensor([y[0], y[1]])
y.tolist()
x.tolist()
x.transpose(0, 2).tolist()
mask.tolist()
index.tolist()
y[0].tolist()
y.half().tolist()
y.to(torch.complex64).tolist()
x[:, :0].tolist()
x[:0].tolist()
torch.arange(3, dtype=torch.uint8).tolist()
torch.arange(3).to(torch.uint64).tolist()
(-y)[::2].tolist()
torch.view_as_complex(x[0, :, :2].contiguous()).conj().imag.tolist()
x.nonzero()
y.nonzero(as_tuple=True)
y.float()
y.double()
y.int()
y.bool()
y.cfloat()
x.to("cpu")
x.cpu()
x.dtype
x.requires_grad
x.grad
x.data
torch.split(y, 3)
torch.chunk(y, 2)
torch.unbind(x)
torch.sort(y, descending=True)
torch.topk(y, 2)
torch.max(x, dim=1)
torch.max(x, 1, True)
torch.var_mean(x, dim=0)
torch.linalg.svdvals(x[0])
x.clamp(5, 10)
x.clamp(min=index.sum())
x.sum(0)
x.sum(dim=(0, 2))
x.sum(dtype=torch.float64)
x.mean(dim=-1, keepdim=True)
x.max(dim=2)
x.argmax(dim=1)
x.argmax(1, keepdim=True)
x.reshape(4, 6)
x.reshape([6, -1])
x.reshape(shape=[24])
x.view(2, 12)
x.view(torch.int32)
x.permute(2, 0, 1)
x.permute(dims=[2, 1, 0])
x.expand(5, 2, 3, 4)
x.flatten(1)
x.flatten(start_dim=1, end_dim=-1)
x.squeeze(0)
x.unsqueeze(-1)
x.transpose(dim0=0, dim1=2)
x.select(1, -1)
x.index_select(1, index)
y.softmax(0)
y.softmax(dim=0, dtype=torch.float64)
y.masked_fill(mask, 7)
y.clone().add_(y, alpha=2)
y.clone().mul_(3)
y.clone().div_(2, rounding_mode="floor")
y.clone().copy_(mask)
y.clone().fill_(2)
y.clone().clamp_(min=0)
x.size(-1)
x.size(1)
x.chunk(2, dim=2)
x.is_floating_point()
x[1]
x[-1, 0]
x[:, 1:3]
x[..., None]
x[None]
x[0, :, ::2]
x[index]
x[:, index]
x[x > 3]
x[0][1][2]
y[mask]
x[True]
""".strip().splitlines()


def in_simple(call: str) -> str:
    for name in (
        "dtype",
        "requires_grad",
        "size",
        "end",
        "dim",
        "axis",
        "min",
        "max",
        "alpha",
        "rounding_mode",
        "input",
        "keepdim",
        "correction",
        "diagonal",
        "indexing",
        "descending",
        "shape",
        "dims",
        "start_dim",
        "end_dim",
        "dim0",
        "dim1",
        "p",
        "ord",
        "eps",
        "as_tuple",
    ):
        for before in ("(", " "):
            call = call.replace(f"{before}{name}=", f"{before}{name}: ")
    return call.replace("None", "nil").replace("True", "true")


CALLS = [call for call in CALLS if " if False" not in call]
OURS = run(HEADER + "".join(f"fn call_{i}(): {in_simple(call)}\n" for i, call in enumerate(CALLS)))


def plain(value):
    if isinstance(value, torch.dtype):
        return str(value)
    if isinstance(value, torch.Tensor) or not hasattr(value, "__len__") or isinstance(value, str):
        return value
    return tuple(plain(each) for each in value)


@pytest.mark.parametrize("i", range(len(CALLS)), ids=CALLS)
def test_a_call_has_pytorchs_result_also_when_repeated(i):
    expected = plain(eval(CALLS[i], dict(NAMES)))
    for _ in range(3):
        got = plain(getattr(OURS, f"call_{i}")())
        assert equal(got, expected) if not isinstance(expected, str) else str(got) == expected


PROGRAM = run(
    r"""
    use torch

    fn in_place_returns_the_tensor():
        val x = torch.zeros(2)
        val same = x.add_(torch.ones(2), alpha: 2)
        same.mul_(3)
        x.tolist()

    fn error_of(body): torch.attempt(body).unwrap_err().message()

    fn errors():
        val x = torch.zeros(2, 3)
        [error_of(\: torch.zeros(2, -1)), error_of(\: x.sum(dim: 5)), error_of(\: x.view(7)),
            error_of(\: x.lerp(x, weights: 1)), error_of(\: x[2]), error_of(\: x[0, 0, 0]),
            error_of(\: torch.cat([x, torch.zeros(3, 4)])), error_of(\: x.add_("one")), error_of(\: x.clampp()),
            error_of(\: x.size(7)), error_of(\: torch.zeros("two")), error_of(\: x.max(dim: 9))]

    fn assigned(step):
        val x = torch.zeros(2, 3)
        match step:
            case 0: x[0] = 1
            case 1: x[0, 1] = 2.5
            case 2: x[:, 1] = torch.tensor([3.0, 4.0])
            case 3: x[torch.tensor([[true, false, true], [false, false, true]])] = 9
            case 4: x[1][2] = true
            case 5: x[..., 0] = torch.tensor(5)
        x

    fn assignment_error(): error_of(\: assign(torch.zeros(2)))

    fn assign(x):
        x[5] = 1

    fn classes():
        val p = torch.nn.Parameter(torch.ones(2))
        [type_of(p), type_of(p.exp()), type_of(p.clamp(min: 0)), type_of(p[0]), type_of(p.detach().add_(1)),
            type_of(p.reshape(2, 1))]

    fn gradient():
        val x = torch.ones(3, requires_grad: true)
        (x.clamp(min: 0.5).sum() + x[1] * 2.0 + x.max(dim: 0).values).backward()
        x.grad()

    fn with_default_dtype():
        torch.set_default_dtype(torch.float64)
        val made = torch.zeros(2).dtype().name
        torch.set_default_dtype(torch.float32)
        [made, torch.zeros(2).dtype().name]

    fn on_device():
        val meta = with_meta()
        [meta, torch.zeros(2).device_name()]

    fn with_meta():
        with torch.device("meta"): return torch.zeros(2).device_name()

    fn seeded():
        torch.manual_seed(3)
        [torch.rand(2), torch.randperm(5), torch.randint(0, 9, [3]),
            torch.randn([2], generator: torch.Generator().manual_seed(5))]

    fn handles():
        val x = torch.rand(4, 4)
        val before = torch.live_handles()
        for _ in 0..20:
            x.max(dim: 1)
            x.chunk(2)
            x[0, 1:2]
            x.add_(x)
            torch.attempt(\: x.view(7))
        torch.live_handles() - before
    """
)


def test_an_operator_in_place_returns_its_tensor():
    assert list(PROGRAM.in_place_returns_the_tensor()) == [6.0, 6.0]


def test_a_failing_call_has_the_error_of_the_function():
    first, second = list(PROGRAM.errors()), list(PROGRAM.errors())
    assert first == second
    words = [
        "non-negative",
        "out of range",
        "invalid for input of size 6",
        "lerp() received an invalid combination",
        "index 2 is out of bounds",
        "too many indices",
        "Sizes of tensors must match",
        "add_() received",
        "no operator named 'clampp'",
        "dimension 7 is out of range",
        "zeros() received",
        "out of range",
    ]
    for message, word in zip(first, words, strict=True):
        assert word in message


@pytest.mark.parametrize("step", range(6))
def test_elements_are_assigned(step):
    x = torch.zeros(2, 3)
    if step == 0:
        x[0] = 1
    elif step == 1:
        x[0, 1] = 2.5
    elif step == 2:
        x[:, 1] = torch.tensor([3.0, 4.0])
    elif step == 3:
        x[torch.tensor([[True, False, True], [False, False, True]])] = 9
    elif step == 4:
        x[1][2] = True
    else:
        x[..., 0] = torch.tensor(5)
    assert equal(PROGRAM.assigned(step), x)


def test_an_assignment_out_of_range_is_an_error():
    assert "index 5 is out of bounds" in PROGRAM.assignment_error()


def test_results_of_parameters_are_tensors():
    assert list(PROGRAM.classes()) == ["Parameter"] + ["Tensor"] * 5


def test_gradients_flow_through_direct_calls():
    x = torch.ones(3, requires_grad=True)
    (x.clamp(min=0.5).sum() + x[1] * 2.0 + x.max(dim=0).values).backward()
    assert equal(PROGRAM.gradient(), x.grad)


def test_defaults_apply_to_direct_calls():
    assert list(PROGRAM.with_default_dtype()) == ["float64", "float32"]
    assert list(PROGRAM.on_device()) == ["meta", "cpu"]


def test_random_numbers_are_pytorchs():
    torch.manual_seed(3)
    expected = [torch.rand(2), torch.randperm(5), torch.randint(0, 9, [3])]
    expected.append(torch.randn(2, generator=torch.Generator().manual_seed(5)))
    assert equal(list(PROGRAM.seeded()), expected)


def test_no_handle_leaks():
    assert PROGRAM.handles() == 0


def test_an_integer_dtype_of_the_settings_applies(tmp_path):
    (tmp_path / "program.spl").write_text("use torch\nprint torch.zeros(2).dtype()\nprint torch.ones([1]).dtype()\n")
    environment = {**os.environ, "SIMPLE_DL_DTYPE": "i32"}
    host = os.environ.get("SIMPLE_HOST", str(ROOT / "build" / "release" / "bin" / "simple-host"))
    done = subprocess.run([host, "program.spl"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout.split() == ["torch.int32", "torch.int32"], done.stderr
