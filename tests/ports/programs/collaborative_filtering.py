"""Neural collaborative filtering: generalized matrix factorization and a perceptron over user and item embeddings."""

from typing import Dict, List, Tuple

import random
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

USERS = ["ada", "bob", "cyd", "dan", "eve", "fay", "gus", "hal"]
ITEMS = ["apple", "bread", "corn", "dates", "eggs", "flour", "grapes", "honey", "ice", "jam"]


class Config(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name)

    def __setattr__(self, name, value):
        self[name] = value


class Vocabulary:
    def __init__(self, words: List[str]):
        self.index: Dict[str, int] = {word: i for i, word in enumerate(words)}
        self.unknown = 0

    def __len__(self):
        return len(self.index)

    def __getitem__(self, word):
        try:
            return self.index[word]
        except KeyError:
            self.unknown += 1
            return -1


class Interactions(Dataset):
    def __init__(self, positives: List[Tuple[int, int]], items: int, negatives: int):
        self.samples: List[Tuple[int, int, float]] = []
        seen = set(positives)
        for user, item in positives:
            self.samples.append((user, item, 1.0))
            for _ in range(negatives):
                other = random.randrange(items)
                while (user, other) in seen:
                    other = random.randrange(items)
                self.samples.append((user, other, 0.0))

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        user, item, label = self.samples[index]
        return user, item, torch.tensor(label)


class NeuMF(nn.Module):
    def __init__(self, users, items, config):
        super().__init__()
        self.user_gmf = nn.Embedding(users, config.dim)
        self.item_gmf = nn.Embedding(items, config.dim)
        self.user_mlp = nn.Embedding(users, config.dim)
        self.item_mlp = nn.Embedding(items, config.dim)
        layers: List[nn.Module] = []
        width = 2 * config.dim
        for size in config.layers:
            layers.extend([nn.Linear(width, size), nn.ReLU(), nn.Dropout(config.dropout)])
            width = size
        self.mlp = nn.Sequential(*layers)
        self.predict = nn.Linear(config.dim + width, 1)
        for module in self.modules():
            if isinstance(module, nn.Embedding):
                nn.init.normal_(module.weight, std=0.1)

    def forward(self, user, item):
        gmf = self.user_gmf(user) * self.item_gmf(item)
        mlp = self.mlp(torch.cat([self.user_mlp(user), self.item_mlp(item)], dim=-1))
        return self.predict(torch.cat([gmf, mlp], dim=-1)).squeeze(-1)


def hit_rate(model, held_out, items, k):
    model.eval()
    hits = 0
    with torch.no_grad():
        for user, item in held_out:
            scores = model(torch.full((items,), user), torch.arange(items))
            hits += item in scores.topk(k).indices.tolist()
    return hits / len(held_out)


def main():
    random.seed(5)
    torch.manual_seed(5)
    config = Config(dim=6, layers=[12, 6], dropout=0.1, lr=0.02)
    config.epochs = 6
    users, items = Vocabulary(USERS), Vocabulary(ITEMS)
    log = []
    for u, name in enumerate(USERS):
        log += [(name, ITEMS[(u + 3 * step) % len(ITEMS)]) for step in range(4)]
    log.append(("zoe", "apple"))
    pairs = [(users[name], items[item]) for name, item in log]
    known = [pair for pair in pairs if -1 not in pair]
    held_out, positives = known[::4], [pair for i, pair in enumerate(known) if i % 4]
    print(len(known), users.unknown, ",".join(sorted(config.keys())), "momentum" in config)
    loader = DataLoader(Interactions(positives, len(items), 2), batch_size=16, shuffle=True)
    model = NeuMF(len(users), len(items), config)
    optimizer = torch.optim.Adam(model.parameters(), lr=config.lr)
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(config.epochs):
        model.train()
        total: float = 0.0
        for user, item, label in loader:
            optimizer.zero_grad()
            loss = criterion(model(user, item), label)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(label)
        print(f"epoch {epoch + 1}: loss {total / len(loader.dataset):.4f} "
              f"hit@3 {hit_rate(model, held_out, len(items), 3):.3f}")
    try:
        print(config.momentum)
    except AttributeError as error:
        print("no setting:", error)


if __name__ == "__main__":
    main()
