"""Typical PyTorch programs in Simple (pytorch_programs.spl) and in Python: the same results, bit for bit."""

from __future__ import annotations

from pathlib import Path

import pytest
from embedded_simple import equal, run_file, torch
from torch import nn, optim
from torch.nn import functional
from torch.optim import lr_scheduler
from torch.optim.swa_utils import SWALR, AveragedModel, get_ema_multi_avg_fn, update_bn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset

OURS = run_file(Path(__file__).with_name("pytorch_programs.spl"))
X = torch.linspace(-1.0, 1.0, 24).reshape(8, 3)
Y = (X * X).sum(1, keepdim=True)


def values(model):
    return [p.detach().clone() for p in model.parameters()]


class Blocks(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.ModuleList([nn.Linear(3, 3), nn.ReLU()]) for _ in range(2)])
        self.heads = nn.ModuleDict({"a": nn.Linear(3, 1), "b": nn.Linear(3, 1)})

    def forward(self, x):
        for block in self.blocks:
            for layer in block:
                x = layer(x)
        return self.heads["a"](x) + self.heads["b"](x)


def nested_lists():
    torch.manual_seed(1)
    model = Blocks()
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        functional.mse_loss(model(X), Y).backward()
        optimizer.step()
    return list(model.state_dict()), values(model)


class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.scales = nn.ParameterList([nn.Parameter(torch.full([3], 0.5 + i)) for i in range(3)])
        self.named = nn.ParameterDict({"bias": nn.Parameter(torch.zeros(1))})

    def forward(self, x):
        total = self.named["bias"]
        for scale in self.scales:
            total = total + (x * scale).tanh().sum(1, keepdim=True)
        return total


def parameter_lists():
    model = Mixture()
    optimizer = optim.Adam(model.parameters(), lr=0.05)
    for _ in range(4):
        optimizer.zero_grad()
        (model(X) - Y).pow(2).mean().backward()
        optimizer.step()
    return [name for name, _ in model.named_parameters()], values(model)


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(7, 4)
        self.head = nn.Linear(4, 7, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids):
        return self.head(self.embed(ids))


def tied_weights():
    torch.manual_seed(2)
    model = Tied()
    ids = torch.arange(6)
    optimizer = optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
    for _ in range(3):
        loss = functional.cross_entropy(model(ids), (ids + 1) % 7)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    count = len(list(model.parameters()))
    return count, list(model.state_dict()), isinstance(model.head.weight, nn.Parameter), values(model)


def freezing():
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 1))
    for p in model[0].parameters():
        p.requires_grad = False
    model[1].eval()
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = optim.SGD(trained, lr=0.1, weight_decay=0.01)
    for _ in range(3):
        optimizer.zero_grad()
        functional.mse_loss(model(X), Y).backward()
        optimizer.step()
    return len(trained), [p.grad is None for p in model.parameters()], values(model)


def param_groups():
    torch.manual_seed(4)
    model = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 1))
    decayed, others = [], []
    for name, p in model.named_parameters():
        (others if p.ndim < 2 or name.endswith("bias") else decayed).append(p)
    groups = [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0, "lr": 0.02}]
    optimizer = optim.AdamW(groups, lr=0.01)
    for _ in range(3):
        optimizer.zero_grad(set_to_none=True)
        functional.l1_loss(model(X), Y).backward()
        optimizer.step()
    for group in optimizer.param_groups:
        group["lr"] = group["lr"] * 0.1
    functional.l1_loss(model(X), Y).backward()
    optimizer.step()
    return [g["lr"] for g in optimizer.param_groups], values(model)


