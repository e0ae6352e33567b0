"""A denoising diffusion model of points, with an averaged copy for sampling."""

import copy
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR


def gather(consts, t):
    c = consts.gather(-1, t)
    return c.reshape(-1, 1)


class Swish(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(x)


class TimeEmbedding(nn.Module):
    def __init__(self, n_channels):
        super().__init__()
        self.n_channels = n_channels
        self.lin1 = nn.Linear(self.n_channels // 4, self.n_channels)
        self.act = Swish()
        self.lin2 = nn.Linear(self.n_channels, self.n_channels)

    def forward(self, t):
        half_dim = self.n_channels // 8
        emb = math.log(10_000) / (half_dim - 1)
        emb = torch.exp(torch.arange(half_dim, device=t.device) * -emb)
        emb = t[:, None] * emb[None, :]
        emb = torch.cat((emb.sin(), emb.cos()), dim=1)
        emb = self.act(self.lin1(emb))
        emb = self.lin2(emb)
        return emb


class Noise(nn.Module):
    def __init__(self, n_channels: int = 16):
        super().__init__()
        self.time = TimeEmbedding(n_channels)
        self.first = nn.Linear(2, n_channels)
        self.norm = nn.GroupNorm(4, n_channels)
        self.last = nn.Linear(n_channels, 2)

    def forward(self, x: torch.Tensor, t: torch.Tensor):
        h = F.silu(self.first(x)) + self.time(t)
        return self.last(self.norm(h))


class DenoiseDiffusion:
    def __init__(self, eps_model: nn.Module, n_steps: int, device: torch.device):
        super().__init__()
        self.eps_model = eps_model
        self.beta = torch.linspace(0.0001, 0.02, n_steps).to(device)
        self.alpha = 1.0 - self.beta
        self.alpha_bar = torch.cumprod(self.alpha, dim=0)
        self.n_steps = n_steps
        self.sigma2 = self.beta

    def q_xt_x0(self, x0, t):
        mean = gather(self.alpha_bar, t) ** 0.5 * x0
        variance = 1 - gather(self.alpha_bar, t)
        return mean, variance

    def q_sample(self, x0, t, eps=None):
        if eps is None:
            eps = torch.randn_like(x0)
        mean, variance = self.q_xt_x0(x0, t)
        return mean + (variance**0.5) * eps

    def p_sample(self, xt, t):
        eps_theta = self.eps_model(xt, t)
        alpha_bar = gather(self.alpha_bar, t)
        alpha = gather(self.alpha, t)
        eps_coef = (1 - alpha) / (1 - alpha_bar) ** 0.5
        mean = 1 / (alpha**0.5) * (xt - eps_coef * eps_theta)
        variance = gather(self.sigma2, t)
        eps = torch.randn(xt.shape, device=xt.device)
        return mean + (variance**0.5) * eps

    def loss(self, x0, noise=None):
        batch_size = x0.shape[0]
        t = torch.randint(0, self.n_steps, (batch_size,), device=x0.device, dtype=torch.long)
        if noise is None:
            noise = torch.randn_like(x0)
        xt = self.q_sample(x0, t, eps=noise)
        eps_theta = self.eps_model(xt, t)
        return F.mse_loss(noise, eps_theta)


@torch.no_grad()
def update_ema(ema_model, model, decay=0.9):
    ema_params = dict(ema_model.named_parameters())
    for name, param in model.named_parameters():
        ema_params[name].mul_(decay).add_(param.data, alpha=1 - decay)


torch.manual_seed(2)
device = torch.device("cpu")
eps_model = Noise().to(device)
ema = copy.deepcopy(eps_model).eval().requires_grad_(False)
diffusion = DenoiseDiffusion(eps_model=eps_model, n_steps=20, device=device)
optimizer = torch.optim.AdamW(eps_model.parameters(), lr=1e-2, weight_decay=0.01)
warmup = LinearLR(optimizer, start_factor=0.1, total_iters=5)
cosine = CosineAnnealingLR(optimizer, T_max=15, eta_min=1e-4)
scheduler = SequentialLR(optimizer, schedulers=[warmup, cosine], milestones=[5])
data = torch.randn(48, 2) * torch.tensor([0.3, 0.1]) + torch.tensor([1.0, -1.0])
for step in range(20):
    optimizer.zero_grad()
    loss = diffusion.loss(data[torch.randperm(48)[:16]])
    loss.backward()
    optimizer.step()
    scheduler.step()
    update_ema(ema, eps_model)
    if step % 4 == 3:
        print(step, f"{loss:.6f}", "%.6f" % scheduler.get_last_lr()[0])
diffusion.eps_model = ema
with torch.no_grad():
    x = torch.randn([4, 2], device=device)
    for t_ in range(diffusion.n_steps):
        t = diffusion.n_steps - t_ - 1
        x = diffusion.p_sample(x, x.new_full((4,), t, dtype=torch.long))
print(x)
