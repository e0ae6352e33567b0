"""Pairs of sentences of different lengths: packed sequences, an LSTM encoder and a classifier."""

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence


class Linear(nn.Linear):
    def forward(self, input):
        if len(input.size()) <= 2:
            return nn.Linear.forward(self, input)
        size = input.size()[:2]
        out = nn.Linear.forward(self, input.view(size[0] * size[1], -1))
        return out.view(size[0], size[1], -1)


class Encoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        input_size = config["d_proj"] if config["projection"] else config["d_embed"]
        self.rnn = nn.LSTM(input_size=input_size, hidden_size=config["d_hidden"], num_layers=2, bidirectional=True)

    def forward(self, inputs, lengths):
        packed = pack_padded_sequence(inputs, lengths, enforce_sorted=False)
        outputs, (ht, ct) = self.rnn(packed)
        return ht[-2:].transpose(0, 1).contiguous().view(len(lengths), -1)


class SNLIClassifier(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config["n_embed"], config["d_embed"], padding_idx=0)
        self.projection = Linear(config["d_embed"], config["d_proj"])
        self.encoder = Encoder(config)
        self.relu = nn.ReLU()
        seq_in_size = 2 * config["d_hidden"] * 2
        self.out = nn.Sequential(nn.Linear(seq_in_size, 16), self.relu, nn.Dropout(p=0.1), nn.Linear(16, 3))

    def forward(self, premise, premise_lengths, hypothesis, hypothesis_lengths):
        prem_embed = self.embed(premise)
        hypo_embed = self.embed(hypothesis)
        if self.config["projection"]:
            prem_embed = self.relu(self.projection(prem_embed))
            hypo_embed = self.relu(self.projection(hypo_embed))
        premise = self.encoder(prem_embed, premise_lengths)
        hypothesis = self.encoder(hypo_embed, hypothesis_lengths)
        scores = self.out(torch.cat([premise, hypothesis], 1))
        return scores


def make_batch(size):
    sentences = [torch.randint(1, 12, (int(torch.randint(2, 7, (1,))),)) for _ in range(size)]
    lengths = [len(sentence) for sentence in sentences]
    return pad_sequence(sentences), torch.tensor(lengths)


torch.manual_seed(2)
model = SNLIClassifier({"n_embed": 12, "d_embed": 8, "d_proj": 6, "d_hidden": 5, "projection": True})
criterion = nn.CrossEntropyLoss()
opt = torch.optim.Adam(model.parameters(), lr=0.01)
print(f"{'Epoch':>6} {'Loss':>10} {'Accuracy':>10}")
for epoch in range(5):
    premise, premise_lengths = make_batch(8)
    hypothesis, hypothesis_lengths = make_batch(8)
    label = (premise_lengths + hypothesis_lengths) % 3
    model.train()
    opt.zero_grad()
    answer = model(premise, premise_lengths, hypothesis, hypothesis_lengths)
    n_correct = (torch.max(answer, 1)[1].view(label.size()) == label).sum().item()
    loss = criterion(answer, label)
    loss.backward()
    opt.step()
    print(f"{epoch:>6} {loss.item():>10.6f} {100.0 * n_correct / 8:>10.2f}")
