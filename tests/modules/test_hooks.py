"""Forward, backward and state hooks of modules match PyTorch: arguments, replacements and errors."""

from __future__ import annotations

import pytest
from embedded_simple import equal, run, torch
from torch import nn

OURS = run(
    """
    use torch
    use torch.nn
    use torch.nn.modules.module

    class Two(nn.Module):
        fc: nn.Linear
        fn init():
            self.fc = nn.Linear(2, 2)
        fn forward(a, b, scale = 1.0): (self.fc(a) * scale, a * b)

    class Failing(nn.Module):
        fn forward(x): panic("forward failed")

    class Log:
        seen: [any] = []
        fn replacement() -> [any]: self.seen
        me add(value):
            self.seen.push(value)

    val log = Log()
    fn seen():
        val all = log.seen
        log.seen = []
        all
    fn linear(): nn.Linear(2, 2)
    fn two(): Two()
    fn pair(): nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 2)))
    fn load(m, state): m.load_state_dict(state)
    fn called(m, args...): m(*args)
    fn noted(m, kind, answer):
        match kind:
            case "pre": m.register_full_backward_pre_hook(\\_m, go: noting(go, answer))
            case "full": m.register_full_backward_hook(\\_m, gi, go: noting((gi, go), answer))
    fn noting(value, answer):
        log.add(value)
        if answer == nil: return nil
        val replacement = answer(value)
        if type_of(replacement) == "Object": replacement.to_value() else: replacement
    fn everywhere(kind):
        match kind:
            case "forward_pre": module.register_module_forward_pre_hook(\\m, _a: noting("pre {m._get_name()}", nil))
            case "forward": module.register_module_forward_hook(\\m, _a, o: noting(m._get_name(), \\_v: o * 2.0))
            case "backward_pre": module.register_module_full_backward_pre_hook(\\m, go: noting(("pre", go), nil))
            case "backward": module.register_module_full_backward_hook(\\m, gi, go: noting((gi, go), nil))
    fn always(with_kwargs):
        val m = Failing()
        m.register_forward_hook(\\_m, _a, _o: noting("not always", nil))
        if with_kwargs:
            m.register_forward_hook(\\_m, _a, k, o: noting((k.len(), o), nil), with_kwargs: true, always_call: true)
        else: m.register_forward_hook(\\_m, _a, o: noting(o, nil), always_call: true)
        attempt(\\: m(torch.ones([1]))).unwrap_err().message
    """,
    name="module hooks",
)


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, a, b, scale=1.0):
        return self.fc(a) * scale, a * b


@pytest.fixture(autouse=True)
def empty_log():
    OURS.seen()


def noted(log, module, kind, answer):
    def hook(_module, *values):
        value = values[0] if len(values) == 1 else values
        log.append(value)
        return None if answer is None else answer(value)

    register = module.register_full_backward_pre_hook if kind == "pre" else module.register_full_backward_hook
    register(hook)


def make_pair(make_ours, make_theirs):
    ours, theirs = make_ours(), make_theirs()
    OURS.load(ours, theirs.state_dict())
    return ours, theirs


def inputs(wants):
    generator = torch.Generator().manual_seed(2)
    return [torch.randn(3, 2, generator=generator).requires_grad_(each) for each in wants]


ANSWERS = {
    "nothing": None,
    "double the outputs' gradients": ("pre", lambda go: tuple(None if g is None else g * 2 for g in go)),
    "halve the inputs' gradients": ("full", lambda both: tuple(None if g is None else g / 2 for g in both[0])),
}


WANTS = [(True, True), (True, False), (False, True), (False, False)]
# Only nil can be returned if no input requires grad.
ANSWERED = [(wants, answer) for wants in WANTS for answer in ANSWERS if any(wants) or not answer.startswith("halve")]


