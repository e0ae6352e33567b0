"""A loop with forward, gradient and full backward hooks, and a custom Function."""

from typing import Any

import torch
from torch import nn
from worker import serve_steps


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        return grad * 2.0 * x


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.second = nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(Square.apply(self.first(x)))


torch.manual_seed(0)
inputs, targets = torch.rand(16, 8), torch.arange(16) % 4
net = Net()
outputs, gradients = {}, {}


def keep_output(module: nn.Module, args: Any, output: torch.Tensor) -> None:
    outputs["first"] = output.detach()


def keep_gradient(module: nn.Module, grad_input: Any, grad_output: Any) -> None:
    gradients["second"] = grad_output[0]


net.first.register_forward_hook(keep_output)
net.second.register_full_backward_hook(keep_gradient)
for parameter in net.parameters():
    parameter.register_hook(lambda grad: grad * 0.5)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)


def step() -> torch.Tensor:
    optimizer.zero_grad()
    loss = criterion(net(inputs), targets)
    loss.backward()
    optimizer.step()
    return loss


serve_steps(step)
