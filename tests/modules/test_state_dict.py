"""load_state_dict() and state_dict() match PyTorch: hooks, extra state and `assign`."""

from __future__ import annotations

from collections import OrderedDict

import pytest
from embedded_simple import equal, run, torch
from torch import nn

OURS = run(
    """
    use torch
    use torch.nn

    class Counted(nn.Module):
        fc: nn.Linear
        count: i64 = 0
        fn init(count):
            self.fc = nn.Linear(2, 2)
            self.count = count
        fn get_extra_state(): self.count
        fn set_extra_state(state):
            self.count = state

    fn counted(count): Counted(count)
    fn outer(count): nn.Sequential(Counted(count), nn.Linear(2, 2))
    fn linear(dtype = nil): nn.Linear(2, 2, dtype: if dtype == nil: nil else: torch.float64)
    fn keys(m): m.state_dict().keys()
    fn saved_and_shown(m, file):
        torch.save(m.state_dict(), file)
        "{m.state_dict()}"
    fn load_file(m, file): m.load_state_dict(torch.load(file))
    fn load(m, state, strict = true, assign = false):
        val message_text = m.load_state_dict(state, strict: strict, assign: assign)
        (message_text.missing_keys, message_text.unexpected_keys)

    fn hooked_saving(log):
        val m = nn.Sequential(nn.Linear(1, 1), nn.Sequential(nn.Linear(1, 1)))
        for (name, each) in m.named_modules():
            each.register_state_dict_pre_hook(\\_m, prefix, keep: log("pre {prefix} {keep}"))
            each.register_state_dict_post_hook(\\_m, state, prefix, _meta: added(log, state, prefix))
        m.state_dict(prefix: "at.", keep_vars: true).keys()
    fn added(log, state, prefix):
        log("post {prefix} {state.len()}")
        state[prefix + "note"] = torch.ones([1])

    fn renaming(m):
        m.register_load_state_dict_pre_hook(\\_m, state, prefix, _meta, _strict, _missing, _unexpected, _errors:
            renamed(state, prefix))
    fn renamed(state, prefix):
        if prefix + "old" in state:
            state[prefix + "weight"] = state[prefix + "old"]
            state.remove(prefix + "old")
    fn complaining(m):
        m.register_load_state_dict_pre_hook(\\_m, _state, prefix, _meta, _strict, missing, unexpected, errors:
            report_errors(prefix, missing, unexpected, errors))
    fn report_errors(prefix, missing, unexpected, errors):
        missing.push(prefix + "this")
        unexpected.push(prefix + "that")
        errors.push("I do not like it")
    fn forgiving(m):
        m.register_load_state_dict_post_hook(\\_m, keys: forgiven(keys))
    fn forgiven(keys):
        keys.missing_keys = keys.missing_keys.filter(\\key: key != "bias")
        nil
    fn answering(m):
        m.register_load_state_dict_post_hook(\\_m, keys: keys)
    """,
    name="module states",
)