@pytest.mark.filterwarnings("ignore:Full backward hook is firing")
@pytest.mark.parametrize(("wants", "answer"), ANSWERED)
def test_backward_hooks_see_and_change_gradients(wants, answer):
    ours, theirs = make_pair(OURS.two, Two)
    log = []
    for kind in ("full", "pre"):
        replacement = ANSWERS[answer][1] if ANSWERS[answer] and ANSWERS[answer][0] == kind else None
        OURS.noted(ours, kind, replacement)
        noted(log, theirs, kind, replacement)
    mine, others = inputs(wants), inputs(wants)
    for call, each in ((lambda args: OURS.called(ours, *args), mine), (lambda args: theirs(*args), others)):
        first, second = call([*each])
        (first.sum() * 3 + second.pow(2).sum()).backward()
    seen = OURS.seen()
    assert len(seen) == len(log) == 2
    assert equal(seen, log)
    assert [a.grad is None for a in mine] == [b.grad is None for b in others]
    assert all(a.grad is None or equal(a.grad, b.grad) for a, b in zip(mine, others))
    assert equal(ours.fc.weight.grad, theirs.fc.weight.grad)


@pytest.mark.filterwarnings("ignore:Full backward hook is firing")
@pytest.mark.parametrize(
    ("kind", "answer", "wants"),
    [
        ("pre", lambda go: go[:1], (True, True)),
        ("full", lambda both: both[0][:1], (True, True)),
        ("full", lambda both: both[1], (False, False)),
    ],
)
def test_backward_hooks_are_rejected_as_in_pytorch(kind, answer, wants):
    ours, theirs = make_pair(OURS.two, Two)
    OURS.noted(ours, kind, answer)
    noted([], theirs, kind, answer)
    with pytest.raises(RuntimeError) as expected:
        sum(t.sum() for t in theirs(*inputs(wants))).backward()
    with pytest.raises(Exception) as raised:
        sum(t.sum() for t in OURS.called(ours, *inputs(wants))).backward()
    assert str(expected.value).rstrip(".") in str(raised.value)


def test_double_backward_runs_through_the_hooks():
    ours, theirs = make_pair(OURS.linear, lambda: nn.Linear(2, 2))
    double = ANSWERS["double the outputs' gradients"][1]
    OURS.noted(ours, "pre", double)
    noted([], theirs, "pre", double)
    found = []
    for module in (ours, theirs):
        x = inputs([True])[0]
        y = OURS.called(module, x) if module is ours else module(x)
        (gradient,) = torch.autograd.grad(y.pow(2).sum(), x, create_graph=True)
        found.append((gradient, torch.autograd.grad(gradient.sum(), module.weight)[0]))
    assert equal(*found)


def test_global_hooks_run_before_a_modules_own_until_removed():
    log, handles = [], [OURS.everywhere(kind) for kind in ("forward_pre", "forward", "backward_pre", "backward")]
    everywhere = nn.modules.module
    theirs_handles = [
        everywhere.register_module_forward_pre_hook(lambda m, a: log.append(f"pre {type(m).__name__}")),
        everywhere.register_module_forward_hook(lambda m, a, o: log.append(type(m).__name__) or o * 2.0),
        everywhere.register_module_full_backward_pre_hook(lambda m, go: log.append(("pre", go))),
        everywhere.register_module_full_backward_hook(lambda m, gi, go: log.append((gi, go))),
    ]
    try:
        ours, theirs = make_pair(OURS.pair, lambda: nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 2))))
        OURS.called(ours, *inputs([True])).sum().backward()
        theirs(*inputs([True])).sum().backward()
    finally:
        for handle in (*handles, *theirs_handles):
            handle.remove()
    seen = OURS.seen()
    assert len(seen) == len(log) == 16
    assert equal(seen, log)
    OURS.called(ours, *inputs([True]))
    assert OURS.seen() == []


@pytest.mark.parametrize("with_kwargs", [False, True])
def test_always_call_hooks_run_if_forward_fails(with_kwargs):
    assert OURS.always(with_kwargs) == "forward failed"
    assert OURS.seen() == ([(0, None)] if with_kwargs else [None])
