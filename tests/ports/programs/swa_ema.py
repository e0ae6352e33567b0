"""Learning rate finder, EMA, SWA, gradient accumulation and a resumable loop."""

import copy
import io

import torch
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel, update_bn
from torch.utils.data import DataLoader, TensorDataset, random_split


class Meter:
    def __init__(self, name, fmt=":f"):
        self.name, self.fmt = name, fmt
        self.last = self.mean = self.total = 0.0
        self.count = 0

    def update(self, value, n=1):
        self.last = value
        self.total += value * n
        self.count += n
        self.mean = self.total / self.count

    def __str__(self):
        pattern = "{name} {last" + self.fmt + "} ({mean" + self.fmt + "})"
        return pattern.format(**self.__dict__)


class EMA:
    def __init__(self, model, decay=0.9):
        self.decay = decay
        self.shadow = {}
        self.backup = {}
        for name, p in model.named_parameters():
            if p.requires_grad:
                self.shadow[name] = p.data.clone()

    def update(self, model):
        for name, p in model.named_parameters():
            if p.requires_grad:
                assert name in self.shadow
                self.shadow[name] = (1.0 - self.decay) * p.data + self.decay * self.shadow[name]

    def apply_shadow(self, model):
        for name, p in model.named_parameters():
            self.backup[name] = p.data
            p.data = self.shadow[name]

    def restore(self, model):
        for name, p in model.named_parameters():
            p.data = self.backup[name]
        self.backup = {}


def make_model():
    return nn.Sequential(nn.Linear(5, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 3))


torch.manual_seed(3)
X = torch.randn(70, 5)
Y = (X[:, 0] + 2 * X[:, 1] > 0).long() + (X[:, 2] > 0.5).long()
train_set, val_set = random_split(TensorDataset(X, Y), [54, 16])
loader = DataLoader(train_set, batch_size=8, shuffle=True)
model = make_model()
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)

# learning rate finder
state = copy.deepcopy(model.state_dict())
finder = torch.optim.SGD(model.parameters(), lr=1e-4)
mult = (1.0 / 1e-4) ** (1 / (len(loader) - 1))
best, avg_loss, lrs = float("inf"), 0.0, []
for num, (x, y) in enumerate(loader, 1):
    loss = criterion(model(x), y)
    avg_loss = 0.8 * avg_loss + 0.2 * loss.item()
    smooth = avg_loss / (1 - 0.8**num)
    if smooth < best or num == 1:
        best = smooth
    lrs.append((smooth, finder.param_groups[0]["lr"]))
    finder.zero_grad()
    loss.backward()
    finder.step()
    for g in finder.param_groups:
        g["lr"] *= mult
print(f"best lr {min(lrs)[1]:.2e} of {len(lrs)}")
model.load_state_dict(state)

accum = 3
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=6)
swa_model, ema = AveragedModel(model), EMA(model)
swa_scheduler = SWALR(opt, swa_lr=0.05, anneal_epochs=2)
history = {"loss": [], "lr": []}
for epoch in range(6):
    losses = Meter("Loss", ":.4e")
    model.train()
    for i, (x, y) in enumerate(loader):
        loss = criterion(model(x), y) / accum
        loss.backward()
        losses.update(loss.item() * accum, x.size(0))
        if (i + 1) % accum == 0 or i + 1 == len(loader):
            norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            opt.zero_grad()
            ema.update(model)
    if epoch >= 4:
        swa_model.update_parameters(model)
        swa_scheduler.step()
    else:
        scheduler.step()
    history["loss"].append(losses.mean)
    history["lr"].append(opt.param_groups[0]["lr"])
    print(f"{epoch}", losses, f"{norm:.4f}", f"{history['lr'][-1]:.6f}")
update_bn(loader, swa_model)


@torch.no_grad()
def accuracy(m, data):
    m.eval()
    correct = 0
    for x, y in DataLoader(data, batch_size=5):
        correct += (m(x).argmax(1) == y).sum().item()
    return correct / len(data)


print("plain", accuracy(model, val_set), "swa", accuracy(swa_model, val_set))
ema.apply_shadow(model)
print("ema", accuracy(model, val_set), model[0].weight.norm().item())
ema.restore(model)
buf = io.BytesIO()
torch.save({"model": model.state_dict(), "opt": opt.state_dict(), "epoch": epoch, "history": history}, buf)
buf.seek(0)
ckpt = torch.load(buf)
model2 = make_model()
opt2 = torch.optim.SGD(model2.parameters(), lr=0.7, momentum=0.9, nesterov=True)
model2.load_state_dict(ckpt["model"])
opt2.load_state_dict(ckpt["opt"])
print(ckpt["epoch"], opt2.param_groups[0]["lr"], len(opt2.state_dict()["state"]), *ckpt["history"])
print(model2[0].weight.norm().item(), *sorted(swa_model.state_dict())[:3])