class Counted(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.fc, self.count = nn.Linear(2, 2), count

    def get_extra_state(self):
        return self.count

    def set_extra_state(self, state):
        self.count = state


def message(body):
    with pytest.raises(Exception) as raised:
        body()
    return str(raised.value)


def test_extra_state_is_part_of_the_state_dict():
    ours, theirs = OURS.outer(3), nn.Sequential(Counted(3), nn.Linear(2, 2))
    assert list(OURS.keys(ours)) == list(theirs.state_dict())
    other = OURS.outer(0)
    assert OURS.load(other, theirs.state_dict()) == ([], [])
    assert other[0].count == 3
    assert equal(other[0].fc.weight, theirs[0].fc.weight)


def test_extra_state_is_saved_and_loaded(tmp_path):
    ours, theirs, file = OURS.counted(3), Counted(0), str(tmp_path / "state.pt")
    shown = OURS.saved_and_shown(ours, file)
    assert str(shown) == "{_extra_state: 3, fc.weight: Tensor[2, 2], fc.bias: Tensor[2]}"
    theirs.load_state_dict(torch.load(file))
    other = OURS.counted(0)
    OURS.load_file(other, file)
    assert theirs.count == other.count == 3
    assert equal(theirs.fc.weight, other.fc.weight)


@pytest.mark.parametrize("drop", [True, False])
def test_missing_and_unexpected_extra_state_is_reported(drop):
    state = Counted(3).fc.state_dict(prefix="fc.") if drop else OrderedDict(Counted(3).fc.state_dict(), _extra_state=1)
    ours, theirs = (OURS.counted(0), Counted(0)) if drop else (OURS.linear(), nn.Linear(2, 2))
    message_text = message(lambda: OURS.load(ours, state))
    assert message(lambda: theirs.load_state_dict(state)).split(":", 1)[1].strip() in message_text


def test_state_dict_hooks_run_as_in_pytorch():
    ours, theirs = [], []
    module = nn.Sequential(nn.Linear(1, 1), nn.Sequential(nn.Linear(1, 1)))

    def added(_module, state, prefix, _meta):
        theirs.append(f"post {prefix} {len(state)}")
        state[prefix + "note"] = torch.ones(1)

    for each in module.modules():
        each.register_state_dict_pre_hook(lambda _m, prefix, keep: theirs.append(f"pre {prefix} {str(keep).lower()}"))
        each.register_state_dict_post_hook(added)
    assert list(OURS.hooked_saving(lambda line: ours.append(str(line)))) == list(
        module.state_dict(prefix="at.", keep_vars=True)
    )
    assert ours == theirs


def test_load_state_dict_pre_hook_may_rename_keys():
    inner = OURS.linear()
    OURS.renaming(inner)
    source = nn.Linear(2, 2)
    state = {"old": source.weight.detach(), "bias": source.bias.detach()}
    assert OURS.load(inner, state) == ([], [])
    assert equal(inner.weight, source.weight)
    assert sorted(state) == ["bias", "old"], "the given state is left alone"
    outer = OURS.outer(0)
    OURS.renaming(outer[1])
    state = nn.Sequential(Counted(0), nn.Linear(2, 2)).state_dict()
    state["1.old"] = state.pop("1.weight")
    assert OURS.load(outer, state) == ([], [])


def test_load_state_dict_pre_hook_may_report_errors():
    ours, theirs = OURS.linear(), nn.Linear(2, 2)
    OURS.complaining(ours)

    def report_errors(_m, _state, prefix, _meta, _strict, missing, unexpected, errors):
        missing.append(prefix + "this")
        unexpected.append(prefix + "that")
        errors.append("I do not like it")

    theirs.register_load_state_dict_pre_hook(report_errors)
    state = nn.Linear(2, 2).state_dict()
    assert message(lambda: theirs.load_state_dict(state)) in message(lambda: OURS.load(ours, state))


def test_load_state_dict_post_hook_may_change_the_keys():
    ours, source = OURS.linear(), nn.Linear(2, 2)
    before = ours.bias.tolist()
    OURS.forgiving(ours)
    assert OURS.load(ours, {"weight": source.weight.detach()}) == ([], [])
    assert equal(ours.weight, source.weight) and ours.bias.tolist() == before
    assert 'Missing key(s) in state_dict: "weight"' in message(lambda: OURS.load(ours, {"bias": source.bias.detach()}))


def test_load_state_dict_post_hook_must_return_nothing():
    ours, theirs = OURS.linear(), nn.Linear(2, 2)
    OURS.answering(ours)
    theirs.register_load_state_dict_post_hook(lambda _m, keys: keys)
    state = nn.Linear(2, 2).state_dict()
    message_text = message(lambda: theirs.load_state_dict(state)).split(",")[0]
    message_text = message_text.replace("notexpected", "not expected")  # the text of PyTorch 2.11
    assert message_text in message(lambda: OURS.load(ours, state))


@pytest.mark.parametrize("requires_grad", [True, False])
def test_assign_uses_the_loaded_memory_and_dtype(requires_grad):
    ours, theirs, source = OURS.linear(), nn.Linear(2, 2), nn.Linear(2, 2, dtype=torch.float64)
    for module in (ours, theirs):
        module.requires_grad_(requires_grad)
    assert OURS.load(ours, source.state_dict(), True, True) == ([], [])
    theirs.load_state_dict(source.state_dict(), assign=True)
    assert equal(ours.weight, theirs.weight)
    assert ours.weight.data_ptr() == theirs.weight.data_ptr() == source.weight.data_ptr()
    assert ours.weight.requires_grad == theirs.weight.requires_grad == requires_grad
    assert "size mismatch for weight" in message(lambda: OURS.load(ours, nn.Linear(3, 2).state_dict(), True, True))


def test_assign_materializes_a_meta_module():
    ours, source = OURS.linear(), nn.Linear(2, 2)
    ours.to("meta")
    OURS.load(ours, source.state_dict(), True, True)
    assert equal(ours.weight, source.weight)
