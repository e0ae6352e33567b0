"""examples/torch/training/xor.spl trains natively."""

from __future__ import annotations

import re

XOR = "examples/torch/training/xor.spl"


def test_the_loss_falls_below_the_stated_goal(simple):
    run = simple(XOR)
    assert run.code == 0, run.out + run.err
    loss = re.search(r"^loss ([\d.]+), goal 0.001: reached$", run.out, re.M)
    assert loss and float(loss[1]) < 0.001


def test_the_four_answers(simple):
    answers = re.findall(r"^(\d) xor (\d) = (-?[\d.]+)$", simple(XOR).out, re.M)
    assert len(answers) == 4
    for a, b, answer in answers:
        assert abs(float(answer) - (int(a) ^ int(b))) < 0.1


def test_the_losses_are_pytorchs(simple):
    """The same model, seed and optimizer in Python: printed losses agree except for the last digit."""
    import torch

    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    inputs = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    targets = torch.tensor([[0.0], [1.0], [1.0], [0.0]])
    expected = {}
    for epoch in range(1, 401):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        expected[epoch] = loss.item()
    shown = {int(e): float(loss) for e, loss in re.findall(r"^epoch +(\d+)  loss ([\d.]+)$", simple(XOR).out, re.M)}
    for epoch in (1, 200, 400):
        assert abs(shown[epoch] - expected[epoch]) <= 1e-5


def test_process_has_no_python(simple, tmp_path):
    program = tmp_path / "maps.spl"
    program.write_text(
        "use torch\nuse std.fs.{read_text}\n"
        "val x = torch.tensor([1.0, 2.0], requires_grad: true)\n"
        "(x * x).sum().backward()\n"
        'val maps = read_text("/proc/self/maps")\n'
        'print "torch {maps.contains("libtorch_cpu")} python {maps.contains("libpython")}"\n'
    )
    assert simple(program).out.strip() == "torch true python false"


def test_stub_mode_is_reported(simple):
    run = simple(XOR, env={"SIMPLE_TORCH": "off"})
    assert run.code == 1 and "PyTorch is not available" in run.out
