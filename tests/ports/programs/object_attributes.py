"""Objects that receive attributes: tagged parameters, replaced methods, properties and named layers."""

import enum
import types
import torch.nn as nn
import torch.utils.data
from dataclasses import dataclass, FrozenInstanceError
from typing import Callable, Dict, List, Optional

Batch = Dict[str, torch.Tensor]
Hook = Optional[Callable[[torch.Tensor], None]]


class Mode(enum.Enum):
    TRAIN = enum.auto()
    VALID = enum.auto()


@dataclass(frozen=True)
class Config:
    lr: float = 0.1
    steps: int = 3


class Scaled(nn.Module):
    def __init__(self, scale: float = 1):
        super().__init__()
        self._scale = scale
        self.linear = nn.Linear(4, 4)

    @property
    def scale(self):
        return self._scale

    @scale.setter
    def scale(self, value):
        self._scale = 2 * value

    def forward(self, x):
        return self.linear(x) * self.scale


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList()
        for i in range(2):
            self.heads.add_module("head_%d" % i, nn.Linear(4, i + 1))

    def compute_loss(self, x, target):
        return sum([((head(x) - target) ** 2).mean() for head in self.heads])


class Node:
    value: int
    registry = {}

    def __init__(self, value: int, parent: Optional["Node"] = None):
        self.value = value
        self.parent = parent
        Node.registry[value] = self

    def __add__(self, other) -> "Node":
        value = self.value + (other.value if isinstance(other, Node) else other)
        return type(self)(value, self)

    __radd__ = __add__


class Leaf(Node):
    pass


class Countdown:
    def __init__(self, start):
        self.start = start

    def __iter__(self):
        self.at = self.start
        return self

    def __next__(self):
        if self.at == 0:
            raise StopIteration
        self.at -= 1
        return self.at

    next = __next__


torch.manual_seed(0)
config = Config(steps=4)
try:
    config.lr = 1.0
except FrozenInstanceError as error:
    print("frozen:", error)
model = nn.Sequential(Scaled(), nn.Tanh())
model[0].scale = 1.5
model[0].linear.bias.no_decay = True
model.mode = Mode.TRAIN
heads = Heads()
groups = [
    {"params": [p for p in model.parameters() if hasattr(p, "no_decay")], "weight_decay": 0.0},
    {"params": [p for p in model.parameters() if not hasattr(p, "no_decay")], "weight_decay": 0.1},
    {"params": list(heads.parameters())},
]
optimizer = torch.optim.SGD(groups, lr=config.lr)
batch: Batch = {"x": torch.randn(8, 4), "target": torch.randn(8, 1)}


def doubled(layer, x):
    layer.calls += 1
    return torch.tanh(x) * 2


for step in range(config.steps):
    if step == 2:
        model[1].calls = 0
        model[1].forward = types.MethodType(doubled, model[1])
    loss = heads.compute_loss(model(batch["x"]), batch["target"])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("%d: loss %.6f, scale %.1f" % (step, loss.item(), model[0].scale))
print(model.mode.name, model[1].calls, len(heads.heads), *heads.state_dict().keys())
total = 3 + Node(4) + Leaf(5)
print(total.value, total.parent.value, sorted(Leaf.registry.keys()), list(Countdown(3)), sum(Countdown(4)))
print(
    "a string that \
continues",
    list(range(6)[::-2]),
    """tab\tand line\n""" + "end",
)
