"""A GRU learns a text letter by letter and continues a prefix."""

import torch
import torch.nn as nn

text = "hello world, how are you today? hello moon, how old are you? "
all_characters = sorted(set(text))
n_characters = len(all_characters)


class CharRNN(nn.Module):
    def __init__(self, input_size, hidden_size, output_size, n_layers=1):
        super().__init__()
        self.hidden_size = hidden_size
        self.n_layers = n_layers
        self.encoder = nn.Embedding(input_size, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size, n_layers)
        self.decoder = nn.Linear(hidden_size, output_size)

    def forward(self, input, hidden):
        encoded = self.encoder(input.view(1, -1))
        output, hidden = self.gru(encoded.view(1, 1, -1), hidden)
        output = self.decoder(output.view(1, -1))
        return output, hidden

    def init_hidden(self):
        return torch.zeros(self.n_layers, 1, self.hidden_size)


def char_tensor(string):
    tensor = torch.zeros(len(string)).long()
    for c in range(len(string)):
        tensor[c] = all_characters.index(string[c])
    return tensor


def random_chunk(length):
    start = torch.randint(0, len(text) - length - 1, (1,)).item()
    chunk = text[start:start + length + 1]
    return char_tensor(chunk[:-1]), char_tensor(chunk[1:])


def generate(decoder, prime_str="h", predict_len=20, temperature=0.8):
    hidden = decoder.init_hidden()
    prime_input = char_tensor(prime_str)
    predicted = prime_str
    for p in range(len(prime_str) - 1):
        _, hidden = decoder(prime_input[p], hidden)
    inp = prime_input[-1]
    for p in range(predict_len):
        output, hidden = decoder(inp, hidden)
        output_dist = output.data.view(-1).div(temperature).exp()
        top_i = torch.multinomial(output_dist, 1)[0]
        predicted_char = all_characters[top_i]
        predicted += predicted_char
        inp = char_tensor(predicted_char)
    return predicted


torch.manual_seed(11)
decoder = CharRNN(n_characters, 20, n_characters, n_layers=2)
decoder_optimizer = torch.optim.Adam(decoder.parameters(), lr=0.02)
criterion = nn.CrossEntropyLoss()
for epoch in range(1, 13):
    inp, target = random_chunk(15)
    hidden = decoder.init_hidden()
    decoder.zero_grad()
    loss = 0
    for c in range(15):
        output, hidden = decoder(inp[c], hidden)
        loss += criterion(output, target[c].view(1))
    loss.backward()
    decoder_optimizer.step()
    if epoch % 4 == 0:
        print(f"[{epoch} {epoch / 12 * 100:.0f}% {loss.item() / 15:.4f}]")
        print(generate(decoder, "he", 20))
