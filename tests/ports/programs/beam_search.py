"""A GRU encoder and decoder with attention that reverses strings; beam search."""

import random
from dataclasses import dataclass, field

import torch
import torch.nn as nn
import torch.nn.functional as F

PAD, SOS, EOS = range(3)
chars = "abcdef"
stoi = {c: i + 3 for i, c in enumerate(chars)}
itos = {i: c for c, i in stoi.items()}
itos.update({PAD: "_", SOS: "<", EOS: ">"})


@dataclass
class Config:
    hidden: int = 24
    layers: int = 1
    lr: float = 5e-3
    tags: list = field(default_factory=list)


@dataclass(order=True)
class Hypothesis:
    score: float
    tokens: list = field(compare=False)
    state: torch.Tensor = field(compare=False, repr=False)

    @property
    def finished(self):
        return self.tokens[-1] == EOS


class Seq2Seq(nn.Module):
    def __init__(self, vocab, cfg):
        super().__init__()
        self.emb = nn.Embedding(vocab, cfg.hidden, padding_idx=PAD)
        self.enc = nn.GRU(cfg.hidden, cfg.hidden, cfg.layers, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * cfg.hidden, cfg.hidden)
        self.dec = nn.GRUCell(cfg.hidden * 3, cfg.hidden)
        self.attn = nn.Linear(cfg.hidden, 2 * cfg.hidden, bias=False)
        self.out = nn.Linear(cfg.hidden * 3, vocab)

    def encode(self, src, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(self.emb(src), lengths, batch_first=True, enforce_sorted=False)
        out, h = self.enc(packed)
        out, _ = nn.utils.rnn.pad_packed_sequence(out, batch_first=True)
        h = torch.tanh(self.bridge(torch.cat([h[-2], h[-1]], dim=-1)))
        return out, h

    def step(self, tok, h, memory, mask):
        scores = torch.einsum("bh,bth->bt", self.attn(h), memory)
        w = scores.masked_fill(~mask, -1e9).softmax(-1)
        ctx = torch.bmm(w.unsqueeze(1), memory).squeeze(1)
        h = self.dec(torch.cat([self.emb(tok), ctx], -1), h)
        return self.out(torch.cat([h, ctx], -1)), h

    def forward(self, src, lengths, tgt, forcing=1.0):
        memory, h = self.encode(src, lengths)
        mask = src[:, : memory.size(1)] != PAD
        tok, logits = tgt[:, 0], []
        for t in range(1, tgt.size(1)):
            o, h = self.step(tok, h, memory, mask)
            logits += [o]
            tok = tgt[:, t] if random.random() < forcing else o.argmax(-1)
        return torch.stack(logits, 1)


def make_batch(n):
    pairs = []
    for _ in range(n):
        s = "".join(random.choice(chars) for _ in range(random.randint(2, 5)))
        pairs.append((s, s[::-1]))
    pairs.sort(key=lambda p: (-len(p[0]), p[0]))
    src = [torch.tensor([stoi[c] for c in s]) for s, _ in pairs]
    tgt = [torch.tensor([SOS, *(stoi[c] for c in t), EOS]) for _, t in pairs]

    def pad(seqs):
        return nn.utils.rnn.pad_sequence(seqs, batch_first=True, padding_value=PAD)

    return pad(src), torch.tensor(list(map(len, src))), pad(tgt), pairs


def beam_search(model, text, width=3, max_len=8):
    expanded = 0

    def expand(hyp):
        nonlocal expanded
        expanded += 1
        o, h = model.step(torch.tensor([hyp.tokens[-1]]), hyp.state, memory, mask)
        lp = F.log_softmax(o, -1)[0]
        top = lp.topk(width)
        for v, i in zip(top.values.tolist(), top.indices.tolist()):
            yield Hypothesis(hyp.score + v, hyp.tokens + [i], h)

    src = torch.tensor([[stoi[c] for c in text]])
    with torch.no_grad():
        memory, h = model.encode(src, torch.tensor([src.size(1)]))
        mask = src != PAD
        beam, done = [Hypothesis(0.0, [SOS], h)], []
        for _ in range(max_len):
            cand = [c for hyp in beam for c in expand(hyp)]
            cand.sort(reverse=True)
            beam = []
            for c in cand[:width]:
                (done if c.finished else beam).append(c)
            if not beam:
                break
    done = done or beam
    best = max(done, key=lambda hyp: hyp.score / len(hyp.tokens))
    return "".join(itos[i] for i in best.tokens[1:]).rstrip(">"), best.score, expanded


random.seed(0)
torch.manual_seed(0)
cfg = Config(tags=["rev"])
cfg.tags.append("gru")
print(cfg, Config().tags)
model = Seq2Seq(len(itos), cfg)
opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
crit = nn.CrossEntropyLoss(ignore_index=PAD)
for it in range(60):
    src, lengths, tgt, pairs = make_batch(16)
    logits = model(src, lengths, tgt, forcing=1 - it / 120)
    loss = crit(logits.flatten(0, 1), tgt[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    if not (it + 1) % 20:
        acc = (logits.argmax(-1) == tgt[:, 1:])[tgt[:, 1:] != PAD].float().mean()
        print(f"{it + 1:03d} | {loss.item():.5f} | {acc:.2%} | {pairs[0][0]} {pairs[0][1]}")
for word in ("abc", "fed", "aab"):
    hyp, score, n = beam_search(model, word)
    print(f"{word!r:>6} -> {hyp!r:<8} {score:8.4f} {n}")
