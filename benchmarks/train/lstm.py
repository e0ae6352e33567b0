"""Classifies sequences of 20 of 1,000 tokens into 4 classes by a small LSTM, batches of 16, Adam."""

import torch
from torch import nn
from worker import fused, seeded_batches, serve


class TextClassifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(1000, 32)
        self.lstm = nn.LSTM(32, 64, batch_first=True)
        self.output = nn.Linear(64, 4)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        _, (hidden, _) = self.lstm(self.words(tokens))
        return self.output(hidden[-1])


batches = seeded_batches(32, lambda: (torch.randint(0, 1000, (16, 20)), torch.randint(0, 4, (16,))))
model = TextClassifier()
criterion = nn.CrossEntropyLoss()
serve(torch.optim.Adam(model.parameters(), **fused()), lambda x, y: criterion(model(x), y), batches)
