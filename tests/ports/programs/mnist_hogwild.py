"""Threads train one model together, without locks (Hogwild).

Each thread has a replica whose parameters share the model's memory. Threads that call one module would change
parameters that the backward pass of another thread needs, which autograd reports as an error.
"""

import threading

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, kernel_size=3)
        self.conv2_drop = nn.Dropout2d()
        self.fc1 = nn.Linear(36, 16)
        self.fc2 = nn.Linear(16, 4)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.conv1(x), 2))
        x = x.view(-1, 36)
        x = F.relu(self.fc1(x))
        x = F.dropout(x, p=0.0, training=self.training)
        x = self.fc2(x)
        return F.log_softmax(x, dim=1)


def train(rank, steps, model, data, target):
    replica = Net()
    for mine, shared in zip(replica.parameters(), model.parameters()):
        mine.data = shared.data
    optimizer = optim.SGD(replica.parameters(), lr=0.01)
    for step in range(steps):
        optimizer.zero_grad()
        loss = F.nll_loss(replica(data), target)
        loss.backward()
        optimizer.step()


def test(model, data, target):
    model.eval()
    with torch.no_grad():
        output = model(data)
        return F.nll_loss(output, target).item()


torch.manual_seed(1)
target = torch.arange(32) % 4
data = torch.randn(32, 1, 8, 8) + target[:, None, None, None]
model = Net()
model.share_memory()
print(f"first loss {test(model, data, target):.6f}")
train(0, 3, model, data, target)
print(f"alone {test(model, data, target):.6f}")
before = test(model, data, target)
threads = []
for rank in range(2):
    thread = threading.Thread(target=train, args=(rank, 10, model, data[rank::2], target[rank::2]))
    thread.start()
    threads.append(thread)
for thread in threads:
    thread.join()
after = test(model, data, target)
print("together better", after < before)
