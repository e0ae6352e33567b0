"""The lists of a module's members are right after every kind of change, as in PyTorch."""

from __future__ import annotations

import pytest
from embedded_simple import run, torch
from torch import nn
from torch.nn.utils import parametrize, prune

SIMPLE = run(
    r"""
    use torch
    use torch.nn
    use torch.nn.utils.parametrize
    use torch.nn.utils.prune

    class Net(nn.Module):
        first: any
        second: any
        extra: any
        fn init():
            self.first = nn.Linear(2, 2)
            self.second = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
            self.extra = nil

    # Overrides the method that lists all parameters.
    class Chosen(Net):
        fn init(): Net.init(self)
        fn named_parameters(prefix: text = "", recurse: bool = true, remove_duplicate: bool = true):
            Net.named_parameters(self).filter(\pair: pair.0.starts_with("first"))

    # Stays in evaluation mode.
    class Frozen(nn.Module):
        layer: any
        fn init(): self.layer = nn.Dropout(0.5)
        me train(mode: bool = true): nn.Module.train(self, false)

    fn listed(net):
        [net.named_parameters().map(\pair: pair.0), net.named_buffers().map(\pair: pair.0),
            net.named_modules().map(\pair: pair.0), net.state_dict().keys(), [net.parameters().len()],
            [net.buffers().len()], [net.modules().len()]]

    fn changed(which):
        val net = Net()
        listed(net)    # a list that was kept would be wrong below
        match which:
            case "assigned": net.first = nn.Linear(2, 2, bias: false)
            case "removed": net.first = nil
            case "new member": net.extra = nn.Parameter(torch.ones([2]))
            case "nested": net.second[0] = nn.Linear(2, 2, bias: false)
            case "deleted item": net.second.__delitem__(0)
            case "appended": net.second.append(nn.Linear(2, 1))
            case "registered parameter": net.register_parameter("late", nn.Parameter(torch.ones([1])))
            case "registered nil": net.first.register_parameter("bias", nil)
            case "registered buffer": net.register_buffer("count", torch.zeros([1]))
            case "registered transient buffer": net.register_buffer("count", torch.zeros([1]), persistent: false)
            case "registered module": net.register_module("late", nn.Linear(1, 1))
            case "set_submodule": net.set_submodule("second.0", nn.Linear(2, 3))
            case "shared module": net.extra = net.first
            case "shared parameter": net.second[0].weight = net.first.weight
            case "module list":
                net.extra = nn.ModuleList([nn.Linear(1, 1)])
                listed(net)
                net.extra.append(nn.Linear(1, 1))
            case "module dict":
                net.extra = nn.ModuleDict({"a": nn.Linear(1, 1)})
                listed(net)
                net.extra["b"] = nn.Linear(1, 1)
                net.extra.pop("a")
            case "parameter list":
                net.extra = nn.ParameterList([torch.ones([1])])
                listed(net)
                net.extra.append(torch.ones([2]))
            case "parametrized": parametrize.register_parametrization(net.first, "weight", nn.Identity())
            case "parametrized and removed":
                parametrize.register_parametrization(net.first, "weight", nn.Identity())
                listed(net)
                parametrize.remove_parametrizations(net.first, "weight")
            case "pruned": prune.l1_unstructured(net.first, "weight", 1)
            case "pruned and removed":
                prune.l1_unstructured(net.first, "weight", 1)
                listed(net)
                prune.remove(net.first, "weight")
            case "copied":
                val copy = net.deepcopy()
                net.first = nil
                return listed(copy)
        listed(net)

    fn overriding():
        val chosen = Chosen()
        chosen.parameters().len()

    fn modes():
        val net = nn.Sequential(Frozen(), nn.Sequential(nn.Dropout(0.5)))
        net.train()
        net.modules().map(\module: module.training)

    fn cycle(what):
        val net = Net()
        net.extra = net
        match what:
            case "state_dict": net.state_dict()
            case "named_parameters": net.named_parameters(remove_duplicate: false)
            case "parameters": net.parameters().len()

    fn in_threads():
        val net = Net()
        val counts = [for _ in 0..4: thread.spawn(\: [for _ in 0..50: net.parameters().len() + net.state_dict().len()])]
        for i in 0..100: net.extra = if i % 2 == 0: nn.Linear(1, 1) else: nil
        [for worker in counts for count in worker.join(): count]

    fn arrays():
        class Arrays(nn.Module):
            layers: any
            named: any
            fn init():
                self.layers = [nn.Linear(1, 1)]
                self.named = {"a": nn.Linear(1, 1)}
        val net = Arrays()
        listed(net)
        net.layers.push(nn.Linear(1, 1, bias: false))
        net.named["b"] = nn.Linear(1, 1, bias: false)
        net.named_parameters().map(\pair: pair.0)
    """
)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(2, 2)
        self.second = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
        self.extra = None


