"""States across the bridge: Python's modules load Simple's states and vice versa, with the same tensors."""

from __future__ import annotations

import copy
import pickle
import sys
from collections import OrderedDict
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from simple_torch import run  # noqa: E402

OURS = run(
    """
    use torch
    use torch.nn
    use python as py
    class Net(nn.Module):
        fn init():
            self.conv = nn.Conv2d(3, 4, 3)
            self.norm = nn.BatchNorm2d(4)
            self.head = nn.Linear(16, 2)
            self.scale = nn.Parameter(torch.ones([1]))
        fn forward(x): self.head(self.norm(self.conv(x)).relu().flatten(1)) * self.scale
    fn net(): Net()
    fn state(m): m.state_dict()
    fn state_of_one_name(): nn.Linear(2, 1, bias: false).state_dict()
    fn load(m, state): m.load_state_dict(state)
    fn called(m, x): m(x)
    # A whole exchange that a program of Simple writes.
    fn exchanged(theirs):
        val mine = Net()
        theirs.load_state_dict(mine.state_dict())
        val again = Net()
        again.load_state_dict(theirs.state_dict())
        again.head.weight.equal(mine.head.weight)
    fn saved(m, file): py.import("torch").save(m.state_dict(), file)
    fn with_hook(m, hook):
        m.register_state_dict_post_hook(hook)
        m.state_dict().keys()
    """,
    name="states in Python",
)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(1))
        self.conv = torch.nn.Conv2d(3, 4, 3)
        self.norm = torch.nn.BatchNorm2d(4)
        self.head = torch.nn.Linear(16, 2)

    def forward(self, x):
        return self.head(self.norm(self.conv(x)).relu().flatten(1)) * self.scale


X = torch.randn(5, 3, 4, 4, generator=torch.Generator().manual_seed(0))


def test_python_module_loads_a_state_of_simple():
    ours, theirs = OURS.net(), Net()
    assert str(theirs.load_state_dict(OURS.state(ours))) == "<All keys matched successfully>"
    assert torch.equal(theirs(X), OURS.called(ours, X))
    assert torch.equal(theirs.norm.running_mean, OURS.state(ours)["norm.running_mean"])


def test_simple_module_loads_a_state_of_python():
    ours, theirs = OURS.net(), Net()
    for state in (theirs.state_dict(), dict(theirs.state_dict())):
        assert OURS.load(ours, state) == ([], [])
        assert torch.equal(theirs(X), OURS.called(ours, X))
    assert OURS.exchanged(Net())


def test_assign_uses_the_same_tensors():
    ours, theirs = OURS.net(), Net()
    theirs.load_state_dict(OURS.state(ours), assign=True)
    with torch.no_grad():
        theirs.head.bias.fill_(7.0)
    assert OURS.state(ours)["head.bias"].tolist() == [7.0, 7.0]
    assert OURS.state(ours)["head.bias"].data_ptr() == theirs.head.bias.data_ptr()


def test_state_is_an_ordered_dict_in_the_modules_order():
    state = OURS.state(OURS.net())
    assert isinstance(state, OrderedDict)
    assert list(state) == list(Net().state_dict())
    assert list(OURS.state_of_one_name()) == ["weight"]
    assert not any(tensor.requires_grad for tensor in state.values())


def test_errors_match_python():
    with pytest.raises(RuntimeError, match=r'Missing key.*"weight"'):
        torch.nn.Linear(2, 1).load_state_dict(OURS.state(OURS.net()))


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, OrderedDict.copy, lambda state: state | {"a": 1}])
def test_copies_share_nothing(how):
    state = OURS.state(OURS.net())
    copied = how(state)
    assert isinstance(copied, OrderedDict) and list(copied)[: len(state)] == list(state)
    copied["added"] = 1
    assert "added" not in state
    assert pickle.loads(pickle.dumps(OURS.state_of_one_name())).keys() == {"weight"}


def test_python_torch_saves_the_state(tmp_path):
    ours, file = OURS.net(), str(tmp_path / "state.pt")
    OURS.saved(ours, file)
    found = torch.load(file, weights_only=True)
    assert type(found) is OrderedDict
    assert all(torch.equal(found[name], tensor) for name, tensor in OURS.state(ours).items())
    Net().load_state_dict(found)


def test_python_hooks_change_the_state_of_the_program():
    def changed(_module, state, _prefix, _meta):
        state["added"] = torch.ones(1)
        state.pop("head.weight")
        del state["head.bias"]
        state.update(more=torch.zeros(1))
        state.setdefault("last", torch.zeros(2))
        assert state.pop("none", 3) == 3
        assert state.popitem()[0] == "last"

    def emptied(_module, state, _prefix, _meta):
        state.clear()

    names = list(OURS.with_hook(OURS.net(), changed))
    assert [name for name in names if "norm" not in name and "conv" not in name] == ["scale", "added", "more"]
    assert list(OURS.with_hook(OURS.net(), emptied)) == []
