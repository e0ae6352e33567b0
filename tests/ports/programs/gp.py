"""Gaussian process regression by Cholesky with composable kernels."""

import functools
import itertools
import math
from abc import ABC, abstractmethod

import torch
import torch.nn as nn


class Kernel(nn.Module, ABC):
    count = 0

    def __init__(self):
        super().__init__()
        Kernel.count += 1
        self.index = Kernel.count

    @abstractmethod
    def forward(self, a, b): ...

    def __add__(self, other):
        return Combined(self, other, op=lambda x, y: x + y, sign="+")

    def __mul__(self, other):
        return Combined(self, other, op=lambda x, y: x * y, sign="*")

    @staticmethod
    def sqdist(a, b):
        return (a.pow(2).sum(-1, keepdim=True) + b.pow(2).sum(-1) - 2 * a @ b.T).clamp_min(0)

    def describe(self) -> str:
        return f"{type(self).__name__}#{self.index}"


class RBF(Kernel):
    def __init__(self, lengthscale: float = 1.0):
        super().__init__()
        self.log_l = nn.Parameter(torch.tensor(lengthscale).log())

    @property
    def lengthscale(self):
        return self.log_l.exp()

    def forward(self, a, b):
        return torch.exp(-0.5 * self.sqdist(a, b) / self.lengthscale**2)


class Periodic(Kernel):
    def __init__(self, period=1.0):
        super().__init__()
        self.log_p = nn.Parameter(torch.tensor(math.log(period)))

    def forward(self, a, b):
        d = torch.cdist(a, b)
        return torch.exp(-2 * torch.sin(math.pi * d / self.log_p.exp()) ** 2)


class Combined(Kernel):
    def __init__(self, left, right, op, sign):
        super().__init__()
        self.left, self.right = left, right
        self.op, self.sign = op, sign

    def forward(self, a, b):
        return self.op(self.left(a, b), self.right(a, b))

    def describe(self):
        return f"({self.left.describe()} {self.sign} {self.right.describe()})"


class GP(nn.Module):
    def __init__(self, kernel, noise=0.1):
        super().__init__()
        self.kernel = kernel
        self.log_noise = nn.Parameter(torch.tensor(noise).log())
        self._cache = None

    def nll(self, X, y):
        n = X.shape[0]
        K = self.kernel(X, X) + (self.log_noise.exp() ** 2 + 1e-5) * torch.eye(n)
        L = torch.linalg.cholesky(K)
        alpha = torch.cholesky_solve(y[:, None], L)
        self._cache = X, L.detach(), alpha.detach()
        return 0.5 * (y @ alpha).squeeze() + L.diagonal().log().sum() + n / 2 * math.log(2 * math.pi)

    @torch.no_grad()
    def predict(self, Xs):
        if self._cache is None:
            raise RuntimeError("not fitted")
        X, L, alpha = self._cache
        Ks = self.kernel(X, Xs)
        mean = (Ks.T @ alpha).squeeze(1)
        v = torch.linalg.solve_triangular(L, Ks, upper=False)
        var = self.kernel(Xs, Xs).diagonal() - (v**2).sum(0)
        return mean, var.clamp(min=0).sqrt()


def batches(n, size, start=0):
    while start < n:
        yield slice(start, min(start + size, n))
        start += size


log_lines = []


def log(msg):
    log_lines.append(msg)
    return len(log_lines)


torch.manual_seed(4)
X = torch.rand(21, 1) * 6 - 3
y = torch.sin(2 * X[:, 0]) + 0.3 * X[:, 0] + 0.1 * torch.randn(21)
gp = GP(RBF(0.8) * Periodic(3.0) + RBF(2.0), noise=0.2)
print(gp.kernel.describe(), Kernel.count)
try:
    gp.predict(X)
except RuntimeError as e:
    print("error:", e)
opt = torch.optim.Adam(gp.parameters(), lr=0.05)
for it in range(1, 31):
    opt.zero_grad()
    loss = gp.nll(X, y)
    loss.backward()
    opt.step()
    if it % 10 == 0 or it == 1:
        n = log(f"{loss.item():.3f}")
        print(f"{it:>3}: nll {loss.item():9.5f} noise {gp.log_noise.exp():.4f} ({n})")
for name, p in gp.named_parameters():
    print(f"{name:<25}{p.item():+.5f}")
Xs = torch.linspace(-3, 3, 7).unsqueeze(1)
for sl in batches(len(Xs), 3):
    mean, std = gp.predict(Xs[sl])
    print(sl.start, sl.stop, *[f"{m:.3f}±{s:.3f}" for m, s in zip(mean, std)])
grid = list(itertools.product([0.5, 1.0], ["a", "b"]))
print(*[f"{a}{b}" for a, b in grid], functools.reduce(lambda a, b: a * b, [g[0] for g in grid], 1))
