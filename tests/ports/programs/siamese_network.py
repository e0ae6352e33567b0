"""Pairs from a custom dataset: the same class or not."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, Dataset


class SiameseNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(*[nn.Conv2d(1, 4, 3, bias=False), nn.BatchNorm2d(4), nn.ReLU(inplace=True)])
        self.fc_in_features = 4 * 6 * 6
        self.fc = nn.Sequential(
            nn.Linear(self.fc_in_features * 2, 16),
            nn.ReLU(inplace=True),
            nn.Linear(16, 1),
        )
        self.sigmoid = nn.Sigmoid()
        self.body.apply(self.init_weights)
        self.fc.apply(self.init_weights)

    def init_weights(self, m):
        if isinstance(m, nn.Linear):
            torch.nn.init.xavier_uniform_(m.weight)
            m.bias.data.fill_(0.01)

    def forward_once(self, x):
        output = self.body(x)
        output = output.view(output.size()[0], -1)
        return output

    def forward(self, input1, input2):
        output1 = self.forward_once(input1)
        output2 = self.forward_once(input2)
        output = torch.cat((output1, output2), 1)
        output = self.fc(output)
        return self.sigmoid(output)


class Matcher(Dataset):
    def __init__(self, count):
        super().__init__()
        self.targets = torch.arange(count) % 3
        self.data = torch.randn(count, 8, 8) + self.targets.view(-1, 1, 1)
        self.group_examples()

    def group_examples(self):
        self.grouped_examples = {}
        for i in range(0, 3):
            self.grouped_examples[i] = torch.where(self.targets == i)[0]

    def __len__(self):
        return self.data.shape[0]

    def pick(self, cls):
        examples = self.grouped_examples[cls]
        index = examples[torch.randint(0, examples.shape[0], (1,)).item()]
        return self.data[index].clone().float().unsqueeze(0)

    def __getitem__(self, index):
        selected_class = torch.randint(0, 3, (1,)).item()
        image_1 = self.pick(selected_class)
        if index % 2 == 0:
            image_2 = self.pick(selected_class)
            target = torch.tensor(1, dtype=torch.float)
        else:
            other_selected_class = (selected_class + 1 + torch.randint(0, 2, (1,)).item()) % 3
            image_2 = self.pick(other_selected_class)
            target = torch.tensor(0, dtype=torch.float)
        return image_1, image_2, target


torch.manual_seed(1)
train_loader = DataLoader(Matcher(30), shuffle=True, batch_size=10)
model = SiameseNetwork()
optimizer = optim.Adadelta(model.parameters(), lr=1.0)
scheduler = StepLR(optimizer, step_size=1, gamma=0.7)
criterion = nn.BCELoss()
for epoch in range(1, 4):
    model.train()
    for batch_idx, (images_1, images_2, targets) in enumerate(train_loader):
        optimizer.zero_grad()
        outputs = model(images_1, images_2).squeeze()
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()
        print(f"Train Epoch: {epoch} [{batch_idx * len(images_1)}/{len(train_loader.dataset)}] Loss: {loss.item():.6f}")
        pred = torch.where(outputs > 0.5, 1, 0)
        correct = pred.eq(targets.view_as(pred)).sum().item()
    scheduler.step()
