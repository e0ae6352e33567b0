"""A GPT over characters: 2 layers, 64 wide, 4 heads, 32 characters of 65, batches of 8, AdamW."""

import torch
import torch.nn.functional as F
from torch import nn
from worker import fused, seeded_batches, serve

VOCABULARY, CONTEXT, WIDTH, HEADS, LAYERS, DROPOUT = 65, 32, 64, 4, 2, 0.1


def heads_of(x: torch.Tensor, n: int, t: int) -> torch.Tensor:
    return x.view(n, t, HEADS, WIDTH // HEADS).transpose(1, 2)


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.projection = nn.Linear(WIDTH, WIDTH)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n, t, c = x.size()
        q, k, v = (heads_of(part, n, t) for part in self.qkv(x).split(WIDTH, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.dropout(self.projection(y.transpose(1, 2).reshape(n, t, c)))


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.before_attention = nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.before_network = nn.LayerNorm(WIDTH)
        self.network = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH), nn.Dropout(DROPOUT)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        attended = x + self.attention(self.before_attention(x))
        return attended + self.network(self.before_network(attended))


class Gpt(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.characters = nn.Embedding(VOCABULARY, WIDTH)
        self.places = nn.Embedding(CONTEXT, WIDTH)
        self.dropout = nn.Dropout(DROPOUT)
        self.blocks = nn.ModuleList([Block() for _ in range(LAYERS)])
        self.norm = nn.LayerNorm(WIDTH)
        self.output = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        x = self.dropout(self.characters(text) + self.places(torch.arange(text.size(1))))
        for block in self.blocks:
            x = block(x)
        return self.output(self.norm(x))


def some_text() -> tuple[torch.Tensor, torch.Tensor]:
    text = torch.randint(0, VOCABULARY, (8, CONTEXT + 1))
    return text[:, :-1].contiguous(), text[:, 1:].contiguous()


def loss_of(text: torch.Tensor, following: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(model(text).view(-1, VOCABULARY), following.view(-1))


batches = seeded_batches(32, some_text)
model = Gpt()
serve(torch.optim.AdamW(model.parameters(), **fused()), loss_of, batches)
