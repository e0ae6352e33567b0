"""GraphSAGE on a small citation graph, with sampled neighbors."""

import random
from collections import defaultdict
from enum import Enum

import torch
import torch.nn as nn
import torch.nn.functional as F


class Aggregation(Enum):
    MEAN = "mean"
    MAX = "max"


class SageLayer(nn.Module):
    def __init__(self, in_dim, out_dim, aggregation=Aggregation.MEAN):
        super().__init__()
        self.aggregation = aggregation
        self.own = nn.Linear(in_dim, out_dim)
        self.neighbor = nn.Linear(in_dim, out_dim, bias=False)

    def forward(self, x, edge_index):
        src, dst = edge_index
        if self.aggregation is Aggregation.MEAN:
            total = torch.zeros_like(x).index_add_(0, dst, x[src])
            degree = torch.zeros(x.size(0)).index_add_(0, dst, torch.ones(dst.size(0)))
            message = total / degree.clamp(min=1).unsqueeze(1)
        elif self.aggregation is Aggregation.MAX:
            message = torch.zeros_like(x).scatter_reduce(
                0, dst.unsqueeze(1).expand(-1, x.size(1)), x[src], reduce="amax", include_self=False
            )
        else:
            raise ValueError(f"unknown aggregation {self.aggregation}")
        return self.own(x) + self.neighbor(message)


class GraphSage(nn.Module):
    def __init__(self, in_dim, hidden, classes, aggregation):
        super().__init__()
        self.layers = nn.ModuleList(
            [SageLayer(in_dim, hidden, aggregation), SageLayer(hidden, classes, aggregation)]
        )
        self.norm = nn.LayerNorm(hidden)

    def forward(self, x, edge_index):
        first, second = self.layers
        x = F.relu(self.norm(first(x, edge_index)))
        return F.log_softmax(second(x, edge_index), dim=-1)


def make_graph(count, classes):
    labels = torch.arange(count) % classes
    pairs = []
    for i in range(count):
        for j in range(count):
            same = bool(labels[i] == labels[j])
            if i != j and random.random() < (0.3 if same else 0.03):
                pairs.append([i, j])
    return torch.tensor(pairs).t(), labels


def sample_neighbors(edge_index, most):
    neighbors = defaultdict(list)
    for s, d in edge_index.t():
        neighbors[d.item()].append(s.item())
    kept = []
    for node, sources in neighbors.items():
        for source in random.sample(sources, min(most, len(sources))):
            kept.append([source, node])
    return torch.tensor(kept).t().contiguous()


def train(aggregation):
    random.seed(1)
    torch.manual_seed(1)
    edge_index, labels = make_graph(30, 3)
    x = F.one_hot(labels, 3).float() + torch.randn(30, 3)
    train_mask = torch.rand(30) < 0.5
    model = GraphSage(3, 16, 3, aggregation)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for epoch in range(1, 31):
        model.train()
        sampled = sample_neighbors(edge_index, 4)
        loss = F.nll_loss(model(x, sampled)[train_mask], labels[train_mask])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if epoch % 10 == 0:
            model.eval()
            with torch.no_grad():
                correct = model(x, edge_index).argmax(dim=1) == labels
            print(
                f"{aggregation.name.lower():>5} epoch {epoch:3d} edges {sampled.size(1)} loss {loss.item():.4f} "
                f"train {correct[train_mask].float().mean():.3f} test {correct[~train_mask].float().mean():.3f}"
            )
    return correct.sum().item()


if __name__ == "__main__":
    results = {aggregation: train(aggregation) for aggregation in Aggregation}
    best = max(results, key=results.get)
    print("best:", best.value, results[best], len(Aggregation), Aggregation("max").name)