def schedulers():
    torch.manual_seed(5)
    model = nn.Linear(3, 1)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    warmup = lr_scheduler.LinearLR(optimizer, start_factor=0.1, total_iters=3)
    cosine = lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
    both = lr_scheduler.SequentialLR(optimizer, schedulers=[warmup, cosine], milestones=[3])
    rates = []
    for _ in range(7):
        optimizer.zero_grad()
        functional.mse_loss(model(X), Y).backward()
        optimizer.step()
        both.step()
        rates.append(both.get_last_lr()[0])
    optimizer.param_groups[0]["lr"] = 0.1
    one, two = lr_scheduler.ExponentialLR(optimizer, 0.9), lr_scheduler.StepLR(optimizer, 2)
    chained = lr_scheduler.ChainedScheduler([one, two])
    for _ in range(3):
        optimizer.step()
        chained.step()
        rates.append(optimizer.param_groups[0]["lr"])
    plateau = lr_scheduler.ReduceLROnPlateau(optimizer, mode="min", factor=0.5, patience=0)
    for loss in [1.0, 0.5, 0.7, 0.6]:
        plateau.step(loss)
        rates.append(optimizer.param_groups[0]["lr"])
    return rates, values(model)


def accumulation():
    torch.manual_seed(6)
    model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))
    optimizer = optim.RMSprop(model.parameters(), lr=0.01)
    norms = []
    optimizer.zero_grad()
    for i, (x, y) in enumerate(DataLoader(TensorDataset(X, Y), batch_size=2)):
        (functional.mse_loss(model(x), y) / 2).backward()
        if (i + 1) % 2 == 0:
            norms.append(nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.5).item())
            optimizer.step()
            optimizer.zero_grad()
    return norms, values(model)


def averages():
    torch.manual_seed(7)
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 1))
    loader = DataLoader(TensorDataset(X, Y), batch_size=4)
    swa = AveragedModel(model)
    ema = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9), use_buffers=True)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    scheduler = SWALR(optimizer, swa_lr=0.05, anneal_epochs=2)
    for _ in range(3):
        for x, y in loader:
            optimizer.zero_grad()
            functional.mse_loss(model(x), y).backward()
            optimizer.step()
        swa.update_parameters(model)
        ema.update_parameters(model)
        scheduler.step()
    update_bn(loader, swa)
    swa.eval()
    ema.eval()
    names = list(swa.state_dict())
    return optimizer.param_groups[0]["lr"], swa(X).detach(), ema(X).detach(), names, swa.n_averaged.item()


class Clamped(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, low, high):
        ctx.save_for_backward(x)
        ctx.low, ctx.high = low, high
        return x.clamp(low, high)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * ((x >= ctx.low) & (x <= ctx.high)), None, None


def custom_function():
    x = torch.tensor([-2.0, -0.5, 0.5, 2.0], requires_grad=True)
    y = Clamped.apply(x, -1.0, 1.0)
    (y * torch.tensor([1.0, 2.0, 3.0, 4.0])).sum().backward()
    return y.detach(), x.grad


class Deep(nn.Module):
    def __init__(self, is_cheap):
        super().__init__()
        self.is_cheap = is_cheap
        self.layers = nn.ModuleList([nn.Sequential(nn.Linear(3, 3), nn.GELU(), nn.Dropout(0.3)) for _ in range(3)])

    def forward(self, x):
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False) if self.is_cheap else layer(x)
        return x.sum()


def checkpointing():
    found = []
    for is_cheap in (False, True):
        torch.manual_seed(8)
        model = Deep(is_cheap)
        model(X).backward()
        found.append([p.grad for p in model.parameters()])
    assert equal(found[0], found[1])
    return found


def hooks():
    torch.manual_seed(9)
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    shapes = []
    handles = [
        model[1].register_forward_hook(lambda m, a, output: shapes.append(f"relu {list(output.shape)}")),
        model.register_forward_pre_hook(lambda m, args: (args[0] * 2.0,)),
        model[2].register_full_backward_hook(lambda m, i, o: shapes.append(f"grad {list(o[0].shape)}")),
        model[0].weight.register_hook(lambda g: g * 10.0),
    ]
    model(X).sum().backward()
    first = model[0].weight.grad.clone()
    for handle in handles:
        handle.remove()
    model.zero_grad()
    model(X).sum().backward()
    return shapes, first, model[0].weight.grad


