"""The C functions on graph nodes, hooks of several tensors and settings: results and errors."""

from __future__ import annotations

import ctypes

import pytest

torch = pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)

from embedded_abi import Abi, AbiError  # noqa: E402

INVALID_ARGUMENT, INVALID_HANDLE = 1, 2
Call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
End = ctypes.CFUNCTYPE(None, ctypes.c_int64)
Integers = ctypes.POINTER(ctypes.c_int64)


class Functions:
    """Calls functions with integers, strings, lists of handles and callbacks, and returns their results."""

    def __init__(self) -> None:
        self.abi, self.owned = Abi(), []

    def do(self, name: str, *args, out=None):
        arguments = []
        for arg in args:
            if isinstance(arg, list):
                arguments += [(ctypes.c_int64 * max(len(arg), 1))(*arg), ctypes.c_int64(len(arg))]
            elif isinstance(arg, bool):
                arguments.append(ctypes.c_bool(arg))
            elif isinstance(arg, int):
                arguments.append(ctypes.c_int64(arg))
            else:
                arguments.append(arg.encode() if isinstance(arg, str) else arg)
        outs = [kind() for kind in out or ()]
        self.abi.check(getattr(self.abi.front, name)(*arguments, *map(ctypes.byref, outs)))
        return outs[0].value if len(outs) == 1 else outs

    def handle(self, name: str, *args) -> int:
        self.owned.append(self.do(name, *args, out=[ctypes.c_int64]))
        return self.owned[-1]

    def number(self, name: str, *args) -> int:
        return self.do(name, *args, out=[ctypes.c_int64])

    def text(self, name: str, *args) -> str:
        return self.do(name, *args, out=[ctypes.c_char_p]).decode()

    def list(self, name: str, *args) -> list[int]:
        items, count = self.do(name, *args, out=[Integers, ctypes.c_int64])
        return items[: count.value]

    def leaf(self, *values: float) -> int:
        leaf = self.abi.enter(torch.tensor(values))
        self.owned.append(leaf)
        self.do("spt_set_requires_grad", leaf, True)
        return leaf

    def values(self, handle: int) -> list[float]:
        items, count = self.do("spt_to_list", handle, out=[ctypes.POINTER(ctypes.c_double), ctypes.c_int64])
        return items[: count.value]

    def gradient(self, leaf: int) -> list[float]:
        return self.values(self.handle("spt_grad", leaf))


@pytest.fixture
def abi():
    functions = Functions()
    before = functions.number("spt_live_handles", 0)
    yield functions
    for handle in functions.owned:
        if handle:
            functions.do("spt_release", handle)
    assert functions.number("spt_live_handles", 0) == before


def expect_error(kind: int, message: str, call, *args, **named) -> None:
    with pytest.raises(AbiError, match=message or None) as error:
        call(*args, **named)
    assert error.value.kind == kind


def test_a_graph_is_traversed_to_its_leaf(abi):
    x = abi.leaf(2.0, 3.0)
    square = abi.handle("spt_mul", x, x)
    node = abi.handle("spt_grad_fn", square)
    assert abi.text("spt_node_name", node) == "MulBackward0"
    flat = abi.list("spt_node_next_functions", node)
    abi.owned += flat[::2]
    assert len(flat) == 4 and flat[1::2] == [0, 0]
    assert abi.text("spt_node_name", flat[0]) == "torch::autograd::AccumulateGrad"
    assert abi.values(abi.handle("spt_node_variable", flat[0])) == [2.0, 3.0]
    assert abi.number("spt_node_variable", node) == 0
    own = abi.handle("spt_gradient_node", x)
    assert len({abi.number("spt_node_identity", each) for each in (flat[0], flat[2], own)}) == 1
    assert abi.number("spt_node_identity", node) != abi.number("spt_node_identity", own)
    assert abi.number("spt_grad_fn", x) == 0
    assert abi.number("spt_output_nr", square) == 0


def test_other_handles_are_not_nodes(abi):
    plain = abi.abi.enter(torch.ones(2))
    abi.owned.append(plain)
    for name in ("spt_node_name", "spt_node_identity", "spt_node_next_functions", "spt_node_variable"):
        out = [Integers, ctypes.c_int64] if name == "spt_node_next_functions" else [ctypes.c_int64]
        expect_error(INVALID_HANDLE, "", abi.do, name, plain, out=out)
    expect_error(INVALID_ARGUMENT, "the tensor must require grad", abi.number, "spt_gradient_node", plain)


