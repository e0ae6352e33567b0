"""An inverse autoregressive flow: a masked flow whose two directions change places."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import MultivariateNormal


class MaskedLinear(nn.Linear):
    def __init__(self, n_in: int, n_out: int, degrees_in: torch.Tensor, degrees_out: torch.Tensor):
        super().__init__(n_in, n_out)
        self.register_buffer("mask", (degrees_out[:, None] >= degrees_in[None, :]).float())

    def forward(self, x):
        return F.linear(x, self.mask * self.weight, self.bias)


class MaskedFlow(nn.Module):
    def __init__(self, dim: int, hidden: int = 8):
        super().__init__()
        self.dim = dim
        degrees = torch.arange(1, dim + 1)
        inner = torch.arange(hidden) % (dim - 1) + 1
        self.hidden = MaskedLinear(dim, hidden, degrees, inner)
        self.scale = MaskedLinear(hidden, dim, inner, degrees - 1)
        self.shift = MaskedLinear(hidden, dim, inner, degrees - 1)

    def conditions(self, x):
        h = torch.tanh(self.hidden(x))
        return self.scale(h), self.shift(h)

    def forward(self, x):
        s, t = self.conditions(x)
        return x * torch.exp(s) + t, s.sum(dim=1)

    def backward(self, z):
        x = torch.zeros_like(z)
        log_det = torch.zeros(z.size(0))
        for i in range(self.dim):
            s, t = self.conditions(x.clone())
            x[:, i] = (z[:, i] - t[:, i]) * torch.exp(-s[:, i])
            log_det += -s[:, i]
        return x, log_det


class InverseFlow(MaskedFlow):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.forward, self.backward = self.backward, self.forward


class FlowModel(nn.Module):
    def __init__(self, prior, flows):
        super().__init__()
        self.prior = prior
        self.flows = nn.ModuleList(flows)

    def forward(self, x):
        log_det = torch.zeros(x.shape[0])
        for flow in self.flows:
            x, ld = flow.forward(x)
            log_det += ld
        return x, self.prior.log_prob(x), log_det

    def backward(self, z):
        for flow in self.flows[::-1]:
            z, _ = flow.backward(z)
        return z


torch.manual_seed(5)
data = torch.randn(16, 3) * torch.tensor([0.5, 1.0, 2.0]) + 1.0
for kind in [MaskedFlow, InverseFlow]:
    model = FlowModel(MultivariateNormal(torch.zeros(3), torch.eye(3)), [kind(3) for _ in range(2)])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=1e-5)
    for step in range(4):
        z, prior_log_prob, log_det = model(data)
        loss = -(prior_log_prob + log_det).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{kind.__name__} {step} {loss.item():.6f}")
    with torch.no_grad():
        z, _, _ = model(data)
        print(torch.allclose(model.backward(z), data, atol=1e-4), sum(p.numel() for p in model.parameters()))
