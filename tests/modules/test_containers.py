"""Containers match PyTorch: the same lines run in both languages and print the same output."""

from __future__ import annotations

from collections import OrderedDict

import pytest
from embedded_simple import run, torch
from torch import nn

USES = "use torch\nuse torch.nn\n"
STARTS = {
    "plain": ("nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Tanh())",) * 2,
    "named": (
        'nn.Sequential(("conv1", nn.Linear(1, 2)), ("relu1", nn.ReLU()))',
        'nn.Sequential(OrderedDict([("conv1", nn.Linear(1, 2)), ("relu1", nn.ReLU())]))',
    ),
    "list": ("nn.ModuleList([nn.Linear(1, 2), nn.ReLU(), nn.Tanh()])",) * 2,
    "dict": ('nn.ModuleDict([("z", nn.Linear(1, 2)), ("a", nn.ReLU())])',) * 2,
    "parameters": ("nn.ParameterList([torch.ones([2, 3]), torch.ones([]), 3])",) * 2,
    "one parameter": ("nn.ParameterList([torch.ones([2, 3])])",) * 2,
    "named parameters": ('nn.ParameterDict([("z", torch.ones([2])), ("a", torch.zeros([1, 2]))])',) * 2,
    "parameters of a dict": ('nn.ParameterDict({"z": torch.ones([2]).double(), "a": torch.zeros([1, 2])})',) * 2,
}
# The operations on `s`; a pair where the languages differ. If the last line is an expression, it is printed.
DONE = {
    "plain": [
        "s",
        "s.insert(1, nn.GELU())",
        "s.insert(-1, nn.GELU())",
        "s.insert(3, nn.GELU())",
        "s.pop(0)",
        "s.pop(-1)",
        ("s.pop(0..2)", "s.pop(slice(0, 2))"),
        "s.__delitem__(1)",
        "s[1:]",
        "s[-2:]",
        "s[::2]",
        "s[-1]",
        "s + nn.Sequential(nn.GELU())",
        "s * 2",
        "2 * s",
        "s += nn.Sequential(nn.GELU())",
        "s *= 2",
        "s.extend([nn.GELU(), nn.SiLU()])",
        "s[1] = nn.GELU()",
        "s.foo = nn.GELU()",
    ],
    "named": [
        "s.conv1",
        "s.append(nn.GELU())",
        "s.insert(2, nn.GELU())",
        "s.conv1 = nn.GELU()",
        "s[0:1]",
        "s.pop(0)",
        "s + s",
        "s[1] = nn.GELU()",
        's.add_module("last", nn.GELU())',
    ],
    "list": [
        "s.insert(0, nn.GELU())",
        "s.insert(3, nn.GELU())",
        "s.pop(1)",
        "s.pop(-1)",
        "s.__delitem__(0)",
        ("s.__delitem__(0..2)", "s.__delitem__(slice(0, 2))"),
        "s[1:]",
        "s[-1]",
        "s + [nn.GELU()]",
        "s + s",
        "s += [nn.GELU()]",
        "s.extend(nn.Sequential(nn.GELU(), nn.GELU()))",
        "s[-1] = nn.GELU()",
    ],
    "dict": [
        's.pop("z")',
        's.__delitem__("a")',
        "s.clear()",
        ("s.keys()", "list(s.keys())"),
        ("s.items().len()", "len(s.items())"),
        ('"a" in s', '"true" if "a" in s else "false"'),
        ('"q" in s', '"true" if "q" in s else "false"'),
        "s.z",
        "s.z = nn.GELU()",
        's.update({"b": nn.GELU(), "a": nn.GELU()})',
        's.update(nn.ModuleDict([("q", nn.GELU())]))',
        's["z"] = nn.GELU()',
        's.add_module("n", nn.GELU())',
    ],
    "parameters": [
        "s",
        "s[1:]",
        "s[-1]",
        "s[0] = torch.zeros([4])",
        "s.append(nn.Parameter(torch.ones([1])))",
        "s.extend([torch.ones([1]), 4])",
        "s += [torch.ones([1])]",
        "nn.Sequential(s, nn.ReLU())",
    ],
    "one parameter": ["s", "nn.Sequential(s)"],
    "named parameters": [
        "s",
        "s.z",
        's.get("z")',
        's.get("q", 3)',
        's.pop("z")',
        "s.popitem()[1]",
        's.setdefault("q", torch.ones([3]))',
        's.setdefault("z", torch.ones([3]))',
        's.update({"q": torch.ones([1]), "b": torch.ones([2])})',
        "s.copy()",
        's.fromkeys(["x", "y"], torch.ones([1]))',
        's | nn.ParameterDict({"q": torch.ones([1])})',
        's.__delitem__("z")',
        "s.clear()",
        ('"z" in s', '"true" if "z" in s else "false"'),
        ("s.keys()", "list(s.keys())"),
        ("s.values().len()", "len(list(s.values()))"),
    ],
    "parameters of a dict": ["s"],
}
CASES = [(start, done) for start, all_done in DONE.items() for done in all_done]
REJECTED = [
    ("plain", "s.insert(7, nn.GELU())", "index 7 is out of range"),
    ("plain", "s.pop(3)", "index 3 is out of range"),
    ("plain", "s + 3", "add operator supports only objects of Sequential class, but i64 is given."),
    ("plain", "s * 0", "Non-positive multiplication factor 0 for Sequential"),
    ("plain", "s.append(nn.ReLU)", "Sequential: <class ReLU> (a class, not an instance) has no forward()"),
    ("named", "s.insert(0, nn.GELU())", 'Sequential.insert() cannot renumber the layer named "conv1"'),
    ("list", "s.extend(3)", "ModuleList.extend should be called with an iterable, but got i64"),
    ("list", "s.append(nn.ReLU)", "ModuleList: <class ReLU> (a class, not an instance) is not a Module subclass"),
    ("list", "s[3]", "index 3 is out of range"),
    ("dict", "s.update(3)", "ModuleDict.update should be called with an iterable, but got i64"),
    (
        "dict",
        's.update(["ab"])',
        "ModuleDict.update should be called with an iterable of key/value pairs, but got an item of type text",
    ),
    ("dict", 's["b"] = 3', 'ModuleDict ("b"): i64 is not a Module subclass'),
    ("dict", 's.pop("b")', 'ModuleDict has no module "b"; keys: z, a'),
    (
        "parameters",
        "s.extend(torch.ones([2]))",
        "ParameterList.extend should be called with an iterable, but got Tensor",
    ),
    ("parameters", "s(3)", "ParameterList should not be called."),
    ("named parameters", 's["q"]', 'ParameterDict has no parameter "q"; keys: z, a'),
]


