"""ResNet-18 with a 3 x 3 stem on images of 32 x 32, batches of 4, SGD with momentum."""

from __future__ import annotations

import torch
from torch import nn
from worker import fused, seeded_batches, serve


class BasicBlock(nn.Module):
    def __init__(self, channels: int, planes: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, planes, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(planes, planes, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = None
        if stride != 1 or channels != planes:
            self.downsample = nn.Sequential(nn.Conv2d(channels, planes, 1, stride, bias=False), nn.BatchNorm2d(planes))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        residual = x if self.downsample is None else self.downsample(x)
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(y + residual)


def layer(channels: int, planes: int, stride: int) -> nn.Sequential:
    return nn.Sequential(BasicBlock(channels, planes, stride), BasicBlock(planes, planes, 1))


class ResNet18(nn.Module):
    def __init__(self, classes: int) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True))
        self.layers = nn.Sequential(layer(64, 64, 1), layer(64, 128, 2), layer(128, 256, 2), layer(256, 512, 2))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.output = nn.Linear(512, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.output(self.pool(self.layers(self.stem(x))).flatten(1))


batches = seeded_batches(4, lambda: (torch.randn(4, 3, 32, 32), torch.randint(0, 10, (4,))))
model = ResNet18(10)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, **fused())
serve(optimizer, lambda x, y: criterion(model(x), y), batches)
