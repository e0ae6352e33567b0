"""A recurrent cell written by hand, names letter by letter, updated without an optimizer."""

import torch
from torch import nn
from worker import serve_steps

LETTERS = "abcdefghijklmnopqrstuvwxyz .,;'"
NAMES = ["rossi", "macleod", "kowalski", "bianchi", "campbell", "nowak"]
HIDDEN, RATE = 64, 0.005


def line_to_tensor(line: str) -> torch.Tensor:
    tensor = torch.zeros(len(line), 1, len(LETTERS))
    for at, letter in enumerate(line):
        tensor[at][0][LETTERS.find(letter)] = 1
    return tensor


class RNN(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.i2h = nn.Linear(len(LETTERS), HIDDEN)
        self.h2h = nn.Linear(HIDDEN, HIDDEN)
        self.h2o = nn.Linear(HIDDEN, 3)
        self.softmax = nn.LogSoftmax(dim=1)

    def forward(self, letter: torch.Tensor, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = torch.tanh(self.i2h(letter) + self.h2h(hidden))
        return self.softmax(self.h2o(hidden)), hidden


torch.manual_seed(0)
rnn = RNN()
criterion = nn.NLLLoss()


def train(category: torch.Tensor, line: torch.Tensor) -> torch.Tensor:
    hidden = torch.zeros(1, HIDDEN)
    rnn.zero_grad()
    for i in range(line.size()[0]):
        output, hidden = rnn(line[i], hidden)
    loss = criterion(output, category)
    loss.backward()
    for parameter in rnn.parameters():
        parameter.data.add_(parameter.grad.data, alpha=-RATE)
    return loss


def step() -> torch.Tensor:
    for i, name in enumerate(NAMES):
        loss = train(torch.tensor([i % 3], dtype=torch.long), line_to_tensor(name))
    return loss


serve_steps(step)
