"""Sparsely gated experts: top-2 gating with a capacity."""

import math

import torch
import torch.nn.functional as F
from torch import nn

MIN_EXPERT_CAPACITY = 4


def default(val, default_val):
    return val if val is not None else default_val()


def cast_tuple(el):
    return el if isinstance(el, tuple) else (el,)


def top1(t):
    values, index = t.topk(k=1, dim=-1)
    values, index = map(lambda x: x.squeeze(dim=-1), (values, index))
    return values, index


def cumsum_exclusive(t, dim=-1):
    num_pad_dims = -dim - 1
    pre_padding = (0, 0) * num_pad_dims
    pre_slice = (slice(None),) * num_pad_dims
    padded_t = F.pad(t, (*pre_padding, 1, 0)).cumsum(dim=dim)
    return padded_t[(Ellipsis, slice(None, -1), *pre_slice)]


def safe_one_hot(indexes, max_length):
    max_index = indexes.max() + 1
    return F.one_hot(indexes, max(max_index + 1, max_length))[..., :max_length]


def init_(t):
    dim = t.shape[-1]
    std = 1 / math.sqrt(dim)
    return t.uniform_(-std, std)


class Experts(nn.Module):
    def __init__(self, dim, num_experts=16, hidden_dim=None, activation=nn.GELU):
        super().__init__()
        hidden_dim = default(hidden_dim, lambda: dim * 4)
        num_experts = cast_tuple(num_experts)
        w1 = torch.zeros(*num_experts, dim, hidden_dim)
        w2 = torch.zeros(*num_experts, hidden_dim, dim)
        self.w1 = nn.Parameter(init_(w1))
        self.w2 = nn.Parameter(init_(w2))
        self.act = activation()

    def forward(self, x):
        hidden = torch.einsum("...nd,...dh->...nh", x, self.w1)
        hidden = self.act(hidden)
        return torch.einsum("...nh,...hd->...nd", hidden, self.w2)


class Top2Gating(nn.Module):
    def __init__(
        self, dim, num_gates, eps=1e-9, outer_expert_dims=tuple(), policy="random", threshold=0.2, factor=1.25
    ):
        super().__init__()
        self.eps = eps
        self.num_gates = num_gates
        self.w_gating = nn.Parameter(torch.randn(*outer_expert_dims, dim, num_gates))
        self.policy = policy
        self.threshold = threshold
        self.factor = factor

    def forward(self, x):
        b, group_size, dim = x.shape
        num_gates = self.num_gates
        raw_gates = torch.einsum("...bnd,...de->...bne", x, self.w_gating)
        raw_gates = raw_gates.softmax(dim=-1)
        gate_1, index_1 = top1(raw_gates)
        mask_1 = F.one_hot(index_1, num_gates).float()
        density_1_proxy = raw_gates
        gates_without_top_1 = raw_gates * (1.0 - mask_1)
        gate_2, index_2 = top1(gates_without_top_1)
        mask_2 = F.one_hot(index_2, num_gates).float()
        denom = gate_1 + gate_2 + self.eps
        gate_1 /= denom
        gate_2 /= denom
        density_1 = mask_1.mean(dim=-2)
        density_1_proxy = density_1_proxy.mean(dim=-2)
        loss = (density_1_proxy * density_1).mean() * float(num_gates**2)
        if self.policy == "all":
            pass
        elif self.policy == "threshold":
            mask_2 *= (gate_2 > self.threshold).float().unsqueeze(-1)
        elif self.policy == "random":
            probs = torch.zeros_like(gate_2).uniform_(0.0, 1.0)
            mask_2 *= (probs < (gate_2 / max(self.threshold, self.eps))).float().unsqueeze(-1)
        else:
            assert False, f"Unknown policy {self.policy}"
        expert_capacity = min(group_size, int((group_size * self.factor) / num_gates))
        expert_capacity = max(expert_capacity, MIN_EXPERT_CAPACITY)
        expert_capacity_f = float(expert_capacity)
        position_in_expert_1 = cumsum_exclusive(mask_1, dim=-2) * mask_1
        mask_1 *= (position_in_expert_1 < expert_capacity_f).float()
        mask_1_count = mask_1.sum(dim=-2, keepdim=True)
        mask_1_flat = mask_1.sum(dim=-1)
        position_in_expert_1 = position_in_expert_1.sum(dim=-1)
        gate_1 *= mask_1_flat
        position_in_expert_2 = cumsum_exclusive(mask_2, dim=-2) + mask_1_count
        position_in_expert_2 *= mask_2
        mask_2 *= (position_in_expert_2 < expert_capacity_f).float()
        mask_2_flat = mask_2.sum(dim=-1)
        position_in_expert_2 = position_in_expert_2.sum(dim=-1)
        gate_2 *= mask_2_flat
        combine_tensor = (
            gate_1[..., None, None]
            * mask_1_flat[..., None, None]
            * F.one_hot(index_1, num_gates)[..., None]
            * safe_one_hot(position_in_expert_1.long(), expert_capacity)[..., None, :]
            + gate_2[..., None, None]
            * mask_2_flat[..., None, None]
            * F.one_hot(index_2, num_gates)[..., None]
            * safe_one_hot(position_in_expert_2.long(), expert_capacity)[..., None, :]
        )
        dispatch_tensor = combine_tensor.bool().to(combine_tensor)
        return dispatch_tensor, combine_tensor, loss


class MoE(nn.Module):
    def __init__(self, dim, num_experts=4, hidden_dim=None, activation=nn.ReLU, loss_coef=1e-2, experts=None, **gating):
        super().__init__()
        self.num_experts = num_experts
        gating_kwargs = {"policy": "random", **gating}
        self.gate = Top2Gating(dim, num_gates=num_experts, **gating_kwargs)
        self.experts = default(
            experts, lambda: Experts(dim, num_experts=num_experts, hidden_dim=hidden_dim, activation=activation)
        )
        self.loss_coef = loss_coef

    def forward(self, inputs, **kwargs):
        b, n, d, e = *inputs.shape, self.num_experts
        dispatch_tensor, combine_tensor, loss = self.gate(inputs)
        expert_inputs = torch.einsum("bnd,bnec->ebcd", inputs, dispatch_tensor)
        orig_shape = expert_inputs.shape
        expert_inputs = expert_inputs.reshape(e, -1, d)
        expert_outputs = self.experts(expert_inputs)
        expert_outputs = expert_outputs.reshape(*orig_shape)
        output = torch.einsum("ebcd,bnec->bnd", expert_outputs, combine_tensor)
        return output, loss * self.loss_coef


torch.manual_seed(5)
layers = [MoE(dim=8, num_experts=4, hidden_dim=16), MoE(dim=8, policy="threshold", threshold=0.3)]
moe = nn.ModuleList(layers)
inputs = torch.randn(2, 12, 8)
optimizer = torch.optim.SGD(moe.parameters(), lr=0.5, momentum=0.9, nesterov=True)
for i in range(8):
    x, aux_loss = inputs, 0.0
    for layer in moe:
        out, aux = layer(x)
        x = x + out
        aux_loss += aux
    loss = F.mse_loss(x, inputs.roll(1, dims=1)) + aux_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{i}: {loss.item():.6f} aux {aux_loss.item():.6f}")
print(" ".join(name for name, _ in moe.named_parameters()))
