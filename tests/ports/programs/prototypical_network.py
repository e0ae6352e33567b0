"""A prototypical network for few-shot classification of synthetic glyphs."""

import argparse
from collections import OrderedDict

import torch
from torch import nn
import torch.nn.functional as F


def conv_block(in_channels, out_channels):
    return nn.Sequential(
        OrderedDict(
            conv=nn.Conv2d(in_channels, out_channels, 3, padding=1),
            norm=nn.BatchNorm2d(out_channels),
            relu=nn.ReLU(),
            pool=nn.MaxPool2d(2),
        )
    )


class ProtoNet(nn.Module):
    def __init__(self, hidden, out):
        super().__init__()
        self.encoder = nn.Sequential(conv_block(1, hidden), conv_block(hidden, out))

    def forward(self, x):
        return self.encoder(x).flatten(1)


class EpisodeSampler:
    """Yields the indices of support and query samples of some classes."""

    def __init__(self, labels, ways, shots, queries, episodes):
        self.ways, self.shots, self.queries = ways, shots, queries
        self.episodes = episodes
        self.by_class = {}
        for index, label in enumerate(labels.tolist()):
            try:
                self.by_class[label].append(index)
            except KeyError:
                self.by_class[label] = [index]

    def __len__(self):
        return self.episodes

    def episode(self):
        for label in torch.randperm(len(self.by_class))[: self.ways].tolist():
            members = torch.tensor(self.by_class[label])
            yield members[torch.randperm(len(members))[: self.shots + self.queries]]

    def __iter__(self):
        for _ in range(self.episodes):
            yield torch.stack(list(self.episode()))


def euclidean(a, b):
    return ((a.unsqueeze(1) - b.unsqueeze(0)) ** 2).sum(dim=2)


def prototypical_loss(model, images, shots):
    ways, per_class = images.shape[:2]
    queries = per_class - shots
    embedded = model(images.flatten(0, 1)).view(ways, per_class, -1)
    support, query = embedded.split([shots, queries], dim=1)
    prototypes = support.mean(dim=1)
    log_p = F.log_softmax(-euclidean(query.flatten(0, 1), prototypes), dim=1)
    target = torch.arange(ways).repeat_interleave(queries)
    loss = F.nll_loss(log_p, target)
    accuracy = (log_p.argmax(dim=1) == target).float().mean()
    return loss, accuracy


def glyphs(classes, per_class, size=8):
    shapes = (torch.rand(classes, 1, size, size) > 0.6).float()
    images = shapes.repeat_interleave(per_class, dim=0)
    labels = torch.arange(classes).repeat_interleave(per_class)
    return images + 0.5 * torch.randn_like(images), labels


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ways", type=int, default=4)
    parser.add_argument("--shots", type=int, default=2)
    parser.add_argument("--queries", type=int, default=3)
    parser.add_argument("--episodes", type=int, default=12)
    parser.add_argument("--lr", type=float, default=1e-2)
    args = parser.parse_args()
    torch.manual_seed(3)
    images, labels = glyphs(10, 6)
    model = ProtoNet(8, 8)
    print(" ".join([name for name, _ in model.named_parameters()][:4]))
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=5, gamma=0.5)
    sampler = EpisodeSampler(labels, args.ways, args.shots, args.queries, args.episodes)
    losses = []
    add = losses.append
    for number, indices in enumerate(sampler):
        optimizer.zero_grad()
        loss, accuracy = prototypical_loss(model, images[indices], args.shots)
        loss.backward()
        optimizer.step()
        scheduler.step()
        add(loss.item())
        if number % 3 == 0:
            print("episode %2d  loss %.4f  accuracy %.3f  lr %.4f" % (
                number, losses[-1], accuracy, scheduler.get_last_lr()[0]))
    print(f"{len(sampler)} episodes, mean loss {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
