"""functional_call and the fusion of batch norms into layers match PyTorch, also their errors."""

from __future__ import annotations

import pytest
from embedded_simple import equal, run, torch
from torch import nn

OURS = run(
    """
    use torch
    use torch.nn
    use torch.func

    class Tied(nn.Module):
        first: nn.Linear
        second: nn.Linear
        fn init():
            self.first = nn.Linear(2, 2)
            self.second = nn.Linear(2, 2)
            self.second.weight = self.first.weight
        fn forward(x): self.second(self.first(x))

    fn tied(): Tied()
    fn layers(): nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
    fn load(m, state): m.load_state_dict(state)
    fn call(m, replacements, x, strict = false): torch.func.functional_call(m, replacements, x, strict: strict)
    fn fused_conv(kind, state, norm, bias):
        val conv = if kind == "plain": nn.Conv2d(2, 3, 2, bias: bias) else: nn.ConvTranspose2d(2, 3, 2, bias: bias)
        val bn = nn.BatchNorm2d(3)
        conv.load_state_dict(state)
        bn.load_state_dict(norm)
        val one = nn.utils.fuse_conv_bn_eval(conv.eval(), bn.eval(), kind != "plain")
        (one.weight, one.bias, one.weight.requires_grad(), one.bias.requires_grad(), conv.bias == nil)
    fn fused_linear(state, norm):
        val linear = nn.Linear(2, 3)
        val bn = nn.BatchNorm1d(3)
        linear.load_state_dict(state)
        bn.load_state_dict(norm)
        val one = nn.utils.fuse_linear_bn_eval(linear.eval(), bn.eval())
        (one.weight, one.bias)
    fn fused_weights(w, b, mean, variance, scale, shift):
        val conv = nn.utils.fuse_conv_bn_weights(w.unsqueeze(-1), b, mean, variance, 1e-5, scale, shift)
        val linear = nn.utils.fuse_linear_bn_weights(w, b, mean, variance, 1e-5, scale, shift)
        (conv[0], conv[1], linear[0], linear[1])
    fn raised(): nn.utils.fuse_linear_bn_eval(nn.Linear(2, 3), nn.BatchNorm1d(3))
    """,
    name="functional calls",
)


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(2, 2), nn.Linear(2, 2)
        self.second.weight = self.first.weight

    def forward(self, x):
        return self.second(self.first(x))


def message(body):
    with pytest.raises(Exception) as raised:
        body()
    return str(raised.value)


def layers():
    torch.manual_seed(1)
    ours, theirs = OURS.layers(), nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
    OURS.load(ours, theirs.state_dict())
    return ours, theirs


def others(module):
    generator = torch.Generator().manual_seed(4)
    return {
        name: torch.rand(tensor.shape, generator=generator).requires_grad_(isinstance(tensor, nn.Parameter))
        for name, tensor in module.state_dict(keep_vars=True).items()
        if tensor.is_floating_point()
    }


@pytest.mark.parametrize("several", [False, True])
def test_functional_call_uses_the_given_tensors_and_leaves_the_module_unchanged(several):
    ours, theirs = layers()
    before = {name: tensor.clone() for name, tensor in theirs.state_dict().items() if tensor.is_floating_point()}
    x = torch.randn(4, 2)
    mine, replacements = others(theirs), others(theirs)
    parts = [{name: value for name, value in mine.items() if name[0] == place} for place in "012"] if several else mine
    output = OURS.call(ours, parts, x)
    expected = torch.func.functional_call(theirs, replacements, x)
    assert equal(output, expected)
    output.sum().backward()
    expected.sum().backward()
    for name, tensor in replacements.items():
        assert equal(mine[name], tensor), "running means change in the given tensors"
        assert (tensor.grad is None and mine[name].grad is None) or equal(mine[name].grad, tensor.grad)
    for name, place, field in (("0.weight", 0, "weight"), ("1.running_mean", 1, "running_mean")):
        assert equal(getattr(ours[place], field), before[name])
    assert ours[0].weight.grad is None


def test_tied_parameters_stay_tied():
    ours, theirs = OURS.tied(), Tied()
    OURS.load(ours, theirs.state_dict())
    x, weight = torch.randn(1, 2), torch.randn(2, 2)
    replacements = {"first.weight": weight}
    assert equal(OURS.call(ours, replacements, x), torch.func.functional_call(theirs, replacements, x))
    both = {"first.weight": weight, "second.weight": weight + 1}
    message_text = "functional_call got multiple values for keys"
    assert message_text in message(lambda: torch.func.functional_call(theirs, both, x))
    assert message_text in message(lambda: OURS.call(ours, both, x))
    assert equal(ours.first.weight, theirs.first.weight), "an error leaves the module unchanged"


def test_strict_checks_the_keys():
    ours, theirs = layers()
    x, replacements = torch.randn(4, 2), {"0.weight": torch.randn(3, 2), "nowhere": torch.ones(1)}
    message_text = message(lambda: OURS.call(ours, replacements, x, True))
    assert "Unexpected key(s): 'nowhere'." in message_text
    assert "Missing key(s): '0.bias'" in message_text
    with pytest.raises(RuntimeError, match="Unexpected key"):
        torch.func.functional_call(theirs, replacements, x, strict=True)
    again = [{"0.weight": torch.randn(3, 2)}] * 2
    assert "0.weight appears in multiple dictionaries" in message(lambda: OURS.call(ours, again, x))


@pytest.mark.parametrize("kind", ["plain", "transposed"])
@pytest.mark.parametrize("bias", [True, False])
def test_fuse_conv_and_batch_norm(kind, bias):
    conv = (nn.Conv2d if kind == "plain" else nn.ConvTranspose2d)(2, 3, 2, bias=bias).eval()
    norm = nn.BatchNorm2d(3)
    norm(torch.randn(4, 3, 2, 2))
    expected = nn.utils.fuse_conv_bn_eval(conv, norm.eval(), kind != "plain")
    weight, shift, *requires_grads, was_nil = OURS.fused_conv(kind, conv.state_dict(), norm.state_dict(), bias)
    assert torch.allclose(weight, expected.weight, rtol=1e-6) and torch.allclose(shift, expected.bias, rtol=1e-5)
    assert requires_grads == [expected.weight.requires_grad, expected.bias.requires_grad]
    assert was_nil is not bias


def test_fuse_linear_and_batch_norm():
    linear, norm = nn.Linear(2, 3).eval(), nn.BatchNorm1d(3)
    norm(torch.randn(4, 3))
    expected = nn.utils.fuse_linear_bn_eval(linear, norm.eval())
    ours = OURS.fused_linear(linear.state_dict(), norm.state_dict())
    assert all(torch.allclose(a, b, rtol=1e-5) for a, b in zip(ours, (expected.weight, expected.bias)))
    assert "Fusion only for eval!" in message(OURS.raised)


def test_fuse_weights():
    parts = [torch.randn(3, 2), *(torch.rand(3) + 0.5 for _ in range(5))]
    w, b, mean, variance, scale, shift = parts
    fusion = torch.nn.utils.fusion
    expected = [
        *fusion.fuse_conv_bn_weights(w[..., None], b, mean, variance, 1e-5, scale, shift),
        *fusion.fuse_linear_bn_weights(w, b, mean, variance, 1e-5, scale, shift),
    ]
    assert all(torch.allclose(a, b, rtol=1e-5) for a, b in zip(OURS.fused_weights(*parts), expected))
