"""PyTorch's criterion: two small networks learn MNIST to more than 80 % by SGD in three epochs, one with dropout, one
with batch norm (test/cpp/api/integration.cpp).

The files are MNIST's if they exist in data/MNIST/raw; otherwise scikit-learn's digits, enlarged and written in the same
format. There are 42 times fewer of those, so there are more epochs. The first losses match Python.
"""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from embedded_simple import ROOT, run, torch

datasets = pytest.importorskip("torchvision.datasets", reason="this Python has no torchvision")
from torch import nn  # noqa: E402
from torchvision.transforms import v2  # noqa: E402

OURS = run(
    """
    use torch
    use torch.nn
    use torch.utils.data.{DataLoader}
    use vision.datasets.{MNIST}
    use vision.transforms as t

    class WithDropout(nn.Module):
        fn init():
            self.conv1 = nn.Conv2d(1, 10, 5)
            self.conv2 = nn.Conv2d(10, 20, 5)
            self.drop2d = nn.Dropout2d(0.3)
            self.linear1 = nn.Linear(320, 50)
            self.drop = nn.Dropout(0.3)
            self.linear2 = nn.Linear(50, 10)
        fn forward(x):
            val small = torch.max_pool2d(self.conv1(x), 2).relu()
            val smaller = torch.max_pool2d(self.drop2d(self.conv2(small)), 2).relu()
            torch.log_softmax(self.linear2(self.drop(self.linear1(smaller.view(-1, 320)).relu())), 1)

    class WithBatchNorm(nn.Module):
        fn init():
            self.conv1 = nn.Conv2d(1, 10, 5)
            self.norm1 = nn.BatchNorm2d(10)
            self.conv2 = nn.Conv2d(10, 20, 5)
            self.linear1 = nn.Linear(320, 50)
            self.norm2 = nn.BatchNorm1d(50)
            self.linear2 = nn.Linear(50, 10)
        fn forward(x):
            val small = self.norm1(torch.max_pool2d(self.conv1(x), 2).relu())
            val smaller = torch.max_pool2d(self.conv2(small), 2).relu()
            torch.log_softmax(self.linear2(self.norm2(self.linear1(smaller.view(-1, 320)).relu())), 1)

    fn loader(root, train): DataLoader(MNIST(root, train, t.ToDtype(torch.float32, scale: true)),
        batch_size: if train: 32 else: 360, shuffle: train)

    fn trained(root, name, epochs):
        torch.manual_seed(1)
        val model = if name == "dropout": WithDropout() else: WithBatchNorm()
        val optimizer = torch.optim.SGD(model.parameters(), lr: 0.01, momentum: 0.5)
        val losses = []
        for _ in 0..epochs:
            for (x, y) in loader(root, true):
                optimizer.zero_grad()
                val loss = torch.nll_loss(model(x), y)
                loss.backward()
                optimizer.step()
                losses.push(loss.item())
        (losses, share_right(model.eval(), root))

    fn share_right(model, root):
        val shares = [for (x, y) in loader(root, false): (model(x).argmax(dim: 1) == y)]
        torch.cat(shares).float().mean().item()
    """
)
COMPARED = 20  # steps; later, rounding accumulates


class WithDropout(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2, self.drop2d = nn.Conv2d(1, 10, 5), nn.Conv2d(10, 20, 5), nn.Dropout2d(0.3)
        self.linear1, self.drop, self.linear2 = nn.Linear(320, 50), nn.Dropout(0.3), nn.Linear(50, 10)

    def forward(self, x):
        small = torch.max_pool2d(self.conv1(x), 2).relu()
        smaller = torch.max_pool2d(self.drop2d(self.conv2(small)), 2).relu()
        return torch.log_softmax(self.linear2(self.drop(self.linear1(smaller.view(-1, 320)).relu())), 1)


class WithBatchNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.norm1, self.conv2 = nn.Conv2d(1, 10, 5), nn.BatchNorm2d(10), nn.Conv2d(10, 20, 5)
        self.linear1, self.norm2, self.linear2 = nn.Linear(320, 50), nn.BatchNorm1d(50), nn.Linear(50, 10)

    def forward(self, x):
        small = self.norm1(torch.max_pool2d(self.conv1(x), 2).relu())
        smaller = torch.max_pool2d(self.conv2(small), 2).relu()
        return torch.log_softmax(self.linear2(self.norm2(self.linear1(smaller.view(-1, 320)).relu())), 1)


MODELS = {"dropout": WithDropout, "batch norm": WithBatchNorm}
EPOCHS = {"dropout": 16, "batch norm": 2}


def write_idx(path: Path, values: torch.Tensor) -> None:
    path.write_bytes(struct.pack(f">I{values.dim()}I", 8 << 8 | values.dim(), *values.shape) + values.numpy().tobytes())


def write_digits(folder: Path) -> None:
    digits = pytest.importorskip("sklearn.datasets", reason="there is no MNIST, and no scikit-learn").load_digits()
    small = torch.from_numpy(digits.images).float().unsqueeze(1) / 16
    images = (nn.functional.interpolate(small, (28, 28), mode="bilinear").squeeze(1) * 255).to(torch.uint8)
    labels = torch.from_numpy(digits.target).to(torch.uint8)
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
    for part, rows in (("train", order[:1437]), ("t10k", order[1437:])):
        write_idx(folder / f"{part}-images-idx3-ubyte", images[rows])
        write_idx(folder / f"{part}-labels-idx1-ubyte", labels[rows])


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    if (ROOT / "data/MNIST/raw/train-images-idx3-ubyte").exists():
        return ROOT / "data"
    made = tmp_path_factory.mktemp("digits")
    (made / "MNIST/raw").mkdir(parents=True)
    write_digits(made / "MNIST/raw")
    return made


def first_losses(root: Path, name: str) -> list[float]:
    torch.manual_seed(1)
    model = MODELS[name]()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.5)
    to_floats = v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])
    data = datasets.MNIST(root, train=True, transform=to_floats)
    losses = []
    for x, y in torch.utils.data.DataLoader(data, 32, shuffle=True):
        optimizer.zero_grad()
        loss = nn.functional.nll_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if len(losses) == COMPARED:
            return losses
    raise AssertionError("too few batches")


@pytest.mark.parametrize("name", MODELS)
def test_meets_pytorchs_mnist_criterion(root, name):
    is_whole = root == ROOT / "data"
    losses, accuracy = OURS.trained(str(root), name, 3 if is_whole else EPOCHS[name])
    assert list(losses)[:COMPARED] == pytest.approx(first_losses(root, name), rel=1e-4)
    assert accuracy > 0.8
