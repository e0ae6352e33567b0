"""Restricted Boltzmann machine, Hopfield network, k-means and t-SNE: plain tensor programs."""

import itertools

import torch
import torch.nn.functional as F

torch.manual_seed(0)
rows = [[1, 1, 1, 0, 0, 0], [1, 0, 1, 0, 0, 0], [0, 0, 1, 1, 1, 0], [0, 0, 1, 1, 0, 0]]
patterns = torch.tensor(rows, dtype=torch.float)


class RBM:
    def __init__(self, n_vis, n_hid, k=2):
        self.W = torch.randn(n_vis, n_hid) * 1e-1
        self.vb = torch.zeros(n_vis)
        self.hb = torch.zeros(n_hid)
        self.k = k
        self.momentum = dict(W=torch.zeros_like(self.W), vb=torch.zeros(n_vis), hb=torch.zeros(n_hid))

    def sample_h(self, v):
        p = torch.sigmoid(v @ self.W + self.hb)
        return p, torch.bernoulli(p)

    def sample_v(self, h):
        p = torch.sigmoid(h @ self.W.t() + self.vb)
        return p, p.bernoulli()

    def free_energy(self, v):
        return -(v @ self.vb) - F.softplus(v @ self.W + self.hb).sum(1)

    def contrastive_divergence(self, v0, lr=0.1, m=0.5):
        ph0, h = self.sample_h(v0)
        for _ in range(self.k):
            pv, v = self.sample_v(h)
            ph, h = self.sample_h(v)
        updates = {
            "W": v0.t() @ ph0 - v.t() @ ph,
            "vb": (v0 - v).sum(0),
            "hb": (ph0 - ph).sum(0),
        }
        for name, delta in updates.items():
            buf = self.momentum[name]
            buf.mul_(m).add_(delta, alpha=lr / len(v0))
            getattr(self, name).add_(buf)
        return ((v0 - pv) ** 2).mean().item()


rbm = RBM(6, 2)
for epoch in range(60):
    err = sum(rbm.contrastive_divergence(b) for b in patterns.split(2)) / 2
    if epoch % 20 == 0:
        print(f"epoch {epoch} error {err:.6f} free {rbm.free_energy(patterns).mean():.5f}")
print((rbm.W * 100).round().int()[::2], rbm.vb)

# Hopfield
P = torch.where(torch.randn(3, 16) > 0, 1, -1)
Wh = (P.t() @ P).float() / P.shape[1]
Wh.fill_diagonal_(0)


def energy(s):
    return -0.5 * s @ Wh @ s


def recall(s, max_iter=10):
    s, trace = s.clone(), []
    for _ in range(max_iter):
        old = s.clone()
        for i in torch.randperm(len(s)):
            s[i] = 1 if Wh[i] @ s >= 0 else -1
        trace.append(round(energy(s).item(), 3))
        if torch.equal(old, s):
            break
    return s, trace


for i, p in enumerate(P.float()):
    q = p.clone()
    q[torch.randperm(16)[:3]] *= -1
    r, trace = recall(q)
    print(i, f"overlap before {(p == q).sum()} after {(p == r).sum()}", trace)

# k-means
X = torch.cat([torch.randn(8, 2) + torch.tensor(c, dtype=torch.float32) for c in [(0, 0), (5, 5), (0, 5)]])
cent = X[torch.randperm(len(X))[:3]]
for it in itertools.count():
    assign = torch.cdist(X, cent).argmin(1)
    new = torch.stack([X[assign == k].mean(0) for k in range(3)])
    shift = (new - cent).norm()
    cent = new
    if shift < 1e-6 or it == 20:
        break
order = cent.sum(1).argsort()
print(it, [[round(v, 3) for v in row] for row in cent[order].tolist()])
print(torch.bincount(assign, minlength=3)[order].tolist())
counts = {int(k): (assign == k).sum().item() for k in assign.unique()}
print(counts, max(counts, key=lambda k: (counts[k], -k)))

# t-SNE
D = torch.cdist(X, X).pow(2)
Pij = torch.exp(-D / 2).fill_diagonal_(0)
Pij = Pij / Pij.sum()
Y = (torch.randn(len(X), 2) * 1e-2).requires_grad_()
vel = torch.zeros_like(Y)
for it in range(101):
    num = (1 + torch.cdist(Y, Y).pow(2)).reciprocal() * (1 - torch.eye(len(X)))
    Q = num / num.sum()
    kl = (Pij * ((Pij + 1e-12).log() - (Q + 1e-12).log())).sum()
    kl.backward()
    with torch.no_grad():
        vel.mul_(0.8 if it > 20 else 0.5).sub_(2.0 * Y.grad)
        Y += vel
        Y -= Y.mean(0, keepdim=True)
        Y.grad = None
    if not it % 50:
        print(f"{it:4d} kl {kl:.6f}")
tri = [(i, j) for i in range(4) for j in range(i)]
print(tri[::-2], -7 // 2, -7 % 3, divmod(-7, 3), round(2.5), round(-1.5), int(-3.7))
