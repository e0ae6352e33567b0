"""A pointer network that sorts short sequences of numbers."""

import math
import pickle
import traceback

import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.W1 = nn.Linear(hidden, hidden, bias=False)
        self.W2 = nn.Linear(hidden, hidden, bias=False)
        self.v = nn.Linear(hidden, 1, bias=False)

    def forward(self, states, query, taken):
        scores = self.v(torch.tanh(self.W1(states) + self.W2(query).unsqueeze(1))).squeeze(-1)
        return scores.masked_fill(taken, float("-inf"))


class PointerNetwork(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self._hidden = hidden
        self.encoder = nn.LSTM(1, hidden, batch_first=True)
        self.decoder = nn.LSTMCell(1, hidden)
        self.attention = Attention(hidden)
        self.start = nn.Parameter(torch.zeros(1))

    @property
    def hidden(self):
        return self._hidden

    def forward(self, x, target=None):
        batch, length, _ = x.shape
        states, (h, c) = self.encoder(x)
        h, c = h[0], c[0]
        taken = torch.zeros(batch, length, dtype=torch.bool)
        token = self.start.expand(batch, 1)
        scores, choices = [], []
        for step in range(length):
            h, c = self.decoder(token, (h, c))
            score = self.attention(states, h, taken)
            choice = score.argmax(dim=1) if target is None else target[:, step]
            taken = taken.scatter(1, choice.unsqueeze(1), True)
            token = x[torch.arange(batch), choice]
            scores.append(score)
            choices.append(choice)
        return torch.stack(scores, 1), torch.stack(choices, 1)


class NamedPointerNetwork(PointerNetwork):
    @property
    def hidden(self):
        return super().hidden + 0

    def __repr__(self):
        return f"{type(self).__name__}(hidden={self.hidden})"


def batch_of(count, length, generator):
    x = torch.rand(count, length, generator=generator)
    return x.unsqueeze(-1), x.argsort(dim=1)


def learning_rate(base, steps):
    """A coroutine: each loss that is sent moves the rate along a cosine, more slowly while the loss is high."""
    progress = 0.0
    while True:
        loss = yield base * 0.5 * (1 + math.cos(math.pi * min(progress / steps, 1.0)))
        progress += 1.0 if loss < 1.0 else 0.5


def train(model, steps):
    generator = torch.Generator().manual_seed(4)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    rates = learning_rate(0.01, steps)
    rate = next(rates)
    for step in range(1, steps + 1):
        for group in optimizer.param_groups:
            group["lr"] = rate
        x, order = batch_of(32, 5, generator)
        scores, _ = model(x, order)
        loss = F.cross_entropy(scores.flatten(0, 1), order.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        rate = rates.send(loss.item())
        if step % 20 == 0:
            print(f"step {step:3d}  loss {loss.item():.4f}  lr {rate:.5f}")
    rates.close()


torch.manual_seed(6)
model = NamedPointerNetwork(24)
print(model)
train(model, 60)
model.eval()
x, order = batch_of(64, 5, torch.Generator().manual_seed(9))
with torch.no_grad():
    _, choices = model(x)
accuracy = (choices == order).float().mean()
copied = pickle.loads(pickle.dumps({"accuracy": round(accuracy.item(), 4), "choices": choices[0].tolist()}))
print(copied["accuracy"], copied["choices"], order[0].tolist())
try:
    model(torch.rand(2, 5))
except ValueError:
    print(traceback.format_exc().strip().splitlines()[-1].split(":")[0])
