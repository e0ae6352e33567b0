"""Word vectors from n-grams, an LSTM tagger with packed sequences, CTC, and cells written from scratch."""

import argparse
import itertools
import string

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

torch.manual_seed(1)
CONTEXT_SIZE = 2
EMBEDDING_DIM = 10
test_sentence = """When forty winters shall besiege thy brow,
And dig deep trenches in thy beauty's field,
Thy youth's proud livery so gazed on now,
Will be a totter'd weed of small worth held:""".split()
ngrams = [
    ([test_sentence[i - j - 1] for j in range(CONTEXT_SIZE)], test_sentence[i])
    for i in range(CONTEXT_SIZE, len(test_sentence))
]
print(repr(ngrams[:3]))
vocab = sorted(set(test_sentence))
word_to_ix = {word: i for i, word in enumerate(vocab)}


class NGramLanguageModeler(nn.Module):
    def __init__(self, vocab_size, embedding_dim, context_size):
        super(NGramLanguageModeler, self).__init__()
        self.embeddings = nn.Embedding(vocab_size, embedding_dim)
        self.linear1 = nn.Linear(context_size * embedding_dim, 16)
        self.linear2 = nn.Linear(16, vocab_size)

    def forward(self, inputs):
        embeds = self.embeddings(inputs).view((1, -1))
        out = F.relu(self.linear1(embeds))
        out = self.linear2(out)
        log_probs = F.log_softmax(out, dim=1)
        return log_probs


losses = []
loss_function = nn.NLLLoss()
model = NGramLanguageModeler(len(vocab), EMBEDDING_DIM, CONTEXT_SIZE)
optimizer = optim.SGD(model.parameters(), lr=0.01)
for epoch in range(3):
    total_loss = 0
    for context, target in ngrams:
        context_idxs = torch.tensor([word_to_ix[w] for w in context], dtype=torch.long)
        model.zero_grad()
        log_probs = model(context_idxs)
        loss = loss_function(log_probs, torch.tensor([word_to_ix[target]], dtype=torch.long))
        loss.backward()
        optimizer.step()
        total_loss += loss.item()
    losses.append(total_loss)
print(losses)
print(model.embeddings.weight[word_to_ix["thy"]])


def prepare_sequence(seq, to_ix):
    return torch.tensor([to_ix[w] for w in seq])


training_data = [
    ("The dog ate the apple".split(), ["DET", "NN", "V", "DET", "NN"]),
    ("Everybody read that book".split(), ["NN", "V", "DET", "NN"]),
    ("A cat saw the old dog".split(), ["DET", "NN", "V", "DET", "ADJ", "NN"]),
]
word_to_ix = {"<pad>": 0}
tag_to_ix = {}
for sent, tags in training_data:
    for word in sent:
        word_to_ix.setdefault(word.lower(), len(word_to_ix))
    for tag in tags:
        tag_to_ix.setdefault(tag, len(tag_to_ix))
print(repr(word_to_ix))
ix_to_tag = {v: k for k, v in tag_to_ix.items()}


class LSTMTagger(nn.Module):
    def __init__(self, embedding_dim, hidden_dim, vocab_size, tagset_size):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocab_size, embedding_dim, padding_idx=0)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim, batch_first=True, bidirectional=True, num_layers=2, dropout=0.1)
        self.hidden2tag = nn.Linear(2 * hidden_dim, tagset_size)

    def forward(self, sentences, lengths):
        embeds = self.word_embeddings(sentences)
        packed = pack_padded_sequence(embeds, lengths, batch_first=True, enforce_sorted=False)
        packed_out, (h_n, c_n) = self.lstm(packed)
        out, out_lengths = pad_packed_sequence(packed_out, batch_first=True)
        return self.hidden2tag(out)


inputs = [prepare_sequence([w.lower() for w in s], word_to_ix) for s, _ in training_data]
tags = [prepare_sequence(t, tag_to_ix) for _, t in training_data]
lengths = [len(i) for i in inputs]
padded = pad_sequence(inputs, batch_first=True)
padded_tags = pad_sequence(tags, batch_first=True, padding_value=-100)
print(padded)
tagger = LSTMTagger(6, 6, len(word_to_ix), len(tag_to_ix))
optimizer = optim.AdamW(tagger.parameters(), lr=0.05)
criterion = nn.CrossEntropyLoss()
for epoch in range(8):
    scores = tagger(padded, lengths)
    loss = criterion(scores.transpose(1, 2), padded_tags)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 3 == 1:
        print(epoch, f"{loss.item():.5f}")
tagger.eval()
with torch.no_grad():
    best = tagger(padded, lengths).argmax(-1)
    for row, n in zip(best, lengths):
        print(" ".join(ix_to_tag[i.item()] for i in row[:n]))


class GRUCellFromScratch(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        for gate in ("r", "z", "n"):
            setattr(self, f"x_{gate}", nn.Linear(input_size, hidden_size))
            setattr(self, f"h_{gate}", nn.Linear(hidden_size, hidden_size))

    def forward(self, x, h):
        r = torch.sigmoid(self.x_r(x) + self.h_r(h))
        z = torch.sigmoid(self.x_z(x) + self.h_z(h))
        n = torch.tanh(self.x_n(x) + r * self.h_n(h))
        return (1 - z) * n + z * h


class Recognizer(nn.Module):
    def __init__(self, n_in, n_hidden, n_out):
        super().__init__()
        self.cell = GRUCellFromScratch(n_in, n_hidden)
        self.out = nn.Linear(n_hidden, n_out)

    def forward(self, xs):
        h = xs.new_zeros(xs.size(1), self.cell.hidden_size)
        hs = []
        for x in xs:
            h = self.cell(x, h)
            hs.append(h)
        return F.log_softmax(self.out(torch.stack(hs)), dim=-1)


alphabet = "-" + string.ascii_lowercase[:5]
words = ["abc", "dad", "be"]
target_lengths = torch.tensor([len(w) for w in words])
ctc_targets = torch.tensor([alphabet.index(ch) for ch in itertools.chain.from_iterable(words)])
xs = torch.randn(9, 3, 4)
net = Recognizer(4, 8, len(alphabet))
print(sum(p.numel() for p in net.parameters()), " ".join(n for n, _ in net.cell.named_children()))
optimizer = optim.Adam(net.parameters(), lr=0.05)
ctc = nn.CTCLoss(blank=0, zero_infinity=True)
for step in range(9):
    log_probs = net(xs)
    loss = ctc(log_probs, ctc_targets, torch.full((3,), 9), target_lengths)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 4 == 0:
        print(step, f"{loss.item():.4f}")


def greedy(log_probs):
    best = log_probs.argmax(-1).T.tolist()
    return ["".join(alphabet[k] for k, _ in itertools.groupby(row) if k != 0) for row in best]


print(repr(greedy(net(xs))))
parser = argparse.ArgumentParser(description="tagger")
parser.add_argument("--hidden", type=int, default=6, metavar="N", help="size of the hidden state")
parser.add_argument("--no-cuda", action="store_true", default=False, help="disables CUDA")
parser.add_argument("--kind", choices=["lstm", "gru"], default="gru")
args = parser.parse_args([])
print(args.hidden, args.no_cuda, vars(args)["kind"])
