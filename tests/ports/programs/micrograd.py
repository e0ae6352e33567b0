"""Scalar reverse-mode autograd in plain Python, and an MLP trained with it."""

import math
import random


class Value:
    def __init__(self, data, children=(), op=""):
        self.data = data
        self.grad = 0.0
        self.children = children
        self.op = op
        self.propagate = lambda: None

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data + other.data, (self, other), "+")

        def propagate():
            self.grad += out.grad
            other.grad += out.grad

        out.propagate = propagate
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other), "*")

        def propagate():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out.propagate = propagate
        return out

    def __pow__(self, power):
        assert isinstance(power, (int, float)), "only powers that are numbers"
        out = Value(self.data**power, (self,), f"**{power}")

        def propagate():
            self.grad += power * self.data ** (power - 1) * out.grad

        out.propagate = propagate
        return out

    def tanh(self):
        t = math.tanh(self.data)
        out = Value(t, (self,), "tanh")

        def propagate():
            self.grad += (1 - t * t) * out.grad

        out.propagate = propagate
        return out

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + (-other)

    def __radd__(self, other):
        return self + other

    def __rmul__(self, other):
        return self * other

    def __truediv__(self, other):
        return self * other**-1

    def __repr__(self):
        return f"Value(data={self.data:.4f}, grad={self.grad:.4f})"

    def backward(self):
        order = []
        visited = set()

        def visit(node):
            if node not in visited:
                visited.add(node)
                for child in node.children:
                    visit(child)
                order.append(node)

        visit(self)
        self.grad = 1.0
        for node in reversed(order):
            node.propagate()


class Neuron:
    def __init__(self, inputs, nonlinear=True):
        self.w = [Value(random.uniform(-1, 1)) for _ in range(inputs)]
        self.b = Value(0.0)
        self.nonlinear = nonlinear

    def __call__(self, x):
        act = sum((wi * xi for wi, xi in zip(self.w, x)), self.b)
        return act.tanh() if self.nonlinear else act

    def parameters(self):
        return self.w + [self.b]

    def __repr__(self):
        return f"{'Tanh' if self.nonlinear else 'Linear'}Neuron({len(self.w)})"


class Layer:
    def __init__(self, inputs, outputs, **kwargs):
        self.neurons = [Neuron(inputs, **kwargs) for _ in range(outputs)]

    def __call__(self, x):
        out = [n(x) for n in self.neurons]
        return out[0] if len(out) == 1 else out

    def parameters(self):
        return [p for n in self.neurons for p in n.parameters()]

    def __repr__(self):
        return f"Layer of [{', '.join(str(n) for n in self.neurons)}]"


class MLP:
    def __init__(self, inputs, outputs):
        sizes = [inputs] + outputs
        self.layers = [
            Layer(sizes[i], sizes[i + 1], nonlinear=i != len(outputs) - 1) for i in range(len(outputs))
        ]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def parameters(self):
        return [p for layer in self.layers for p in layer.parameters()]

    def zero_grad(self):
        for p in self.parameters():
            p.grad = 0.0

    def __repr__(self):
        return f"MLP of [{', '.join(str(layer) for layer in self.layers)}]"


random.seed(1337)
model = MLP(2, [3, 3, 1])
print(model)
print("number of parameters", len(model.parameters()))
for i, p in enumerate(model.parameters()):
    p.data = math.sin(i + 1.0)

xs = [[2.0, 3.0], [3.0, -1.0], [0.5, 1.0], [1.0, 1.0]]
ys = [1.0, -1.0, -1.0, 1.0]

for k in range(10):
    scores = [model(x) for x in xs]
    loss = sum((1 + -yi * score) ** 2 for yi, score in zip(ys, scores)) * (1.0 / len(xs))
    accuracy = [(yi > 0) == (score.data > 0) for yi, score in zip(ys, scores)]
    model.zero_grad()
    loss.backward()
    learning_rate = 0.1 - 0.05 * k / 10
    for p in model.parameters():
        p.data -= learning_rate * p.grad
    print(f"step {k} loss {loss.data:.6f}, accuracy {sum(accuracy) / len(accuracy) * 100}%")
print(model.parameters()[0])
