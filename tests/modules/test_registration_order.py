"""Parameters are in the order of registration, by which optimizer states are numbered."""

from __future__ import annotations

import pytest
from embedded_simple import run, torch

nn = torch.nn

OURS = run(
    """
    use torch
    use torch.nn

    class Base(nn.Module):
        fn init():
            self.a = nn.Linear(1, 1)

    class Inherited(Base):
        fn init():
            Base.init(self)
            self.b = nn.Linear(1, 1)

    class Declared(nn.Module):
        head: nn.Linear
        body: nn.Linear
        fn init():
            self.body = nn.Linear(1, 1)
            self.head = nn.Linear(1, 1)

    class Helped(nn.Module):
        fn init():
            self.build()
            self.z = nn.Linear(1, 1)
        fn build():
            self.y = nn.Linear(1, 1)

    class Chosen(nn.Module):
        fn init():
            if false: self.x = nn.Linear(1, 1)
            self.y = nn.Linear(1, 1)
            self.x = nn.Linear(1, 1)

    class Late(nn.Module):
        fn init():
            self.q = nil
            self.r = nn.Linear(1, 1)
            self.q = nn.Linear(1, 1)
            self.r = nn.Linear(1, 1)

    class Mixed(nn.Module):
        fn init():
            self.register_parameter("first", nn.Parameter(torch.ones([1])))
            self.w = nn.Parameter(torch.ones([1]))
            self.layers = nn.ModuleList([nn.Linear(1, 1)])
            self.running = nn.Buffer(torch.ones([1]))
            self.v = nn.Parameter(torch.ones([1]))

    fn names(which):
        val module = match which:
            case "Inherited": Inherited()
            case "Declared": Declared()
            case "Helped": Helped()
            case "Chosen": Chosen()
            case "Late": Late()
            case "Mixed": Mixed()
        val copy = module.deepcopy()
        copy.state_dict().keys() == module.state_dict().keys() and module.named_parameters().map(\\pair: pair.0)
    """
)


def module(**parts) -> nn.Module:
    made = nn.Module()
    for name, part in parts.items():
        setattr(made, name, part)
    return made


def linear() -> nn.Module:
    return nn.Linear(1, 1)


def weight() -> nn.Parameter:
    return nn.Parameter(torch.ones(1))


def theirs(which: str) -> nn.Module:
    if which == "Late":
        late = module(q=None, r=linear())
        late.q, late.r = linear(), linear()
        return late
    return {
        "Inherited": lambda: module(a=linear(), b=linear()),
        "Declared": lambda: module(body=linear(), head=linear()),
        "Helped": lambda: module(y=linear(), z=linear()),
        "Chosen": lambda: module(y=linear(), x=linear()),
        "Mixed": lambda: module(first=weight(), w=weight(), layers=nn.ModuleList([linear()]), v=weight()),
    }[which]()


@pytest.mark.parametrize("which", ["Inherited", "Declared", "Helped", "Chosen", "Late", "Mixed"])
def test_parameters_are_in_registration_order(which):
    assert list(OURS.names(which)) == [name for name, _ in theirs(which).named_parameters()]
