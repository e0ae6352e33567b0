"""Word vectors by skip-gram with negative sampling and sparse gradients."""

from collections import Counter

import torch
from torch import nn, optim
from torch.nn import functional as F

torch.manual_seed(1)
text = " ".join(
    [
        "the red fox ran over the hill and the brown dog ran after the fox",
        "the dog and the fox sat on the hill while the sun went under the hill",
        "a brown bird sang over the red sun and the dog sang after the bird",
    ]
).split()
counts = Counter(text)
vocab = sorted(set(text))
w2i = {w: i for i, w in enumerate(vocab)}
print(counts.most_common(3)[0][1], len(vocab))
freq = torch.tensor([counts[w] for w in vocab], dtype=torch.float) ** 0.75
pairs = []
window = 2
for i, center in enumerate(text):
    for j in range(max(0, i - window), min(len(text), i + window + 1)):
        if i != j:
            pairs.append((w2i[center], w2i[text[j]]))
print(len(pairs), pairs[:3])


class SkipGram(nn.Module):
    def __init__(self, vocab_size, dim):
        super().__init__()
        self.center = nn.Embedding(vocab_size, dim, sparse=True)
        self.context = nn.Embedding(vocab_size, dim, sparse=True)
        nn.init.uniform_(self.center.weight, -0.5 / dim, 0.5 / dim)
        self.context.weight.data.zero_()

    def forward(self, c, pos, neg):
        v = self.center(c)
        u = self.context(pos)
        n = self.context(neg)
        pos_score = F.logsigmoid(torch.sum(v * u, dim=1))
        neg_score = F.logsigmoid(-torch.bmm(n, v.unsqueeze(2)).squeeze(2)).sum(1)
        return -(pos_score + neg_score).mean()


sg = SkipGram(len(vocab), 8)
opt = optim.SparseAdam(list(sg.parameters()), lr=0.05)
for epoch in range(3):
    order = list(range(len(pairs)))
    total = 0
    for b in range(0, len(order), 16):
        batch = [pairs[k] for k in order[b : b + 16]]
        centers, contexts = zip(*batch)
        centers, contexts = torch.LongTensor(centers), torch.LongTensor(contexts)
        negatives = torch.multinomial(freq, len(batch) * 4, replacement=True).view(len(batch), 4)
        opt.zero_grad()
        loss = sg(centers, contexts, negatives)
        loss.backward()
        opt.step()
        total += loss.item() * len(batch)
    print(f"epoch {epoch} {total / len(pairs):.6f}")
emb = F.normalize(sg.center.weight.detach(), dim=1)
sims = emb @ emb[w2i["fox"]]
print(" ".join([vocab[i] for i in sims.topk(3).indices]))
