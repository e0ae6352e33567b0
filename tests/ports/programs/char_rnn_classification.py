"""A recurrent cell written by hand classifies names by their letters."""

import torch
import torch.nn as nn

all_letters = "abcdefghijklmnopqrstuvwxyz .,;'"
n_letters = len(all_letters)
category_lines = {
    "Italian": ["rossi", "bianchi", "ferrari", "esposito"],
    "Scottish": ["macleod", "mackay", "campbell", "stewart"],
    "Polish": ["kowalski", "nowak", "wisniewski", "lewandowski"],
}
all_categories = list(category_lines.keys())
n_categories = len(all_categories)


def letter_to_index(letter):
    return all_letters.find(letter)


def line_to_tensor(line):
    tensor = torch.zeros(len(line), 1, n_letters)
    for li, letter in enumerate(line):
        tensor[li][0][letter_to_index(letter)] = 1
    return tensor


class RNN(nn.Module):
    def __init__(self, input_size, hidden_size, output_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.i2h = nn.Linear(input_size, hidden_size)
        self.h2h = nn.Linear(hidden_size, hidden_size)
        self.h2o = nn.Linear(hidden_size, output_size)
        self.softmax = nn.LogSoftmax(dim=1)

    def forward(self, input, hidden):
        hidden = torch.tanh(self.i2h(input) + self.h2h(hidden))
        output = self.h2o(hidden)
        output = self.softmax(output)
        return output, hidden

    def init_hidden(self):
        return torch.zeros(1, self.hidden_size)


def category_from_output(output):
    top_n, top_i = output.topk(1)
    category_i = top_i[0].item()
    return all_categories[category_i], category_i


def random_choice(items):
    return items[torch.randint(0, len(items), (1,)).item()]


def random_training_example():
    category = random_choice(all_categories)
    line = random_choice(category_lines[category])
    category_tensor = torch.tensor([all_categories.index(category)], dtype=torch.long)
    return category, line, category_tensor, line_to_tensor(line)


torch.manual_seed(5)
rnn = RNN(n_letters, 16, n_categories)
criterion = nn.NLLLoss()
learning_rate = 0.05


def train(category_tensor, line_tensor):
    hidden = rnn.init_hidden()
    output = None
    rnn.zero_grad()
    for i in range(line_tensor.size()[0]):
        output, hidden = rnn(line_tensor[i], hidden)
    loss = criterion(output, category_tensor)
    loss.backward()
    for p in rnn.parameters():
        p.data.add_(p.grad.data, alpha=-learning_rate)
    return output, loss.item()


current_loss = 0
all_losses = []
for iter in range(1, 41):
    category, line, category_tensor, line_tensor = random_training_example()
    output, loss = train(category_tensor, line_tensor)
    current_loss += loss
    if iter % 10 == 0:
        guess, guess_i = category_from_output(output)
        correct = "yes" if guess == category else f"no ({category})"
        print(f"{iter} {iter / 40 * 100:.0f}% {loss:.4f} {line} / {guess} {correct}")
        all_losses.append(current_loss / 10)
        current_loss = 0
print(", ".join([f"{value:.4f}" for value in all_losses]))
confusion = torch.zeros(n_categories, n_categories)
with torch.no_grad():
    for category, lines in category_lines.items():
        for line in lines:
            hidden = rnn.init_hidden()
            output = None
            for letter in line_to_tensor(line):
                output, hidden = rnn(letter, hidden)
            confusion[all_categories.index(category)][category_from_output(output)[1]] += 1
for i in range(n_categories):
    confusion[i] = confusion[i] / confusion[i].sum()
print(confusion)