def test_hooks_before_and_after_a_node_see_and_replace_gradients(abi):
    x = abi.leaf(2.0, 3.0)
    square = abi.handle("spt_mul", x, x)
    node, seen, ended = abi.handle("spt_grad_fn", square), [], []

    def changed(factor):
        def hook(key, of_inputs):
            gradients = abi.list("spt_node_hook_gradients")
            seen.append((key, of_inputs, [abi.values(g) for g in gradients]))
            keep = gradients[:of_inputs] if of_inputs else gradients
            replaced = [abi.number("spt_mul_scalar", g, ctypes.c_double(factor)) for g in keep]
            abi.do("spt_node_hook_set_gradients", replaced)
            for each in gradients + replaced:
                abi.do("spt_release", each)
            return 1

        return Call(hook)

    before, after, end = changed(10.0), changed(2.0), End(ended.append)
    first = abi.number("spt_node_register_hook", node, 5, before, end, True)
    second = abi.number("spt_node_register_hook", node, 6, after, end, False)
    weights = abi.abi.enter(torch.ones(2))
    abi.owned.append(weights)
    abi.do("spt_backward_with", square, weights, True, False)
    twenty = [20.0, 30.0]
    assert seen == [(5, 0, [[1.0, 1.0]]), (6, 2, [twenty, twenty, [10.0, 10.0]])]
    assert abi.gradient(x) == [80.0, 120.0]
    abi.do("spt_node_remove_hook", first)
    abi.do("spt_node_remove_hook", second)
    assert sorted(ended) == [5, 6]
    abi.do("spt_node_remove_hook", first)  # a second removal does nothing
    abi.do("spt_backward_with", square, weights, False, False)
    assert len(seen) == 2 and abi.gradient(x) == [84.0, 126.0]


def test_gradients_are_available_only_in_a_hook_or_a_pass(abi):
    out = [Integers, ctypes.c_int64]
    expect_error(INVALID_ARGUMENT, "runs no node hook", abi.do, "spt_node_hook_gradients", out=out)
    expect_error(INVALID_ARGUMENT, "runs no node hook", abi.do, "spt_node_hook_set_gradients", [])
    number = abi.number("spt_watch_gradients", [abi.leaf(1.0)])
    expect_error(INVALID_ARGUMENT, "not inside a backward pass", abi.number, "spt_watched_in_pass", number)
    abi.do("spt_unwatch_gradients", number)


def test_a_pass_counts_the_watched_tensors_that_it_reaches(abi):
    x, y, z = abi.leaf(2.0), abi.leaf(3.0), abi.leaf(4.0)
    number, counts = abi.number("spt_watch_gradients", [x, y, z]), []

    def count(_, gradient):
        counts.append(abi.number("spt_watched_in_pass", number))
        abi.do("spt_release", gradient)
        return -1

    hook, end = Call(count), End(lambda key: None)
    abi.number("spt_register_hook", x, 1, hook, end)
    abi.do("spt_backward", abi.handle("spt_mul", x, y))
    abi.do("spt_backward", abi.handle("spt_mul", x, x))
    abi.do("spt_unwatch_gradients", number)
    abi.do("spt_backward", abi.handle("spt_mul", x, y))
    assert counts == [2, 1, 0]
    plain = abi.abi.enter(torch.ones(1))
    abi.owned.append(plain)
    expect_error(INVALID_ARGUMENT, "the tensor must require grad", abi.number, "spt_watch_gradients", [plain])


def test_hooks_on_saved_tensors_are_disabled_and_enabled(abi):
    call, end = Call(lambda key, value: 0), End(lambda key: None)
    abi.do("spt_saved_tensors_hooks_disable", "not here")
    expect_error(INVALID_ARGUMENT, "not here", abi.do, "spt_saved_tensors_hooks_begin", 1, call, call, end, end)
    abi.do("spt_saved_tensors_hooks_enable")
    abi.do("spt_saved_tensors_hooks_begin", 1, call, call, end, end)
    expect_error(INVALID_ARGUMENT, "hooks are there", abi.do, "spt_saved_tensors_hooks_disable", "hooks are there")
    abi.do("spt_saved_tensors_hooks_end")
    expect_error(INVALID_ARGUMENT, "not disabled", abi.do, "spt_saved_tensors_hooks_enable")
    expect_error(INVALID_ARGUMENT, "message", abi.do, "spt_saved_tensors_hooks_disable", None)


def test_a_changed_version_stops_a_pass_that_needs_the_old_one(abi):
    x = abi.leaf(2.0)
    y = abi.handle("spt_exp", x)
    abi.do("spt_increment_version", y)
    with pytest.raises(AbiError, match="modified by an inplace operation"):
        abi.do("spt_backward", y)


def test_settings_change_those_of_torch(abi):
    cuda, cudnn = torch.backends.cuda, torch.backends.cudnn
    ways = {
        "flash_sdp": cuda.flash_sdp_enabled,
        "mem_efficient_sdp": cuda.mem_efficient_sdp_enabled,
        "math_sdp": cuda.math_sdp_enabled,
        "cudnn_sdp": cuda.cudnn_sdp_enabled,
        "deterministic": torch.are_deterministic_algorithms_enabled,
        "cudnn": lambda: cudnn.enabled,
        "cudnn_benchmark": lambda: cudnn.benchmark,
        "cudnn_deterministic": lambda: cudnn.deterministic,
        "autograd_multithreading": torch.autograd.is_multithreading_enabled,
    }
    for name, asked in ways.items():
        before = asked()
        for value in (not before, before):
            abi.do("spt_set_setting", name, value)
            assert asked() == value == bool(abi.number("spt_setting", name)), name
    for name in ("overrideable_sdp", "deterministic_warn_only"):
        before = bool(abi.number("spt_setting", name))
        abi.do("spt_set_setting", name, not before)
        assert bool(abi.number("spt_setting", name)) != before
        abi.do("spt_set_setting", name, before)
    expect_error(INVALID_ARGUMENT, "no setting named 'speed'", abi.number, "spt_setting", "speed")
    expect_error(INVALID_ARGUMENT, "no setting named 'speed'", abi.do, "spt_set_setting", "speed", True)
