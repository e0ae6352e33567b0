"""The loop of an image classifier: meters, top-k accuracy, checkpoints and resuming."""

import os
from enum import Enum

import torch
import torch.nn as nn
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, Subset, TensorDataset


class Summary(Enum):
    NONE = 0
    AVERAGE = 1


class AverageMeter(object):
    def __init__(self, name, fmt=".3f", summary_type=Summary.AVERAGE):
        self.name = name
        self.fmt = fmt
        self.summary_type = summary_type
        self.reset()

    def reset(self):
        self.val = 0
        self.avg = 0
        self.sum = 0
        self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count

    def __str__(self):
        return f"{self.name} {self.val:.3f} ({self.avg:.3f})"

    def summary(self):
        if self.summary_type is Summary.NONE:
            return ""
        elif self.summary_type is Summary.AVERAGE:
            return f"{self.name} {self.avg:.3f}"
        else:
            raise ValueError(f"invalid summary type {self.summary_type}")


class ProgressMeter(object):
    def __init__(self, num_batches, meters, prefix=""):
        self.num_batches = num_batches
        self.meters = meters
        self.prefix = prefix

    def display(self, batch):
        entries = [self.prefix + f"[{batch}/{self.num_batches}]"]
        entries += [str(meter) for meter in self.meters]
        print("\t".join(entries))

    def display_summary(self):
        entries = [" *"]
        entries += [meter.summary() for meter in self.meters]
        print(" ".join(entries))


def accuracy(output, target, topk=(1,)):
    with torch.no_grad():
        maxk = max(topk)
        batch_size = target.size(0)
        _, pred = output.topk(maxk, 1, True, True)
        pred = pred.t()
        correct = pred.eq(target.view(1, -1).expand_as(pred))
        res = []
        for k in topk:
            correct_k = correct[:k].reshape(-1).float().sum(0, keepdim=True)
            res.append(correct_k.mul_(100.0 / batch_size))
        return res


def run(loader, model, criterion, optimizer, epoch):
    losses = AverageMeter("Loss", ".4e")
    top1 = AverageMeter("Acc@1", ".2f")
    top5 = AverageMeter("Acc@5", ".2f", Summary.NONE)
    progress = ProgressMeter(len(loader), [losses, top1, top5], prefix=f"Epoch: [{epoch}]")
    model.train()
    for i, (images, target) in enumerate(loader):
        output = model(images)
        loss = criterion(output, target)
        acc1, acc5 = accuracy(output, target, topk=(1, 5))
        losses.update(loss.item(), images.size(0))
        top1.update(acc1[0].item(), images.size(0))
        top5.update(acc5[0].item(), images.size(0))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % 2 == 0:
            progress.display(i + 1)
    progress.display_summary()
    return top1.avg


def make():
    model = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 8))
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=1e-4)
    return model, optimizer, StepLR(optimizer, step_size=2, gamma=0.1)


torch.manual_seed(0)
target = torch.arange(40) % 8
dataset = TensorDataset(torch.randn(40, 3, 6, 6) + target.view(-1, 1, 1, 1) * 0.1, target)
loader = DataLoader(Subset(dataset, list(range(32))), batch_size=8, shuffle=True)
criterion = nn.CrossEntropyLoss()
model, optimizer, scheduler = make()
best_acc1 = 0
for epoch in range(2):
    acc1 = run(loader, model, criterion, optimizer, epoch)
    scheduler.step()
    is_best = acc1 > best_acc1
    best_acc1 = max(acc1, best_acc1)
    torch.save({
        "epoch": epoch + 1,
        "arch": "small",
        "state_dict": model.state_dict(),
        "best_acc1": best_acc1,
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
    }, "checkpoint.pth.tar")
    print("best" if is_best else "not best")

model, optimizer, scheduler = make()
if os.path.isfile("checkpoint.pth.tar"):
    checkpoint = torch.load("checkpoint.pth.tar", map_location="cpu")
    model.load_state_dict(checkpoint["state_dict"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    scheduler.load_state_dict(checkpoint["scheduler"])
    print(f"=> loaded checkpoint (epoch {checkpoint['epoch']}, best {checkpoint['best_acc1']:.3f})")
    run(loader, model, criterion, optimizer, checkpoint["epoch"])
    print([group["lr"] for group in optimizer.param_groups])
