"""An own Dataset without workers: a step is an epoch of 8 shuffled batches of 32."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from worker import serve_steps


class Points(Dataset):
    def __init__(self, count: int) -> None:
        self.points = torch.rand(count, 8)
        self.labels = [i % 4 for i in range(count)]

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        point = self.points[index]
        return (point - 0.5) / 0.5, self.labels[index]


torch.manual_seed(0)
loader = DataLoader(Points(256), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def epoch() -> torch.Tensor:
    for points, labels in loader:
        optimizer.zero_grad()
        loss = criterion(model(points), labels)
        loss.backward()
        optimizer.step()
    return loss


serve_steps(epoch)
