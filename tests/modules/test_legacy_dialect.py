"""Ten programs in the legacy dialect match the same programs in Python bit for bit."""

from __future__ import annotations

from pathlib import Path

import pytest
from embedded_simple import equal, run_file, torch
from torch import nn, optim
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


@pytest.fixture(scope="module")
def older():
    return run_file(str(Path(__file__).with_name("legacy.spl")))


def values(model):
    return [p.detach().clone() for p in model.parameters()]


class Net(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, kernel_size=3, padding=1)
        self.conv2 = nn.Conv2d(4, 8, kernel_size=3, padding=1)
        self.bn = nn.BatchNorm2d(8)
        self.fc = nn.Linear(8 * 2 * 2, hidden)
        self.drop = nn.Dropout(p=0.25)

    def forward(self, x):
        h = functional.max_pool2d(functional.relu(self.conv1(x)), 2)
        g = functional.max_pool2d(functional.relu(self.bn(self.conv2(h))), 2)
        return self.fc(self.drop(torch.flatten(g, 1)))


def cnn():
    torch.manual_seed(0)
    model = Net(10)
    optimizer = optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    x = torch.randn(4, 1, 8, 8)
    y = torch.randint(0, 10, (4,))
    losses = []
    for _ in range(3):
        model.train()
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        return [losses, model(x), *values(model)]


class Classifier(nn.Module):
    def __init__(self, vocab, width, classes):
        super().__init__()
        self.embed = nn.Embedding(vocab, width, padding_idx=0)
        self.rnn = nn.LSTM(width, width, num_layers=2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * width, classes)

    def forward(self, tokens, lengths):
        packed = pack_padded_sequence(self.embed(tokens), lengths, batch_first=True, enforce_sorted=False)
        out, (h, _) = self.rnn(packed)
        padded, _ = pad_packed_sequence(out, batch_first=True)
        return self.head(torch.cat([h[-2], h[-1]], dim=1)) + padded.sum(dim=1)[:, :3]


def packed():
    torch.manual_seed(1)
    model = Classifier(20, 6, 3)
    optimizer = optim.RMSprop(model.parameters(), lr=0.01)
    tokens = torch.tensor([[1, 2, 3, 0], [4, 5, 6, 7], [8, 9, 0, 0]])
    for _ in range(2):
        optimizer.zero_grad()
        functional.cross_entropy(model(tokens, torch.tensor([3, 4, 2])), torch.tensor([0, 2, 1])).backward()
        optimizer.step()
    return values(model)


def transformer():
    torch.manual_seed(2)
    layer = nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16, dropout=0.1, batch_first=True)
    model = nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)
    optimizer = optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.1)
    mask = nn.Transformer.generate_square_subsequent_mask(5)
    x = torch.randn(3, 5, 8)
    for _ in range(2):
        optimizer.zero_grad()
        model(x, mask=mask, is_causal=True).pow(2).mean().backward()
        optimizer.step()
    return values(model)


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        ctx.scale = scale
        return x * x * scale

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 * x * ctx.scale, None


def custom():
    v = torch.tensor([1.0, 2.0], requires_grad=True)
    Square.apply(v, 3.0).sum().backward()
    return [v.grad]


def lbfgs():
    w = torch.zeros(2, requires_grad=True)
    optimizer = optim.LBFGS([w], lr=1.0, max_iter=20, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = ((w - torch.tensor([1.0, 2.0])) ** 2).sum() + w.exp().sum()
        loss.backward()
        return loss

    return [optimizer.step(closure), w]


class Tied(nn.Module):
    def __init__(self, vocab, width):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.out = nn.Linear(width, vocab, bias=False)
        self.out.weight = self.embed.weight

    def forward(self, tokens):
        return self.out(self.embed(tokens))


def tied():
    torch.manual_seed(3)
    model = Tied(7, 4)
    optimizer = optim.SGD(model.parameters(), lr=0.5, momentum=0.9, nesterov=True)
    for _ in range(3):
        optimizer.zero_grad()
        functional.cross_entropy(model(torch.tensor([1, 2, 3])), torch.tensor([2, 3, 4])).backward()
        optimizer.step()
    return [len(list(model.parameters())), list(model.state_dict()), *values(model)]


def accumulated():
    torch.manual_seed(4)
    model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))
    optimizer = optim.Adagrad(model.parameters(), lr=0.1)
    optimizer.zero_grad()
    for i in range(6):
        loss = functional.mse_loss(model(torch.randn(4, 3)), torch.randn(4, 1)) / 3
        loss.backward()
        if (i + 1) % 3 == 0:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
    return values(model)


def fine_tuned():
    torch.manual_seed(5)
    model = Net(4)
    for p in model.conv1.parameters():
        p.requires_grad = False
    model.conv2.requires_grad_(False)
    model.fc = nn.Linear(8 * 2 * 2, 2)
    optimizer = optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1, weight_decay=1e-4)
    scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
    for _ in range(3):
        optimizer.zero_grad()
        functional.cross_entropy(model(torch.randn(2, 1, 8, 8)), torch.tensor([0, 1])).backward()
        optimizer.step()
        scheduler.step()
    return [scheduler.get_last_lr(), *values(model)]


class Router(nn.Module):
    def __init__(self):
        super().__init__()
        deep = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
        self.routes = nn.ModuleDict([("wide", nn.Linear(2, 6)), ("same", nn.Identity()), ("deep", deep)])
        self.used = []

    def forward(self, x, way):
        self.used = [*self.used, way]
        return self.routes[way](x)


def routed():
    torch.manual_seed(6)
    model = Router()
    outputs = [model(torch.ones(1, 2), way) for way in ("wide", "same", "deep", "wide")]
    return [model.used, [name for name, _ in model.named_modules()], *outputs]


def averaged():
    torch.manual_seed(7)
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    ema = optim.swa_utils.AveragedModel(model, multi_avg_fn=optim.swa_utils.get_ema_multi_avg_fn(0.9))
    optimizer = optim.NAdam(model.parameters(), lr=0.1)
    for _ in range(4):
        optimizer.zero_grad()
        model(torch.randn(5, 3)).sum(dim=1).exp().mean().backward()
        optimizer.step()
        ema.update_parameters(model)
    optim.swa_utils.update_bn([torch.randn(5, 3), torch.randn(5, 3)], ema)
    return [ema.n_averaged, *values(ema.module), ema.module[1].running_mean]


PROGRAMS = [cnn, packed, transformer, custom, lbfgs, tied, accumulated, fine_tuned, routed, averaged]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_matches_python(older, program):
    ours, theirs = getattr(older, program.__name__)(), program()
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs):
        assert equal(list(mine) if isinstance(other, list) else mine, other)
