"""Custom functions with double backward, saved tensor hooks, checkpointing, tensor hooks."""

import torch
import torch.nn as nn
from torch.autograd import Function, gradcheck, gradgradcheck
from torch.utils.checkpoint import checkpoint, checkpoint_sequential


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx, grad_out):
        (saved,) = ctx.saved_tensors
        return grad_out * 2 * saved


class Sinh(Function):
    @staticmethod
    def forward(ctx, x):
        expx = torch.exp(x)
        expnegx = torch.exp(-x)
        ctx.save_for_backward(expx, expnegx)
        return (expx - expnegx) / 2, expx, expnegx

    @staticmethod
    def backward(ctx, grad_out, _g1, _g2):
        expx, expnegx = ctx.saved_tensors
        grad_input = grad_out * (expx + expnegx) / 2
        grad_input += _g1 * expx
        grad_input -= _g2 * expnegx
        return grad_input


class Clamp(Function):
    calls = ()

    @staticmethod
    def forward(ctx, x, lo, hi=1.0):
        ctx.lo, ctx.hi = lo, hi
        ctx.mark_non_differentiable(mask := (x < lo) | (x > hi))
        ctx.save_for_backward(mask)
        return x.clamp(lo, hi), mask

    @staticmethod
    def backward(ctx, g, _):
        (mask,) = ctx.saved_tensors
        Clamp.calls += (ctx.needs_input_grad,)
        return g.masked_fill(mask, 0.0), None, None


def sinh(x):
    return Sinh.apply(x)[0]


torch.manual_seed(9)
x = torch.rand(3, 3, requires_grad=True, dtype=torch.double)
print(gradcheck(Square.apply, x), gradgradcheck(Square.apply, x), gradcheck(sinh, x), gradgradcheck(sinh, x))
y = Square.apply(x).sum()
(g,) = torch.autograd.grad(y, x, create_graph=True)
print(torch.autograd.grad(g.sum(), x)[0])
z, outside = Clamp.apply(x, 0.3, 0.6)
z.sum().backward()
print(outside.sum().item(), x.grad, Clamp.calls)

stats = {"pack": 0, "unpack": 0, "bytes": 0}


def pack(t):
    stats["pack"] += 1
    stats["bytes"] += t.numel() * t.element_size()
    return t.half() if t.is_floating_point() else t


def unpack(t):
    stats["unpack"] += 1
    return t.float() if t.dtype == torch.half else t


net = nn.Sequential(nn.Linear(6, 10), nn.Tanh(), nn.Dropout(0.2), nn.Linear(10, 10), nn.Tanh(), nn.Linear(10, 1))
inp = torch.randn(4, 6)
with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
    out = net(inp)
out.sum().backward()
print(*stats.values(), f"{net[0].weight.grad.abs().sum():.4f}")

grads = {}


def save(name):
    def hook(grad):
        grads[name] = grad.norm().item()
        return grad * 0.5 if name == "hidden" else None

    return hook


class Block(nn.Module):
    def __init__(self, ckpt: bool):
        super().__init__()
        self.net, self.ckpt = nn.Sequential(nn.Linear(6, 6), nn.Dropout(0.5), nn.ReLU()), ckpt
        self.runs = 0

    def body(self, x):
        self.runs += 1
        return self.net(x)

    def forward(self, x):
        return checkpoint(self.body, x, use_reentrant=False) if self.ckpt else self.body(x)


for flag in (False, True):
    torch.manual_seed(2)
    blocks = nn.ModuleList(Block(flag) for _ in range(3))
    h = inp.clone().requires_grad_()
    h.register_hook(save("input"))
    t = h
    for i, b in enumerate(blocks, start=1):
        t = b(t)
        if i == 2:
            t.register_hook(save("hidden"))
    t.pow(2).mean().backward()
    print(flag, [b.runs for b in blocks], [round(v, 6) for _, v in sorted(grads.items())], f"{h.grad.sum():.6f}")

torch.manual_seed(2)
out = checkpoint_sequential(net, 2, inp.requires_grad_(), use_reentrant=False)
out.mean().backward()
print(f"{inp.grad.norm().item():.6f}")
# gradient penalty and Hessian-vector product
w = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
f = (w**3).sum() + w[0] * w[1]
(gw,) = torch.autograd.grad(f, w, create_graph=True)
v = torch.tensor([1.0, 0.0, -1.0])
hv = torch.autograd.grad(gw @ v, w, retain_graph=True)
print(hv, gw.detach().tolist())
(gw.norm(2) - 1).pow(2).backward()
print(w.grad)
for bad in (lambda: w.add_(1), lambda: torch.ones(2) @ torch.ones(3), lambda: [1, 2][5]):
    try:
        bad()
    except RuntimeError as e:
        print(type(e).__name__, str(e).split("\n")[0][:60])
    except IndexError:
        print("IndexError")
    else:
        print("no error")
