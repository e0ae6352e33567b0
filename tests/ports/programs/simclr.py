"""Contrastive learning of representations (NT-Xent), then a linear probe; an EMA of the weights is averaged."""

import math
from collections import OrderedDict, defaultdict

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import LambdaLR
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn


class ContrastiveLearningViewGenerator(object):
    """Take two random views of one sample as the query and key."""

    def __init__(self, base_transform, n_views=2):
        self.base_transform = base_transform
        self.n_views = n_views

    def __call__(self, x):
        return [self.base_transform(x) for i in range(self.n_views)]


class AddNoise:
    def __init__(self, std=0.1):
        self.std = std

    def __call__(self, x):
        return x + torch.randn(x.size()) * self.std

    def __repr__(self):
        return self.__class__.__name__ + "(std={0})".format(self.std)


class Views(torch.utils.data.Dataset):
    def __init__(self, data, targets, transform):
        self.data, self.targets, self.transform = data, targets, transform

    def __getitem__(self, index):
        return self.transform(self.data[index]), self.targets[index]

    def __len__(self):
        return self.data.shape[0]


class Encoder(nn.Module):
    def __init__(self, base_model, out_dim):
        super(Encoder, self).__init__()
        self.model_dict = {"small": [8, 16], "large": [8, 32]}
        self.backbone = self._get_basemodel(base_model)
        dim_mlp = self.backbone.fc.in_features
        self.backbone.fc = nn.Sequential(nn.Linear(dim_mlp, dim_mlp), nn.ReLU(), self.backbone.fc)

    def _get_basemodel(self, model_name):
        widths = self.model_dict[model_name]
        return nn.Sequential(
            OrderedDict([("l1", nn.Linear(widths[0], widths[1])), ("act", nn.GELU()), ("fc", nn.Linear(widths[1], 6))])
        )

    def forward(self, x):
        return self.backbone(x)


class AverageMeter(object):
    """Computes and stores the average and current value"""

    def __init__(self):
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


def accuracy(output, target, topk=(1,)):
    """Computes the accuracy over the k top predictions for the specified values of k"""
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


class SimCLR(object):
    def __init__(self, *args, **kwargs):
        self.args = kwargs["args"]
        self.model = kwargs["model"]
        self.optimizer = kwargs["optimizer"]
        self.scheduler = kwargs["scheduler"]
        self.criterion = torch.nn.CrossEntropyLoss()

    def info_nce_loss(self, features):
        labels = torch.cat([torch.arange(self.args["batch_size"]) for i in range(self.args["n_views"])], dim=0)
        labels = (labels.unsqueeze(0) == labels.unsqueeze(1)).float()
        features = F.normalize(features, dim=1)
        similarity_matrix = torch.matmul(features, features.T)
        mask = torch.eye(labels.shape[0], dtype=torch.bool)
        labels = labels[~mask].view(labels.shape[0], -1)
        similarity_matrix = similarity_matrix[~mask].view(similarity_matrix.shape[0], -1)
        positives = similarity_matrix[labels.bool()].view(labels.shape[0], -1)
        negatives = similarity_matrix[~labels.bool()].view(similarity_matrix.shape[0], -1)
        logits = torch.cat([positives, negatives], dim=1)
        labels = torch.zeros(logits.shape[0], dtype=torch.long)
        logits = logits / self.args["temperature"]
        return logits, labels

    def train(self, train_loader):
        n_iter = 0
        ema = AveragedModel(self.model, multi_avg_fn=get_ema_multi_avg_fn(0.9))
        meters = defaultdict(AverageMeter)
        for epoch_counter in range(self.args["epochs"]):
            for images, _ in train_loader:
                images = torch.cat(images, dim=0)
                features = self.model(images)
                logits, labels = self.info_nce_loss(features)
                loss = self.criterion(logits, labels)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                ema.update_parameters(self.model)
                top1, top5 = accuracy(logits, labels, topk=(1, 5))
                meters["loss"].update(loss.item(), images.size(0))
                meters["top5"].update(top5[0].item())
                n_iter += 1
            self.scheduler.step()
            print(
                f"Epoch: {epoch_counter}\tLoss: {loss:.6f}\tTop1 accuracy: {top1[0]}\tlr {self.scheduler.get_last_lr()[0]:.6f}"
            )
        for k, m in meters.items():
            print(k, f"{m.avg:.6f}", m.count)
        return ema


def get_cosine_schedule_with_warmup(optimizer, num_warmup_steps, num_training_steps, num_cycles=0.5, last_epoch=-1):
    def lr_lambda(current_step):
        if current_step < num_warmup_steps:
            return float(current_step) / float(max(1, num_warmup_steps))
        progress = float(current_step - num_warmup_steps) / float(max(1, num_training_steps - num_warmup_steps))
        return max(0.0, 0.5 * (1.0 + math.cos(math.pi * float(num_cycles) * 2.0 * progress)))

    return LambdaLR(optimizer, lr_lambda, last_epoch)


torch.manual_seed(7)
centers = torch.randn(4, 8) * 2
targets = torch.arange(32) % 4
data = centers[targets] + 0.2 * torch.randn(32, 8)
transform = ContrastiveLearningViewGenerator(AddNoise(0.3), 2)
print(transform.base_transform)
loader = torch.utils.data.DataLoader(Views(data, targets, transform), batch_size=8, shuffle=True, drop_last=True)
model = Encoder(base_model="small", out_dim=6)
print(model)
optimizer = torch.optim.Adam(model.parameters(), 0.01, weight_decay=1e-4)
scheduler = get_cosine_schedule_with_warmup(optimizer, 1, 5)
args = {"batch_size": 8, "n_views": 2, "temperature": 0.2, "epochs": 4}
simclr = SimCLR(model=model, optimizer=optimizer, scheduler=scheduler, args=args)
ema = simclr.train(loader)

checkpoint = {"state_dict": model.state_dict()}
state_dict = checkpoint["state_dict"]
for k in list(state_dict.keys()):
    if k.startswith("backbone."):
        if k.startswith("backbone") and not k.startswith("backbone.fc"):
            state_dict[k[len("backbone.") :]] = state_dict[k]
    del state_dict[k]
probe = nn.Sequential(OrderedDict([("l1", nn.Linear(8, 16)), ("act", nn.GELU()), ("fc", nn.Linear(16, 4))]))
log = probe.load_state_dict(state_dict, strict=False)
assert log.missing_keys == ["fc.weight", "fc.bias"]
for name, param in probe.named_parameters():
    if name not in ["fc.weight", "fc.bias"]:
        param.requires_grad = False
parameters = list(filter(lambda p: p.requires_grad, probe.parameters()))
assert len(parameters) == 2
optimizer = torch.optim.Adam(parameters, lr=0.1)
for epoch in range(5):
    logits = probe(data)
    loss = F.cross_entropy(logits, targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    (top1,) = accuracy(logits, targets)
    print(epoch, loss.item(), top1)
print(ema.n_averaged, sum(p.abs().sum() for p in ema.module.parameters()).item())