def listed(net: nn.Module) -> list:
    return [
        [name for name, _ in net.named_parameters()],
        [name for name, _ in net.named_buffers()],
        [name for name, _ in net.named_modules()],
        list(net.state_dict()),
        [len(list(net.parameters()))],
        [len(list(net.buffers()))],
        [len(list(net.modules()))],
    ]


def set_item(net: nn.Module) -> None:
    net.second[0] = nn.Linear(2, 2, bias=False)


def module_list(net: nn.Module) -> None:
    net.extra = nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1)])


def shared_parameter(net: nn.Module) -> None:
    net.second[0].weight = net.first.weight


def parametrized(net: nn.Module) -> None:
    parametrize.register_parametrization(net.first, "weight", nn.Identity())


def parametrized_and_removed(net: nn.Module) -> None:
    parametrized(net)
    parametrize.remove_parametrizations(net.first, "weight")


def pruned(net: nn.Module) -> None:
    prune.l1_unstructured(net.first, "weight", 1)


def pruned_and_removed(net: nn.Module) -> None:
    pruned(net)
    prune.remove(net.first, "weight")


CHANGES = {
    "assigned": lambda net: setattr(net, "first", nn.Linear(2, 2, bias=False)),
    "removed": lambda net: setattr(net, "first", None),
    "new member": lambda net: setattr(net, "extra", nn.Parameter(torch.ones(2))),
    "nested": set_item,
    "deleted item": lambda net: net.second.__delitem__(0),
    "appended": lambda net: net.second.append(nn.Linear(2, 1)),
    "registered parameter": lambda net: net.register_parameter("late", nn.Parameter(torch.ones(1))),
    "registered nil": lambda net: net.first.register_parameter("bias", None),
    "registered buffer": lambda net: net.register_buffer("count", torch.zeros(1)),
    "registered transient buffer": lambda net: net.register_buffer("count", torch.zeros(1), persistent=False),
    "registered module": lambda net: net.register_module("late", nn.Linear(1, 1)),
    "set_submodule": lambda net: net.set_submodule("second.0", nn.Linear(2, 3)),
    "shared module": lambda net: setattr(net, "extra", net.first),
    "shared parameter": shared_parameter,
    "module list": module_list,
    "module dict": lambda net: setattr(net, "extra", nn.ModuleDict({"b": nn.Linear(1, 1)})),
    "parameter list": lambda net: setattr(net, "extra", nn.ParameterList([torch.ones(1), torch.ones(2)])),
    "parametrized": parametrized,
    "parametrized and removed": parametrized_and_removed,
    "pruned": pruned,
    "pruned and removed": pruned_and_removed,
    "copied": lambda net: None,
}


@pytest.mark.parametrize("which", CHANGES)
def test_members_are_listed_after(which):
    net = Net()
    CHANGES[which](net)
    assert [list(each) for each in SIMPLE.changed(which)] == listed(net)


def test_a_module_that_overrides_named_parameters_determines_parameters():
    assert SIMPLE.overriding() == 2


def test_train_calls_the_method_of_a_submodule_that_overrides_it():
    assert list(SIMPLE.modes()) == [True, False, False, True, True]


@pytest.mark.parametrize("what", ["state_dict", "named_parameters"])
def test_a_module_that_contains_itself_is_an_error(what):
    with pytest.raises(Exception, match="contains itself"):
        SIMPLE.cycle(what)


def test_a_module_that_contains_itself_has_its_parameters_once():
    assert SIMPLE.cycle("parameters") == 6


def test_threads_list_members_while_another_one_changes_them():
    assert set(SIMPLE.in_threads()) <= {6 + 9, 8 + 11, 6 + 11, 8 + 9}


def test_members_in_arrays_and_dicts_are_listed_after_a_change():
    names = ["layers.0.weight", "layers.0.bias", "layers.1.weight", "named.a.weight", "named.a.bias", "named.b.weight"]
    assert list(SIMPLE.arrays()) == names
