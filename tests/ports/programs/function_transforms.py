"""Per-sample gradients, Jacobians, ensembles, a custom optimizer, parametrizations, pruning and hooks."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.nn.utils.parametrize as parametrize
from torch.func import functional_call, grad, hessian, jacrev, stack_module_state, vmap
from torch.nn.utils import prune

torch.manual_seed(0)


class MLP(nn.Module):
    def __init__(self, num_classes=10):
        super().__init__()
        self.fc1 = nn.Linear(16, 12)
        self.fc2 = nn.Linear(12, num_classes)

    def forward(self, x):
        x = x.flatten(1)
        x = self.fc1(x)
        x = F.relu(x)
        return self.fc2(x)


def loss_fn(predictions, targets):
    return -F.log_softmax(predictions, dim=-1).gather(1, targets.unsqueeze(1)).mean()


num_models = 3
data = torch.randn(4, 6, 1, 4, 4)
targets = torch.randint(10, (24,))
models = [MLP() for _ in range(num_models)]
minibatches = data[:num_models]
predictions_diff_minibatch_loop = [model(minibatch) for model, minibatch in zip(models, minibatches)]
params, buffers = stack_module_state(models)


def fmodel(params, buffers, x):
    return functional_call(models[0], (params, buffers), (x,))


predictions1_vmap = vmap(fmodel)(params, buffers, minibatches)
print(" ".join(f"{k} {list(v.shape)}" for k, v in params.items()))
assert torch.allclose(predictions1_vmap, torch.stack(predictions_diff_minibatch_loop), atol=1e-3, rtol=1e-5)
predictions2_vmap = vmap(fmodel, in_dims=(0, 0, None))(params, buffers, minibatches[0])
print(list(predictions2_vmap.shape), predictions2_vmap.std().item())

model = models[0]
x = data[0]
y = targets[:6]
params = {k: v.detach() for k, v in model.named_parameters()}
buffers = {k: v.detach() for k, v in model.named_buffers()}


def compute_loss(params, buffers, sample, target):
    batch = sample.unsqueeze(0)
    targets = target.unsqueeze(0)
    predictions = functional_call(model, (params, buffers), (batch,))
    loss = loss_fn(predictions, targets)
    return loss


ft_compute_grad = grad(compute_loss)
ft_compute_sample_grad = vmap(ft_compute_grad, in_dims=(None, None, 0, 0))
ft_per_sample_grads = ft_compute_sample_grad(params, buffers, x, y)


def compute_grad(sample, target):
    sample = sample.unsqueeze(0)
    target = target.unsqueeze(0)
    prediction = model(sample)
    loss = loss_fn(prediction, target)
    return torch.autograd.grad(loss, list(model.parameters()))


def compute_sample_grads(data, targets):
    sample_grads = [compute_grad(data[i], targets[i]) for i in range(len(data))]
    sample_grads = zip(*sample_grads)
    sample_grads = [torch.stack(shards) for shards in sample_grads]
    return sample_grads


per_sample_grads = compute_sample_grads(x, y)
for per_sample_grad, ft_per_sample_grad in zip(per_sample_grads, ft_per_sample_grads.values()):
    assert torch.allclose(per_sample_grad, ft_per_sample_grad, atol=3e-3, rtol=1e-5)
    print(list(per_sample_grad.shape), f"{per_sample_grad.norm().item():.5f}")


def predict(weight, bias, x):
    return F.linear(x, weight, bias).tanh()


weight, bias, xi = torch.randn(3, 3), torch.randn(3), torch.randn(3)
print(jacrev(predict, argnums=2)(weight, bias, xi))
jac_w, jac_b = jacrev(predict, argnums=(0, 1))(weight, bias, xi)
print(list(jac_w.shape), jac_b.diagonal())
print(hessian(lambda v: (v**3).sum())(xi).diagonal())


class Lion(torch.optim.Optimizer):
    r"""Implements Lion algorithm."""

    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        if not 0.0 <= lr:
            raise ValueError("Invalid learning rate: {}".format(lr))
        if not 0.0 <= betas[0] < 1.0:
            raise ValueError("Invalid beta parameter at index 0: {}".format(betas[0]))
        defaults = dict(lr=lr, betas=betas, weight_decay=weight_decay)
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.data.mul_(1 - group["lr"] * group["weight_decay"])
                grad = p.grad
                state = self.state[p]
                if len(state) == 0:
                    state["exp_avg"] = torch.zeros_like(p)
                exp_avg = state["exp_avg"]
                beta1, beta2 = group["betas"]
                update = exp_avg * beta1 + grad * (1 - beta1)
                p.add_(update.sign_(), alpha=-group["lr"])
                exp_avg.mul_(beta2).add_(grad, alpha=1 - beta2)
        return loss


optimizer = Lion(model.parameters(), lr=0.01, weight_decay=0.1)
for i in range(5):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    print(i, loss.item())
print(len(optimizer.state), optimizer.state_dict()["param_groups"][0]["betas"])


class Symmetric(nn.Module):
    def forward(self, X):
        return X.triu() + X.triu(1).transpose(-1, -2)

    def right_inverse(self, A):
        return A.triu()


class MatrixExponential(nn.Module):
    def forward(self, X):
        return torch.matrix_exp(X)


layer = nn.Linear(3, 3)
parametrize.register_parametrization(layer, "weight", Symmetric())
A = layer.weight
assert torch.allclose(A, A.T)
print(layer)
print(A.sum().item(), " ".join(name for name, _ in layer.named_parameters()))
parametrize.register_parametrization(layer, "weight", MatrixExponential())
print(layer.weight.det().item(), parametrize.is_parametrized(layer, "weight"))
parametrize.remove_parametrizations(layer, "weight", leave_parametrized=True)
print(" ".join(name for name, p in layer.named_parameters()))

module = nn.Conv2d(1, 3, 3)
prune.random_unstructured(module, name="weight", amount=0.3)
print(int(module.weight_mask.sum()), " ".join(dict(module.named_buffers()).keys()))
print(" ".join(n for n, _ in module.named_parameters()))
prune.l1_unstructured(module, name="bias", amount=1)
prune.ln_structured(module, name="weight", amount=0.34, n=2, dim=0)
print(module.bias, (module.weight == 0).sum().item())
prune.remove(module, "weight")
print(" ".join(sorted(module.state_dict().keys())))

features = {}
gradients = []


def get_features(name):
    def hook(model, input, output):
        features[name] = output.detach()

    return hook


handle = model.fc1.register_forward_hook(get_features("fc1"))
bhandle = model.fc1.register_full_backward_hook(lambda module, gin, gout: gradients.append(gout[0].norm().item()))
model.fc2.register_forward_pre_hook(lambda module, args: (args[0] * 0.5,))
out = model(x)
out.sum().backward()
handle.remove()
bhandle.remove()
model(x)
print(" ".join(f"{k} {list(v.shape)}" for k, v in features.items()), " ".join(f"{g:.4f}" for g in gradients))
print(out.mean().item())
