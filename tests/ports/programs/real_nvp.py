"""RealNVP that learns the density of two moons."""

import math

import torch
from torch import nn, optim


class CouplingLayer(nn.Module):
    def __init__(self, dim, hidden, mask):
        super().__init__()
        self.register_buffer("mask", mask)
        self.scale = nn.Sequential(nn.Linear(dim, hidden), nn.LeakyReLU(), nn.Linear(hidden, dim), nn.Tanh())
        self.translate = nn.Sequential(nn.Linear(dim, hidden), nn.LeakyReLU(), nn.Linear(hidden, dim))

    def forward(self, x):
        x_masked = x * self.mask
        s = self.scale(x_masked) * (1 - self.mask)
        t = self.translate(x_masked) * (1 - self.mask)
        z = x_masked + (1 - self.mask) * (x * torch.exp(s) + t)
        return z, s.sum(dim=1)

    def inverse(self, z):
        z_masked = z * self.mask
        s = self.scale(z_masked) * (1 - self.mask)
        t = self.translate(z_masked) * (1 - self.mask)
        return z_masked + (1 - self.mask) * ((z - t) * torch.exp(-s))


class RealNVP(nn.Module):
    def __init__(self, dim=2, hidden=16, n_layers=4):
        super().__init__()
        masks = torch.tensor([[i % 2, (i + 1) % 2] for i in range(n_layers)], dtype=torch.float32)
        self.layers = nn.ModuleList([CouplingLayer(dim, hidden, m) for m in masks])
        self.prior = torch.distributions.MultivariateNormal(torch.zeros(dim), torch.eye(dim))

    def log_prob(self, x):
        log_det = x.new_zeros(x.shape[0])
        for layer in self.layers:
            x, ld = layer(x)
            log_det += ld
        return self.prior.log_prob(x) + log_det

    @torch.no_grad()
    def sample(self, n):
        z = self.prior.sample((n,))
        for layer in reversed(self.layers):
            z = layer.inverse(z)
        return z


def two_moons(n):
    theta = torch.rand(n) * math.pi
    upper = torch.stack([torch.cos(theta), torch.sin(theta)], dim=1)
    lower = torch.stack([1 - torch.cos(theta), 0.5 - torch.sin(theta)], dim=1)
    which = torch.rand(n) < 0.5
    return torch.where(which[:, None], upper, lower) + 0.1 * torch.randn(n, 2)


torch.manual_seed(0)
flow = RealNVP()
print(sum(p.numel() for p in flow.parameters() if p.requires_grad))
optimizer = optim.Adam([p for p in flow.parameters() if p.requires_grad], lr=1e-2)
for it in range(60):
    x = two_moons(64)
    loss = -flow.log_prob(x).mean()
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
    if it % 20 == 0 or it == 59:
        print(f"iter {it}: loss = {loss.item():.5f}")
x = two_moons(5)
z = x
for layer in flow.layers:
    z, _ = layer(z)
back = z
for layer in flow.layers[::-1]:
    back = layer.inverse(back)
print(torch.allclose(back, x, atol=1e-5), flow.sample(3).sum().item())
for name, buf in flow.named_buffers():
    print(name, buf.tolist())
