"""A PixelCNN with masked convolutions, which draws images pixel by pixel."""

import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


class MaskedConv2d(nn.Conv2d):
    def __init__(self, mask_type, *args, **kwargs):
        super(MaskedConv2d, self).__init__(*args, **kwargs)
        assert mask_type in {"A", "B"}
        self.register_buffer("mask", self.weight.data.clone())
        _, _, kH, kW = self.weight.size()
        self.mask.fill_(1)
        self.mask[:, :, kH // 2, kW // 2 + (mask_type == "B"):] = 0
        self.mask[:, :, kH // 2 + 1:] = 0

    def forward(self, x):
        self.weight.data *= self.mask
        return super(MaskedConv2d, self).forward(x)


def layers(fm, depth):
    def block(kind, inputs, size):
        yield MaskedConv2d(kind, inputs, fm, size, 1, size // 2, bias=False)
        yield nn.BatchNorm2d(fm)
        yield nn.ReLU(True)

    yield from block("A", 1, 5)
    for _ in range(depth):
        yield from block("B", fm, 3)
    yield nn.Conv2d(fm, 2, 1)


def stripes(count, size):
    """Black and white images with horizontal or vertical stripes and some noise."""
    images = torch.zeros(count, 1, size, size)
    for i in range(count):
        if i % 2:
            images[i, 0, ::2] = 1
        else:
            images[i, 0, :, ::2] = 1
    flips = torch.rand(count, 1, size, size) < 0.05
    return torch.where(flips, 1 - images, images)


def bits_per_pixel(net, loader):
    net.eval()
    total, pixels = 0.0, 0
    with torch.no_grad():
        for (batch,) in loader:
            target = batch[:, 0].long()
            total += F.cross_entropy(net(batch), target, reduction="sum").item()
            pixels += target.numel()
    return total / pixels / 0.6931471805599453


@torch.no_grad()
def draw(net, count, size):
    net.eval()
    sample = torch.zeros(count, 1, size, size)
    for i in range(size):
        for j in range(size):
            probs = F.softmax(net(sample)[:, :, i, j], dim=1)
            sample[:, :, i, j] = torch.multinomial(probs, 1).float()
    return sample


torch.manual_seed(2)
train = DataLoader(TensorDataset(stripes(48, 6)), batch_size=16, shuffle=True)
test = DataLoader(TensorDataset(stripes(16, 6)), batch_size=16)
net = nn.Sequential(*layers(8, 2))
print(sum(p.numel() for p in net.parameters()), " ".join([type(m).__name__ for m in net][:3]))
optimizer = optim.Adam(net.parameters(), lr=0.01)
for epoch in range(6):
    net.train(True)
    losses = []
    for batch, in train:
        target = batch[:, 0].long()
        loss = F.cross_entropy(net(batch), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print("epoch={}; nll_train={:.4f}; bits_test={:.4f}".format(
        epoch, sum(losses) / len(losses), bits_per_pixel(net, test)))
for row in draw(net, 2, 6)[0, 0]:
    print("".join("#" if pixel > 0 else "." for pixel in row))
