"""The results of fit() match PyTorch's usual loop in Python bit for bit."""

from __future__ import annotations

import subprocess

import pytest

from programs import host

torch = pytest.importorskip("torch", exc_type=ModuleNotFoundError)

PROGRAM = """
use torch
use torch.nn
use torch.training.{Trainer}
use torch.utils.data.{DataLoader, TensorDataset}
torch.set_num_threads(1)
torch.manual_seed(3)
val x = torch.randn([50, 6])
val y = x.sum(dim: 1, keepdim: true).sin()
val model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Dropout(0.2), nn.Linear(16, 1))
val optimizer = torch.optim.SGD(model.parameters(), lr: 0.1, momentum: 0.9)
val scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
val loader = DataLoader(TensorDataset(x, y), batch_size: 8, shuffle: true)
val trainer = Trainer(model, optimizer, nn.MSELoss(), scheduler: scheduler, OPTIONS)
val history = trainer.fit(loader, val_loader: DataLoader(TensorDataset(x, y), batch_size: 20), epochs: 4)
for row in history.rows: print "{row["loss"]} {row["val_loss"]}"
print trainer.predict(DataLoader(TensorDataset(x, y), batch_size: 20)).sum().item()
"""


def ours(folder, options: str) -> list[float]:
    program = folder / "program.spl"
    program.write_text(PROGRAM.replace("OPTIONS", options))
    done = subprocess.run([host(), program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return [float(word) for word in done.stdout.split()]


def pythons(clip, every: int, interval: str) -> list[float]:
    nn, data = torch.nn, torch.utils.data
    torch.manual_seed(3)
    x = torch.randn(50, 6)
    y = x.sum(dim=1, keepdim=True).sin()
    model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Dropout(0.2), nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    batches = data.DataLoader(data.TensorDataset(x, y), batch_size=8, shuffle=True)
    val_batches = data.DataLoader(data.TensorDataset(x, y), batch_size=20)
    loss_fn = nn.MSELoss()

    def mean(losses):
        return sum(loss * count for loss, count in losses) / 50

    found = []
    for _ in range(4):
        model.train()
        losses = []
        for at, (inputs, target) in enumerate(batches, start=1):
            loss = loss_fn(model(inputs), target)
            losses.append((loss.item(), len(inputs)))
            (loss / every if every > 1 else loss).backward()
            if at % every == 0 or at == len(batches):
                clip(model.parameters())
                optimizer.step()
                optimizer.zero_grad()
                if interval == "step":
                    scheduler.step()
        found.append(mean(losses))
        model.eval()
        with torch.no_grad():
            val_losses = [(loss_fn(model(inputs), target).item(), len(inputs)) for inputs, target in val_batches]
        found.append(mean(val_losses))
        if interval == "epoch":
            scheduler.step()
    with torch.no_grad():
        found.append(torch.cat([model(inputs) for inputs, _ in val_batches]).sum().item())
    return found


CLIPS = torch.nn.utils
WAYS = {
    "plainly": ("", lambda params: None, 1, "epoch"),
    "a rate that falls with each step": ('scheduler_interval: "step"', lambda params: None, 1, "step"),
    "gradients cut to a norm": (
        "gradient_clip_val: 0.2",
        lambda params: CLIPS.clip_grad_norm_(params, 0.2),
        1,
        "epoch",
    ),
    "gradients cut to values": (
        'gradient_clip_val: 0.05, gradient_clip_algorithm: "value"',
        lambda params: CLIPS.clip_grad_value_(params, 0.05),
        1,
        "epoch",
    ),
    "several batches a step": ("accumulate_grad_batches: 3", lambda params: None, 3, "epoch"),
}


@pytest.mark.parametrize("way", WAYS)
def test_losses_match_python(way, tmp_path):
    options, clip, every, interval = WAYS[way]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        expected = pythons(clip, every, interval)
    finally:
        torch.set_num_threads(threads)
    assert ours(tmp_path, options) == expected
