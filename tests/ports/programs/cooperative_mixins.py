"""Mixins that call each other, a scope that ends the training early, and variables that outlive their loops."""

import torch
import torch.nn.functional as F
from torch import nn


class Describes:
    def describe(self):
        return type(self).__name__


class Scales(Describes):
    factor = 2.0

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.calls = 0

    def transform(self, x):
        self.calls += 1
        return super().transform(x) * self.factor

    def describe(self):
        return "scaled " + super().describe()


class Shifts(Describes):
    def __init__(self, *args, shift=1.0, **kwargs):
        super().__init__(*args, **kwargs)
        self.shift = shift

    def transform(self, x):
        return super().transform(x) + self.shift

    def describe(self):
        return "shifted " + super().describe()

    @classmethod
    def default(cls, width):
        return cls(width, shift=0.5)


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, 1)

    def transform(self, x):
        return self.linear(x)

    def forward(self, x):
        return self.transform(x)


class Model(Scales, Shifts, Layer):
    def describe(self):
        return "model: " + super().describe()

    @classmethod
    def default(cls, width):
        model = super().default(width)
        model.factor = 1.5
        return model


class Stop(Exception):
    pass


class EndsEarly:
    def __init__(self):
        self.reason = None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is Stop and isinstance(error, Stop):
            self.reason = error.args
            return True
        return False


def batches(x, y, size):
    pairs = zip(x.split(size), y.split(size))
    first = next(pairs)
    yield first
    for pair in pairs:
        yield pair
    for pair in pairs:
        raise RuntimeError("visited twice")


def train(model, x, y, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    with EndsEarly() as end:
        for epoch in range(epochs):
            for step, (inputs, targets) in enumerate(batches(x, y, 8)):
                optimizer.zero_grad()
                loss = F.mse_loss(model(inputs), targets)
                loss.backward()
                optimizer.step()
            if loss.item() < 0.5:
                raise Stop("low loss", epoch)
    print(epoch, step, tuple(inputs.shape), f"{loss.item():.4f}", end.reason[1])
    return loss


def main():
    torch.manual_seed(3)
    x = torch.randn(32, 4)
    y = (x @ torch.tensor([[1.0], [-2.0], [0.5], [3.0]])) + 0.5
    model = Model.default(4)
    print(model.describe(), model.factor, model.shift, isinstance(model, Layer))
    train(model, x, y, 200)
    print(model.calls, 0 < model.calls == model.calls, model.shift == 0.5 != 2)
    settings = {"lr": 0.1}
    for name in ["lr", "momentum"]:
        try:
            print(name, settings[name])
        except LookupError as error:
            print("missing", error)
    print("last:", name)
    where = "scaled shifted".find("shifted")
    if where != -1 and "scaled".find("shifted") == -1:
        print("found at", where)


if __name__ == "__main__":
    main()
