"""In-place operations with numbers on 16-bit tensors: PyTorch's rounding, by each API."""

from __future__ import annotations

import pytest
from embedded_simple import equal, run, torch

OURS = run(
    """
    use torch
    use torch.ffi.{rt_torch_torchtensor_is_nested}
    fn method(name, t, n):
        match name:
            case "add": t.add_(n)
            case "sub": t.sub_(n)
            case "mul": t.mul_(n)
            case "div": t.div_(n)
        t
    fn operator(name, t, n):
        var x = t
        match name:
            case "add": x += n
            case "sub": x -= n
            case "mul": x *= n
            case "div": x /= n
        x
    fn by_name(name, t, n): torch.op("{name}_", t, n)
    fn nested(t): t.is_nested() and rt_torch_torchtensor_is_nested(t.handle)
    """,
    name="scalars",
)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
@pytest.mark.parametrize("way", ["method", "operator", "by_name"])
def test_bits_match_python(way, name, dtype):
    start = torch.randn(200, generator=torch.Generator().manual_seed(0)).to(dtype)
    for number in (0.9, -1.0 / 3.0, 3, 1e-3):
        expected = getattr(start.clone(), f"{name}_")(number)
        assert equal(getattr(OURS, way)(name, start.clone(), number), expected), number


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_nested_tensors_report_that_they_are_nested():
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    assert (OURS.nested(nested), OURS.nested(torch.ones(2))) == (nested.is_nested, False)