def training(steps, begin, end):
    torch.manual_seed(10)
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Dropout(0.2), nn.Linear(4, 1))
    optimizer = optim.AdamW(model.parameters(), lr=0.05)
    scheduler = lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=10)
    first = 0
    if begin is not None:
        state = torch.load(begin)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        scheduler.load_state_dict(state["scheduler"])
        torch.set_rng_state(state["rng"])
        first = state["step"]
    for _ in range(first, steps):
        optimizer.zero_grad()
        functional.mse_loss(model(X), Y).backward()
        optimizer.step()
        scheduler.step()
    if end is not None:
        parts = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
        state = {name: part.state_dict() for name, part in parts.items()}
        torch.save({**state, "rng": torch.get_rng_state(), "step": steps}, end)
    return values(model)


def functional_calls():
    torch.manual_seed(11)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    params = {name: p.detach().clone().requires_grad_() for name, p in model.named_parameters()}
    loss = functional.mse_loss(torch.func.functional_call(model, params, (X,)), Y)
    grads = torch.autograd.grad(loss, list(params.values()), create_graph=True)
    adapted = {name: p - grad * 0.1 for (name, p), grad in zip(params.items(), grads)}
    outer = functional.mse_loss(torch.func.functional_call(model, adapted, X), Y)
    outer.backward()
    return outer.detach(), [p.grad for p in params.values()]


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).transpose(-1, -2)


def parametrized():
    torch.manual_seed(12)
    layer = nn.Linear(3, 3)
    nn.utils.parametrize.register_parametrization(layer, "weight", Symmetric())
    optimizer = optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        layer(X).pow(2).mean().backward()
        optimizer.step()
    out = layer(X).detach()
    nn.utils.parametrize.remove_parametrizations(layer, "weight")
    return out, layer.weight.detach(), sorted(layer.state_dict())


def initialize(m):
    if isinstance(m, nn.Linear):
        nn.init.kaiming_normal_(m.weight, nonlinearity="relu")
        nn.init.zeros_(m.bias)


def applied():
    torch.manual_seed(13)
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    model.apply(initialize)
    total = sum(p.numel() for p in model.parameters() if p.requires_grad)
    model.to(torch.float64)
    wide = model(X.double()).detach()
    model.bfloat16()
    half = model(X.bfloat16()).detach()
    model.float()
    return total, wide, half.float(), str(model), next(model.parameters()).dtype == torch.float32


def validation():
    torch.manual_seed(14)
    model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 2))
    labels = (Y.squeeze(1) > 0.5).long()
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    loader = DataLoader(TensorDataset(X, labels), batch_size=4, shuffle=True)
    history = []
    for _ in range(3):
        model.train()
        running = 0.0
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = criterion(model(inputs), targets)
            loss.backward()
            optimizer.step()
            running += loss.item() * inputs.size(0)
        model.eval()
        correct = 0
        with torch.no_grad():
            for inputs, targets in loader:
                correct += (model(inputs).argmax(dim=1) == targets).sum().item()
        history.append((running / X.size(0), correct))
    return history


PROGRAMS = [
    *(nested_lists, parameter_lists, tied_weights, freezing, param_groups, schedulers, accumulation, averages),
    *(custom_function, checkpointing, hooks, functional_calls, parametrized, applied, validation),
]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_program(program):
    expected = program()
    assert equal(getattr(OURS, program.__name__)(), expected)


def test_training_resumes_from_a_file(tmp_path):
    whole = training(6, None, None)
    training(3, None, tmp_path / "theirs.pt")
    ours, rest = OURS.resumed(str(tmp_path))
    assert equal(ours, whole)
    assert equal(rest, whole)
    # Each side resumes from the other's file.
    assert equal(training(6, tmp_path / "half.pt", None), whole)
    assert equal(OURS.training(6, str(tmp_path / "theirs.pt"), None, ""), whole)
