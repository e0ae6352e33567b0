"""Model-agnostic meta-learning of sine waves with torch.func."""

import math

import torch
from torch import nn
from torch.func import functional_call, grad, vmap


class ThreeLayerNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(1, 20)
        self.relu1 = nn.ReLU()
        self.fc2 = nn.Linear(20, 20)
        self.relu2 = nn.ReLU()
        self.fc3 = nn.Linear(20, 1)

    def forward(self, x):
        x = self.relu1(self.fc1(x))
        x = self.relu2(self.fc2(x))
        return self.fc3(x)


torch.manual_seed(7)
net = ThreeLayerNet()
params = dict(net.named_parameters())
opt = torch.optim.Adam(params.values(), lr=1e-2)
alpha = 0.1
K = 10


def mse_loss(x, y):
    return torch.mean((x - y) ** 2)


def sample_tasks(outer_batch_size, inner_batch_size):
    As, phases = [], []
    for _ in range(outer_batch_size):
        As.append(torch.empty(1).uniform_(0.1, 0.5).item())
        phases.append(torch.rand(1).item() * math.pi)

    def get_batch():
        xs, ys = [], []
        for A, phase in zip(As, phases):
            x = torch.rand(inner_batch_size, 1) * 10.0 - 5.0
            y = A * torch.sin(x + phase)
            xs.append(x)
            ys.append(y)
        return torch.stack(xs), torch.stack(ys)

    x1, y1 = get_batch()
    x2, y2 = get_batch()
    return x1, y1, x2, y2


def get_loss_for_task(use_transform, x1, y1, x2, y2):
    def inner_loss(params, x1, y1):
        predicted = functional_call(net, params, (x1,))
        return mse_loss(predicted, y1)

    grads = grad(inner_loss)(params, x1, y1)
    new_params = {k: params[k] - alpha * g for k, g in grads.items()}
    v_f = functional_call(net, new_params, (x2,))
    return mse_loss(v_f, y2)


num_tasks = 4
for it in range(6):
    opt.zero_grad()
    x1, y1, x2, y2 = sample_tasks(num_tasks, K)
    inner_losses = vmap(lambda a, b, c, d: get_loss_for_task(True, a, b, c, d))(x1, y1, x2, y2)
    loss2 = sum(inner_losses) / len(inner_losses)
    loss2.backward()
    torch.nn.utils.clip_grad_norm_(params.values(), 1.0)
    opt.step()
    print(f"Iteration {it} -- Outer Loss: {loss2:.5f} ({inner_losses.min().item():.5f} to {max(inner_losses):.5f})")
