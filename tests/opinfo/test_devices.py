"""torch.device, torch.cuda and torch.__version__, compared with Python."""

from __future__ import annotations

import pytest
from embedded_simple import equal, run, torch

OURS = run(
    """
    use torch
    use python as py
    fn parts(args...):
        val d = torch.device(*args)
        (d.type, d.index, "{d}", d.repr())
    fn named(type, index): "{torch.device(type: type, index: index)}"
    fn of_another(name): "{torch.device(torch.device(name))}"
    fn alike(a, b): torch.device(a) == torch.device(b)
    fn as_name(a, b): [torch.device(a) == b, b == torch.device(a), torch.device(a) != b]
    fn made(name):
        val d = torch.device(name)
        [torch.zeros([2], device: d), torch.arange(3, device: d), torch.ones([2]).to(d), torch.ones([1]).to(device: d),
            torch.tensor([1.0], device: d), torch.nn.Linear(2, 1, device: d).to(d).weight, torch.empty([1], device: d),
            torch.ones([2]).to(d, torch.float64)]
    fn default_in_block(name):
        var outer = nil
        var inner = nil
        with torch.device(name):
            with torch.device("cpu"):
                inner = torch.ones([1]).device
            outer = (torch.ones([1]).device, torch.get_default_device(), inner)
        (outer, torch.ones([1]).device)
    fn to_python(name): torch.device(name)
    fn from_python(d): (torch.device(d).repr(), torch.ones([1], device: d))
    fn moved_in_python(name): py.import("torch").ones(2).to(torch.device(name)).device
    fn is_a_device(): (torch.device("cpu") is torch.device, type_of(torch.device("cpu")))
    fn version(): torch.__version__
    fn cuda(): (torch.cuda.is_available(), torch.cuda.device_count(), torch.cuda.memory_allocated())
    fn most(device): torch.cuda.max_memory_allocated(device)
    """,
    name="devices",
)
GOOD = [("cpu",), ("cuda:0",), ("cuda", 1), ("cuda",), (2,), ("cpu:0",), ("meta",), ("mps:1",), ("cpu", 2)]
BAD = [("",), ("foo",), ("CPU",), ("cuda:",), ("cuda:01",), ("cuda:-1",), ("cuda:1.5",), ("cuda 0",), ("cuda:1:2",)]


@pytest.mark.parametrize("args", GOOD, ids=str)
def test_type_index_and_forms(args):
    expected = torch.device(*args)
    assert OURS.parts(*args) == (expected.type, expected.index, str(expected), repr(expected))
    assert OURS.of_another(str(expected)) == str(expected)
    assert OURS.to_python(str(expected)) == expected
    assert OURS.from_python(torch.device("cpu"))[0] == "device(type='cpu')"


def test_arguments_by_name():
    assert OURS.named("cuda", 3) == str(torch.device(type="cuda", index=3))


@pytest.mark.parametrize("args", [*BAD, ("cuda:0", 1), ("cuda", -1), (-1,)], ids=str)
def test_invalid_devices_are_rejected_with_pytorchs_message(args):
    with pytest.raises(RuntimeError) as expected:
        torch.device(*args)
    with pytest.raises(RuntimeError) as raised:
        OURS.parts(*args)
    assert str(expected.value) in str(raised.value)


@pytest.mark.parametrize("value", [None, 1.5, [1], ("cuda", "0")], ids=str)
def test_other_types_are_rejected(value):
    args = value if isinstance(value, tuple) else (value,)
    with pytest.raises(TypeError):
        torch.device(*args)
    with pytest.raises(RuntimeError, match="device"):
        OURS.parts(*args)


def test_equality_compares_type_and_index():
    names = ["cpu", "cpu:0", "cuda", "cuda:0", "cuda:1", "meta"]
    for a in names:
        for b in names:
            assert OURS.alike(a, b) == (torch.device(a) == torch.device(b))
            assert OURS.as_name(a, b) == [a == b, a == b, a != b]  # tensors' devices are names here


@pytest.mark.parametrize("name", ["cpu", "meta"])
def test_device_is_accepted_as_a_device_argument(name):
    d = torch.device(name)
    assert all(tensor.device == d for tensor in OURS.made(name))
    assert OURS.moved_in_python(name) == d
    assert equal(OURS.from_python(torch.device("cpu"))[1], torch.ones(1))


def test_device_is_the_default_in_a_block():
    with torch.device("meta"):
        with torch.device("cpu"):
            inner = torch.ones(1).device
        outer = [str(torch.ones(1).device), str(torch.get_default_device()), str(inner)]
    own_outer, own_after = OURS.default_in_block("meta")
    assert ([str(device) for device in own_outer], str(own_after)) == (outer, str(torch.ones(1).device))


def test_device_is_a_type():
    assert OURS.is_a_device() == (True, "Device")


def test_version_matches_libtorch():
    assert OURS.version() == torch.__version__.split("+")[0]


def test_cuda_functions_match_python():
    assert OURS.cuda() == (torch.cuda.is_available(), torch.cuda.device_count(), torch.cuda.memory_allocated())
    with pytest.raises(RuntimeError, match="Expected a cuda device, but got: cpu"):
        OURS.most("cpu")
    if not torch.cuda.is_available():
        assert OURS.most("cuda:0") == OURS.most(None) == 0
