"""784-128-10 with ReLU, batches of 64, Adam."""

import torch
from torch import nn
from worker import fused, seeded_batches, serve


class Classifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(784, 128)
        self.activation = nn.ReLU()
        self.output = nn.Linear(128, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.output(self.activation(self.hidden(x)))


batches = seeded_batches(32, lambda: (torch.rand(64, 784), torch.randint(0, 10, (64,))))
model = Classifier()
criterion = nn.CrossEntropyLoss()
serve(torch.optim.Adam(model.parameters(), **fused()), lambda x, y: criterion(model(x), y), batches)
