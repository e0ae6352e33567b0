"""A field of velocities learned through a Runge-Kutta solver from points of a spiral."""

import torch
from torch import nn


class Velocity(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.hidden = nn.Linear(3, width)
        self.out = nn.Linear(width, 2)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.orthogonal_(module.weight, gain=0.5)
                nn.init.zeros_(module.bias)

    def forward(self, time, state):
        stamps = time.expand(state.shape[0], 1)
        return self.out(torch.tanh(self.hidden(torch.cat([state**3, stamps], dim=-1))))


def rk4_step(field, time, step, state):
    k1 = field(time, state)
    k2 = field(time + step / 2, state + k1 * step / 2)
    k3 = field(time + step / 2, state + k2 * step / 2)
    k4 = field(time + step, state + k3 * step)
    return state + (k1 + 2 * k2 + 2 * k3 + k4) * step / 6


def solve(field, start, times):
    states = [start]
    for i in range(len(times) - 1):
        states.append(rk4_step(field, times[i], times[i + 1] - times[i], states[-1]))
    return torch.stack(states)


torch.manual_seed(4)
rotation = torch.tensor([[-0.1, 1.5], [-1.5, -0.1]])
times = torch.linspace(0.0, 1.5, 16)
with torch.no_grad():
    spiral = solve(lambda _, state: state @ rotation, torch.tensor([[1.5, 0.0]]), times)
print(spiral.shape[0], f"{spiral[-1, 0, 0]:.5f} {spiral[-1, 0, 1]:.5f}")
field = Velocity(16)
optimizer = torch.optim.RMSprop(field.parameters(), lr=5e-3)
for step in range(30):
    firsts = torch.randint(0, 12, (6,))
    targets = torch.stack([spiral[firsts + i, 0] for i in range(4)])
    optimizer.zero_grad()
    predicted = solve(field, spiral[firsts, 0], times[:4])
    loss = (predicted - targets).abs().mean()
    loss.backward()
    optimizer.step()
    if step % 10 == 0 or step == 29:
        print(f"step {step:02d}: {loss.item():.6f}")
