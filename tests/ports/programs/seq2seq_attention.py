"""Reversing sequences: a GRU encoder over packed sequences and an attention decoder."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

SOS_token, EOS_token, PAD = 0, 1, 2


class Lang:
    def __init__(self, name):
        self.name = name
        self.word2index = {}
        self.word2count = {}
        self.index2word = {0: "SOS", 1: "EOS", 2: "PAD"}
        self.n_words = 3

    def addSentence(self, sentence):
        for word in sentence.split(" "):
            self.addWord(word)

    def addWord(self, word):
        if word not in self.word2index:
            self.word2index[word] = self.n_words
            self.word2count[word] = 1
            self.index2word[self.n_words] = word
            self.n_words += 1
        else:
            self.word2count[word] += 1


class Pairs(Dataset):
    def __init__(self, lang, sentences):
        self.lang = lang
        self.sentences = sentences

    def __len__(self):
        return len(self.sentences)

    def __getitem__(self, index):
        indexes = [self.lang.word2index[word] for word in self.sentences[index].split(" ")]
        return torch.tensor(indexes + [EOS_token]), torch.tensor(indexes[::-1] + [EOS_token])


def collate_fn(batch):
    batch = sorted(batch, key=lambda pair: len(pair[0]), reverse=True)
    sources, targets = zip(*batch)
    lengths = torch.tensor([len(s) for s in sources])
    return pad_sequence(sources, batch_first=True, padding_value=PAD), lengths, pad_sequence(
        targets, batch_first=True, padding_value=PAD
    )


class EncoderRNN(nn.Module):
    def __init__(self, input_size, hidden_size, dropout_p=0.1):
        super(EncoderRNN, self).__init__()
        self.hidden_size = hidden_size
        self.embedding = nn.Embedding(input_size, hidden_size, padding_idx=PAD)
        self.gru = nn.GRU(hidden_size, hidden_size, batch_first=True)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, input, lengths):
        embedded = self.dropout(self.embedding(input))
        packed = pack_padded_sequence(embedded, lengths, batch_first=True)
        output, hidden = self.gru(packed)
        output, _ = pad_packed_sequence(output, batch_first=True)
        return output, hidden


class BahdanauAttention(nn.Module):
    def __init__(self, hidden_size):
        super(BahdanauAttention, self).__init__()
        self.Wa = nn.Linear(hidden_size, hidden_size)
        self.Ua = nn.Linear(hidden_size, hidden_size)
        self.Va = nn.Linear(hidden_size, 1)

    def forward(self, query, keys):
        scores = self.Va(torch.tanh(self.Wa(query) + self.Ua(keys)))
        scores = scores.squeeze(2).unsqueeze(1)
        weights = F.softmax(scores, dim=-1)
        context = torch.bmm(weights, keys)
        return context, weights


class AttnDecoderRNN(nn.Module):
    def __init__(self, hidden_size, output_size, dropout_p=0.1):
        super(AttnDecoderRNN, self).__init__()
        self.embedding = nn.Embedding(output_size, hidden_size)
        self.attention = BahdanauAttention(hidden_size)
        self.gru = nn.GRU(2 * hidden_size, hidden_size, batch_first=True)
        self.out = nn.Linear(hidden_size, output_size)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, encoder_outputs, encoder_hidden, target_tensor=None, max_length=6):
        batch_size = encoder_outputs.size(0)
        decoder_input = torch.empty(batch_size, 1, dtype=torch.long).fill_(SOS_token)
        decoder_hidden = encoder_hidden
        decoder_outputs = []
        attentions = []
        for i in range(max_length if target_tensor is None else target_tensor.size(1)):
            decoder_output, decoder_hidden, attn_weights = self.forward_step(
                decoder_input, decoder_hidden, encoder_outputs
            )
            decoder_outputs.append(decoder_output)
            attentions.append(attn_weights)
            if target_tensor is not None:
                decoder_input = target_tensor[:, i].unsqueeze(1)
            else:
                _, topi = decoder_output.topk(1)
                decoder_input = topi.squeeze(-1).detach()
        decoder_outputs = torch.cat(decoder_outputs, dim=1)
        decoder_outputs = F.log_softmax(decoder_outputs, dim=-1)
        attentions = torch.cat(attentions, dim=1)
        return decoder_outputs, decoder_hidden, attentions

    def forward_step(self, input, hidden, encoder_outputs):
        embedded = self.dropout(self.embedding(input))
        query = hidden.permute(1, 0, 2)
        context, attn_weights = self.attention(query, encoder_outputs)
        input_gru = torch.cat((embedded, context), dim=2)
        output, hidden = self.gru(input_gru, hidden)
        output = self.out(output)
        return output, hidden, attn_weights


def train_epoch(dataloader, encoder, decoder, encoder_optimizer, decoder_optimizer, criterion):
    total_loss = 0
    for input_tensor, lengths, target_tensor in dataloader:
        encoder_optimizer.zero_grad()
        decoder_optimizer.zero_grad()
        encoder_outputs, encoder_hidden = encoder(input_tensor, lengths)
        decoder_outputs, _, _ = decoder(encoder_outputs, encoder_hidden, target_tensor)
        loss = criterion(decoder_outputs.view(-1, decoder_outputs.size(-1)), target_tensor.view(-1))
        loss.backward()
        torch.nn.utils.clip_grad_value_(decoder.parameters(), clip_value=0.5)
        encoder_optimizer.step()
        decoder_optimizer.step()
        total_loss += loss.item()
    return total_loss / len(dataloader)


lang = Lang("en")
sentences = ["the cat sat", "a dog ran home", "the dog sat", "cat ran", "a cat sat home now"]
for sentence in sentences:
    lang.addSentence(sentence)
print("Counted words:")
print(lang.name, lang.n_words, ", ".join(f"{w} {n}" for w, n in lang.word2count.items()))
torch.manual_seed(9)
train_dataloader = DataLoader(Pairs(lang, sentences), batch_size=2, shuffle=True, collate_fn=collate_fn)
encoder = EncoderRNN(lang.n_words, 12)
decoder = AttnDecoderRNN(12, lang.n_words)
encoder_optimizer = torch.optim.Adam(encoder.parameters(), lr=0.02)
decoder_optimizer = torch.optim.Adam(decoder.parameters(), lr=0.02)
criterion = nn.NLLLoss(ignore_index=PAD)
plot_losses = []
print_loss_total = 0
for epoch in range(1, 13):
    loss = train_epoch(train_dataloader, encoder, decoder, encoder_optimizer, decoder_optimizer, criterion)
    print_loss_total += loss
    plot_losses.append(loss)
    if epoch % 4 == 0:
        print("(%d %d%%) %.4f" % (epoch, epoch * 100 // 12, print_loss_total / 4))
        print_loss_total = 0
encoder.eval()
decoder.eval()
with torch.no_grad():
    source, target = train_dataloader.dataset[1]
    encoder_outputs, encoder_hidden = encoder(source.unsqueeze(0), torch.tensor([len(source)]))
    decoder_outputs, decoder_hidden, decoder_attn = decoder(encoder_outputs, encoder_hidden)
    _, topi = decoder_outputs.topk(1)
    decoded_words = []
    for idx in topi.squeeze():
        if idx.item() == EOS_token:
            decoded_words.append("<EOS>")
            break
        decoded_words.append(lang.index2word[idx.item()])
    print("<", " ".join(decoded_words), decoder_attn.shape[1:] == (6, 5))
