"""Assignments to a field that holds a parameter, a buffer or a module: as in torch.nn.Module.__setattr__."""

from __future__ import annotations

import pytest
from embedded_simple import equal, run, torch

OURS = run(
    """
    use torch
    use torch.nn

    class Own(nn.Module):
        weight: nn.Parameter
        running: nn.Buffer
        cache: nn.Buffer
        child: nn.Module
        plain: any
        fn init():
            self.weight = nn.Parameter(torch.ones([2]))
            self.running = nn.Buffer(torch.zeros([2]))
            self.cache = nn.Buffer(torch.zeros([2]), persistent: false)
            self.child = nn.Linear(1, 1)
            self.plain = 3
            self.register_parameter("late_weight", nn.Parameter(torch.ones([2])))
            self.register_buffer("late_running", torch.zeros([2]))
            self.register_buffer("late_cache", torch.zeros([2]), persistent: false)
            self.register_module("late_child", nn.Linear(1, 1))
        fn set_weight(value):
            self.weight = value
        fn set_bare(value):
            weight = value
        fn set_running(value):
            self.running = value
        fn set_late(value):
            self.late_weight = value

    fn own(): Own()
    fn keys(m): m.state_dict().keys()
    fn parameters(m): m.named_parameters().map(\\pair: pair.0)
    fn buffers(m): m.named_buffers().map(\\pair: pair.0)
    fn set(m, name, kind, t):
        val value = made(kind, t)
        match name:
            case "weight": m.weight = value
            case "running": m.running = value
            case "cache": m.cache = value
            case "child": m.child = value
            case "late_weight": m.late_weight = value
            case "late_running": m.late_running = value
            case "late_cache": m.late_cache = value
            case "late_child": m.late_child = value
    fn made(kind, t):
        match kind:
            case "tensor": t
            case "parameter": nn.Parameter(t)
            case "buffer": nn.Buffer(t)
            case "module": nn.ReLU()
            case "number": 3
            case "nothing": nil
    """,
    name="fields",
)


class Own(torch.nn.Module):
    def __init__(self):
        super().__init__()
        for prefix in ("", "late_"):
            self.register_parameter(prefix + "weight", torch.nn.Parameter(torch.ones(2)))
            self.register_buffer(prefix + "running", torch.zeros(2))
            self.register_buffer(prefix + "cache", torch.zeros(2), persistent=False)
            self.register_module(prefix + "child", torch.nn.Linear(1, 1))


def value(kind, tensor):
    return {
        "tensor": lambda: tensor,
        "parameter": lambda: torch.nn.Parameter(tensor),
        "buffer": lambda: torch.nn.Buffer(tensor),
        "module": torch.nn.ReLU,
        "number": lambda: 3,
        "nothing": lambda: None,
    }[kind]()


FIELDS = [prefix + name for prefix in ("", "late_") for name in ("weight", "running", "cache", "child")]
KINDS = ["tensor", "parameter", "buffer", "module", "number", "nothing"]


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("kind", KINDS)
def test_accepts_and_rejects_the_same_as_pytorch(name, kind):
    ours, theirs, tensor = OURS.own(), Own(), torch.tensor([5.0, 6.0])
    try:
        setattr(theirs, name, value(kind, tensor))
    except TypeError as error:
        with pytest.raises(Exception) as raised:
            OURS.set(ours, name, kind, tensor)
        expected_type = str(error).split("(")[0].split(" as ")[1].strip()  # parameter 'weight'
        assert f"as {expected_type} of Own" in str(raised.value)
    else:
        OURS.set(ours, name, kind, tensor)
    assert sorted(OURS.keys(ours)) == sorted(theirs.state_dict())
    assert sorted(OURS.parameters(ours)) == sorted(dict(theirs.named_parameters()))
    assert sorted(OURS.buffers(ours)) == sorted(dict(theirs.named_buffers()))
    held = getattr(theirs, name)
    if isinstance(held, torch.Tensor):
        assert equal(getattr(ours, name), held)


@pytest.mark.parametrize("way", ["set_weight", "set_bare", "set_late"])
def test_a_method_of_the_class_raises_the_same_error(way):
    ours = OURS.own()
    with pytest.raises(Exception, match=r"Parameter or nil expected.: write Parameter"):
        getattr(ours, way)(torch.zeros(2))
    assert ours.weight.tolist() == [1.0, 1.0]


def test_buffer_keeps_the_history_of_the_assigned_tensor():
    ours, theirs = OURS.own(), Own()
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    ours.set_running(x * 3)
    theirs.running = y * 3
    ours.running.sum().backward()
    theirs.running.sum().backward()
    assert equal(x.grad, y.grad)
