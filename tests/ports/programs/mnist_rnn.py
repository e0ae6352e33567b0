"""An LSTM reads the rows of images; batch norm, dropout and a linear layer classify."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.optim.lr_scheduler import StepLR


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(input_size=8, hidden_size=12, batch_first=True)
        self.batchnorm = nn.BatchNorm1d(12)
        self.dropout1 = nn.Dropout(0.25)
        self.fc1 = nn.Linear(12, 8)
        self.fc2 = nn.Linear(8, 4)

    def forward(self, input):
        input = input.reshape(-1, 8, 8)
        output, hidden = self.rnn(input)
        output = output[:, -1, :]
        output = self.batchnorm(output)
        output = self.dropout1(output)
        output = F.relu(self.fc1(output))
        output = self.fc2(output)
        return F.log_softmax(output, dim=1)


torch.manual_seed(1)
target = torch.arange(32) % 4
data = torch.randn(32, 1, 8, 8) + target.float()[:, None, None, None]
model = Net()
optimizer = optim.Adadelta(model.parameters(), lr=0.5)
scheduler = StepLR(optimizer, step_size=1, gamma=0.7)
for epoch in range(1, 4):
    model.train()
    for data_batch, target_batch in zip(data.split(16), target.split(16)):
        optimizer.zero_grad()
        loss = F.nll_loss(model(data_batch), target_batch)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        output = model(data)
        pred = output.argmax(dim=1, keepdim=True)
        correct = pred.eq(target.view_as(pred)).sum().item()
    print(f"epoch {epoch}: loss {loss.item():.6f}, correct {correct}/{len(data)}")
    scheduler.step()
