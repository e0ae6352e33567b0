"""Vector quantization with a codebook of moving averages."""

import torch
import torch.nn.functional as F
from torch import nn


def ema_inplace(moving_avg, new, decay):
    moving_avg.data.mul_(decay).add_(new, alpha=(1 - decay))


def laplace_smoothing(x, n_categories, eps=1e-5):
    return (x + eps) / (x.sum() + n_categories * eps)


class VectorQuantize(nn.Module):
    def __init__(self, dim, n_embed, decay=0.8, commitment=1.0, eps=1e-5):
        super().__init__()
        self.dim = dim
        self.n_embed = n_embed
        self.decay = decay
        self.eps = eps
        self.commitment = commitment
        embed = torch.randn(dim, n_embed)
        self.register_buffer("embed", embed)
        self.register_buffer("cluster_size", torch.zeros(n_embed))
        self.register_buffer("embed_avg", embed.clone())

    def forward(self, input):
        dtype = input.dtype
        flatten = input.reshape(-1, self.dim)
        dist = (
            flatten.pow(2).sum(1, keepdim=True)
            - 2 * flatten @ self.embed
            + self.embed.pow(2).sum(0, keepdim=True)
        )
        _, embed_ind = (-dist).max(1)
        embed_onehot = F.one_hot(embed_ind, self.n_embed).type(dtype)
        embed_ind = embed_ind.view(*input.shape[:-1])
        quantize = F.embedding(embed_ind, self.embed.transpose(0, 1))
        if self.training:
            ema_inplace(self.cluster_size, embed_onehot.sum(0), self.decay)
            embed_sum = flatten.transpose(0, 1) @ embed_onehot
            ema_inplace(self.embed_avg, embed_sum, self.decay)
            cluster_size = laplace_smoothing(self.cluster_size, self.n_embed, self.eps) * self.cluster_size.sum()
            embed_normalized = self.embed_avg / cluster_size.unsqueeze(0)
            self.embed.data.copy_(embed_normalized)
        loss = F.mse_loss(quantize.detach(), input) * self.commitment
        quantize = input + (quantize - input).detach()
        return quantize, embed_ind, loss


class SimpleVQAutoEncoder(nn.Module):
    def __init__(self, **vq_kwargs):
        super().__init__()
        self.layers = nn.ModuleList(
            [
                nn.Conv2d(1, 4, kernel_size=3, stride=1, padding=1),
                nn.MaxPool2d(kernel_size=2, stride=2),
                nn.GELU(),
                VectorQuantize(dim=4, **vq_kwargs),
                nn.Upsample(scale_factor=2, mode="nearest"),
                nn.Conv2d(4, 1, kernel_size=3, stride=1, padding=1),
            ]
        )

    def forward(self, x):
        for layer in self.layers:
            if isinstance(layer, VectorQuantize):
                x, indices, commit_loss = layer(x.permute(0, 2, 3, 1))
                x = x.permute(0, 3, 1, 2)
            else:
                x = layer(x)
        return x.clamp(-1, 1), indices, commit_loss


def gumbel_quantize(logits, codebook, tau, straight_through=True):
    soft_one_hot = F.gumbel_softmax(logits, tau=tau, dim=1, hard=straight_through)
    z_q = torch.einsum("b n h w, n d -> b d h w", soft_one_hot, codebook)
    qy = F.softmax(logits, dim=1)
    diff = 5e-4 * torch.sum(qy * torch.log(qy * logits.shape[1] + 1e-10), dim=1).mean()
    return z_q, diff, soft_one_hot.argmax(dim=1)


torch.random.manual_seed(1234)
num_codes, alpha = 8, 10
model = SimpleVQAutoEncoder(n_embed=num_codes, decay=0.9)
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
data = torch.rand(12, 1, 8, 8).mul_(2).sub_(1)
for step in range(12):
    opt.zero_grad()
    out, indices, cmt_loss = model(data)
    rec_loss = (out - data).abs().mean()
    (rec_loss + alpha * cmt_loss).backward()
    opt.step()
    if step % 3 == 2:
        print(
            f"rec loss: {rec_loss.item():.3f} | "
            + f"cmt loss: {cmt_loss.item():.3f} | "
            + f"active %: {indices.unique().numel() * 100.0 / num_codes:.3f}"
        )
print(", ".join(f"{name} {buffer.numel()}" for name, buffer in model.named_buffers()))
model.eval()
before = model.layers[3].embed.clone()
model(data)
print(torch.equal(before, model.layers[3].embed))
codebook = torch.randn(num_codes, 4, requires_grad=True)
z_q, diff, ind = gumbel_quantize(torch.randn(2, num_codes, 3, 3), codebook, max(0.5, 0.9**2))
z_q.square().mean().backward()
print(z_q.shape == (2, 4, 3, 3), f"{diff:.3e}", ind.flatten().tolist(), codebook.grad.norm(dim=-1))
