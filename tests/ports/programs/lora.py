"""Low-rank adaptation by a parametrization: a network is trained, frozen and adapted."""

import torch
import torch.nn as nn
import torch.nn.utils.parametrize as parametrize

_ = torch.manual_seed(0)


class AdaptedNet(nn.Module):
    def __init__(self, hidden_size_1=24, hidden_size_2=32):
        super(AdaptedNet, self).__init__()
        self.linear1 = nn.Linear(4 * 4, hidden_size_1)
        self.linear2 = nn.Linear(hidden_size_1, hidden_size_2)
        self.linear3 = nn.Linear(hidden_size_2, 4)
        self.relu = nn.ReLU()

    def forward(self, img):
        x = img.view(-1, 4 * 4)
        x = self.relu(self.linear1(x))
        x = self.relu(self.linear2(x))
        x = self.linear3(x)
        return x


prototypes = torch.randn(4, 4, 4)


def sample(count):
    labels = torch.randint(4, [count])
    return prototypes[labels] + 0.5 * torch.randn(count, 4, 4), labels


def train(data, net, epochs=5, total_iterations_limit=None):
    cross_el = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=0.01)
    total_iterations = 0
    for epoch in range(epochs):
        net.train()
        loss_sum = 0
        num_iterations = 0
        for x, y in data:
            num_iterations += 1
            total_iterations += 1
            optimizer.zero_grad()
            output = net(x.view(-1, 4 * 4))
            loss = cross_el(output, y)
            loss_sum += loss.item()
            avg_loss = loss_sum / num_iterations
            loss.backward()
            optimizer.step()
            if total_iterations_limit is not None and total_iterations >= total_iterations_limit:
                print(f"epoch {epoch} loss {avg_loss:.5f}")
                return
        print(f"epoch {epoch} loss {avg_loss:.5f}")


@torch.no_grad()
def test(net):
    net.eval()
    x, y = sample(60)
    correct = 0
    wrong_counts = [0 for i in range(4)]
    output = net(x)
    for idx, i in enumerate(output):
        if torch.argmax(i) == y[idx]:
            correct += 1
        else:
            wrong_counts[y[idx]] += 1
    print(f"Accuracy: {round(correct / 60.0, 3)}")
    for i in range(len(wrong_counts)):
        print(f"wrong counts for the digit {i}: {wrong_counts[i]}")


class LoRAParametrization(nn.Module):
    def __init__(self, features_in, features_out, rank=1, alpha=1, device="cpu"):
        super().__init__()
        self.lora_A = nn.Parameter(torch.zeros((rank, features_out)).to(device))
        self.lora_B = nn.Parameter(torch.zeros((features_in, rank)).to(device))
        nn.init.normal_(self.lora_A, mean=0, std=1)
        self.scale = 1.0 * alpha / rank
        self.enabled = True

    def forward(self, original_weights):
        if self.enabled:
            return original_weights + torch.matmul(self.lora_B, self.lora_A).view(original_weights.shape) * self.scale
        else:
            return original_weights


def linear_layer_parameterization(layer, device, rank=1, lora_alpha=1):
    features_in, features_out = layer.weight.shape
    return LoRAParametrization(features_in, features_out, rank=rank, alpha=lora_alpha, device=device)


def enable_disable_lora(enabled=True):
    for layer in [net.linear1, net.linear2, net.linear3]:
        layer.parametrizations["weight"][0].enabled = enabled


net = AdaptedNet()
batches = [sample(16) for _ in range(8)]
train(batches, net, epochs=2)
original_weights = {}
for name, param in net.named_parameters():
    original_weights[name] = param.clone().detach()
test(net)
total_parameters_original = 0
for index, layer in enumerate([net.linear1, net.linear2, net.linear3]):
    total_parameters_original += layer.weight.nelement() + layer.bias.nelement()
    print(f"Layer {index + 1}: W: {list(layer.weight.shape)} + B: {list(layer.bias.shape)}")
print(f"Total number of parameters: {total_parameters_original:,}")
for layer in (net.linear1, net.linear2, net.linear3):
    parametrize.register_parametrization(layer, "weight", linear_layer_parameterization(layer, "cpu", rank=2))
total_parameters_lora = 0
for layer in [net.linear1, net.linear2, net.linear3]:
    lora = layer.parametrizations["weight"][0]
    total_parameters_lora += lora.lora_A.nelement() + lora.lora_B.nelement()
print(f"LoRA adds {100.0 * total_parameters_lora / total_parameters_original:.3f}%")
for name, param in net.named_parameters():
    if "lora" not in name:
        print(f"Freezing non-LoRA parameter {name}")
        param.requires_grad = False
only_two = [(x[y == 2], y[y == 2]) for x, y in batches]
train(only_two, net, epochs=1, total_iterations_limit=6)
assert torch.all(net.linear1.parametrizations.weight.original == original_weights["linear1.weight"])
enable_disable_lora(enabled=True)
test(net)
enable_disable_lora(enabled=False)
assert torch.equal(net.linear1.weight, original_weights["linear1.weight"])
test(net)
print(" ".join(sorted(net.state_dict().keys())[:4]))
