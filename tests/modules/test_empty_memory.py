"""to_empty() allocates the memory of meta models, also of non-persistent buffers, as in PyTorch."""

from __future__ import annotations

from embedded_simple import equal, run, torch
from torch import nn

OURS = run(
    """
    use torch
    use torch.nn
    class Net(nn.Module):
        fn init(device):
            self.fc = nn.Linear(3, 2, device: device)
            self.norm = nn.BatchNorm1d(2, device: device)
            self.table = nn.Buffer(torch.arange(2.0), persistent: false)
            self.kept = nn.Buffer(torch.zeros([2], device: device))
        fn forward(x): self.norm(self.fc(x)) + self.table
    fn net(device): Net(device)
    fn emptied(m, device, recurse): m.to_empty(device, recurse)
    fn state(m): m.state_dict()
    fn load(m, state): m.load_state_dict(state)
    fn called(m, x): m(x)
    fn devices(m): m.named_parameters().map(\\pair: "{pair.0} {pair.1.device()}")
    fn buffers(m): m.named_buffers().map(\\pair: (pair.0, pair.1.persistent))
    fn stays(m):
        val weight = m.fc.weight
        val optimizer = torch.optim.SGD(m.parameters(), lr: 0.1)
        weight.sum().backward()
        val before = weight.data_ptr()
        m.to_empty("cpu")
        m.fc.weight.data_ptr() == weight.data_ptr() and weight.data_ptr() != before and weight.grad.shape == [2, 3]
    """,
    name="empty memory",
)


class Net(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.fc = nn.Linear(3, 2, device=device)
        self.norm = nn.BatchNorm1d(2, device=device)
        self.table = nn.Buffer(torch.arange(2.0), persistent=False)
        self.kept = nn.Buffer(torch.zeros(2, device=device))

    def forward(self, x):
        return self.norm(self.fc(x)) + self.table


def test_to_empty_allocates_memory_for_a_meta_model():
    ours, theirs, full = OURS.net("meta"), Net("meta"), Net("cpu")
    assert list(OURS.devices(ours)) == [f"{name} {value.device}" for name, value in theirs.named_parameters()]
    OURS.emptied(ours, "cpu", True)
    theirs.to_empty(device="cpu")
    assert list(OURS.devices(ours)) == [f"{name} {value.device}" for name, value in theirs.named_parameters()]
    OURS.load(ours, full.state_dict())
    ours.table.copy_(full.table)
    x = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    assert equal(OURS.called(ours, x), full(x))


def test_to_empty_without_recurse_leaves_submodules():
    ours, theirs = OURS.net("meta"), Net("meta")
    OURS.emptied(ours, "cpu", False)
    theirs.to_empty(device="cpu", recurse=False)
    assert list(OURS.devices(ours)) == [f"{name} {value.device}" for name, value in theirs.named_parameters()]
    assert ours.kept.device == theirs.kept.device


def test_to_empty_keeps_parameter_objects_and_empties_gradients():
    assert OURS.stays(OURS.net("cpu"))


def test_buffers_report_whether_they_are_persistent():
    ours, theirs = OURS.net("cpu"), Net("cpu")
    expected = [(name, getattr(value, "persistent", True)) for name, value in theirs.named_buffers()]
    assert [tuple(pair) for pair in OURS.buffers(ours)] == expected
    assert list(OURS.state(ours)) == list(theirs.state_dict())
