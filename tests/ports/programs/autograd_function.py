"""Functions with their own derivatives, checked with gradcheck and trained in a model."""

import torch
from torch.autograd import gradcheck


class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return input.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[input < 0] = 0
        return grad_input


class LinearFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, weight, bias=None):
        ctx.save_for_backward(input, weight, bias)
        output = input.mm(weight.t())
        if bias is not None:
            output += bias.unsqueeze(0).expand_as(output)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        input, weight, bias = ctx.saved_tensors
        grad_input, grad_weight, grad_bias = None, None, None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output.mm(weight)
        if ctx.needs_input_grad[1]:
            grad_weight = grad_output.t().mm(input)
        if bias is not None and ctx.needs_input_grad[2]:
            grad_bias = grad_output.sum(0)
        return grad_input, grad_weight, grad_bias


class LegendrePolynomial3(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return 0.5 * (5 * input**3 - 3 * input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        return grad_output * 1.5 * (5 * input**2 - 1)


class Linear(torch.nn.Module):
    def __init__(self, input_features, output_features, bias=True):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(output_features, input_features))
        if bias:
            self.bias = torch.nn.Parameter(torch.empty(output_features))
        else:
            self.register_parameter("bias", None)
        torch.nn.init.uniform_(self.weight, -0.1, 0.1)
        if self.bias is not None:
            torch.nn.init.uniform_(self.bias, -0.1, 0.1)

    def forward(self, input):
        return LinearFunction.apply(input, self.weight, self.bias)

    def extra_repr(self):
        return f"input_features={self.weight.shape[1]}, bias={self.bias is not None}"


torch.manual_seed(3)
wide = torch.randn(4, 3, dtype=torch.double, requires_grad=True)
matrix = torch.randn(2, 3, dtype=torch.double, requires_grad=True)
print(gradcheck(LinearFunction.apply, (wide, matrix), eps=1e-6, atol=1e-4))
print(gradcheck(LegendrePolynomial3.apply, (wide,)))
x = torch.linspace(-3.0, 3.0, 50).unsqueeze(1)
y = torch.sin(x)
first, second = Linear(1, 8), Linear(8, 1, bias=False)
print(first)
optimizer = torch.optim.SGD(list(first.parameters()) + list(second.parameters()), lr=0.05)
P3 = LegendrePolynomial3.apply
for t in range(20):
    y_pred = second(MyReLU.apply(first(x))) + 0.01 * P3(x / 3)
    loss = (y_pred - y).pow(2).mean()
    if t % 5 == 4:
        print(t, f"{loss.item():.6f}")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(", ".join(name for name, _ in second.named_parameters()), second.bias)