def is_statement(line: str) -> bool:
    return " = " in line or "+=" in line or "*=" in line


def run_in_simple(start: str, line: str) -> str:
    body = f"    {line}\n    val shown = nil" if is_statement(line) else f"    val shown = {line}"
    source = (
        f'{USES}fn output():\n    var s = {STARTS[start][0]}\n{body}\n    "{{shown}}|{{s}}|{{s.state_dict().keys()}}"\n'
    )
    return run(source, name="containers").output()


def run_in_python(start: str, line: str) -> str:
    names = {"nn": nn, "torch": torch, "OrderedDict": OrderedDict}
    exec(f"s = {STARTS[start][1]}\n{line if is_statement(line) else 'shown = ' + line}", names)
    shown = names.get("shown")
    keys = str(list(names["s"].state_dict().keys())).replace("'", "")
    return f"{'nil' if shown is None else shown}|{names['s']}|{keys}".replace("['z', 'a']", "[z, a]")


@pytest.mark.parametrize(("start", "done"), CASES, ids=lambda value: value if isinstance(value, str) else value[0])
def test_results_and_contents_match_pytorch(start, done):
    ours, theirs = (done, done) if isinstance(done, str) else done
    assert run_in_simple(start, ours) == run_in_python(start, theirs)


@pytest.mark.parametrize(("start", "line", "message"), REJECTED)
def test_rejects_the_same_as_pytorch_with_a_reason(start, line, message):
    with pytest.raises(Exception) as raised:
        run_in_simple(start, line)
    assert message in str(raised.value)
    if "nn.ReLU)" not in line:  # Python's Sequential accepts it
        with pytest.raises((AttributeError, LookupError, RuntimeError, TypeError, ValueError)):
            run_in_python(start, line)


def test_a_dict_names_the_layers():
    ours = run(
        USES + 'fn made(): nn.Sequential({"conv": nn.Linear(2, 3), "relu": nn.ReLU()})\n'
        "fn names(m): m.named_children().map(\\pair: pair.0)\nfn call(m, x): m(x).shape\n",
        name="sequential_of_a_dict",
    )
    net = ours.made()
    assert ours.names(net) == ["conv", "relu"]
    assert ours.call(net, torch.zeros(4, 2)) == [4, 3]
