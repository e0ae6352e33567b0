"""Nodes of the graph: traversed, compared and hooked as in Python; multi-grad hooks; disabled hooks."""

from __future__ import annotations

import gc

import pytest
from embedded_simple import equal, run, torch

OURS = run(
    """
    use torch
    use torch.nn
    use torch.autograd.graph

    # Each node with the nodes its gradients go to, depth first.
    fn shape_of(node):
        if node == nil: return "nil"
        "{node.name()}({[for (next, input) in node.next_functions(): "{shape_of(next)}.{input}"].join(", ")})"
    fn model(x, w): (torch.relu(x.matmul(w)).exp() + x.sum()).log_softmax(1).max(1).values.mean()
    fn walked(x, w): shape_of(model(x, w).grad_fn)
    fn leaf_of(x): (x * 2.0).grad_fn.next_functions[0][0].variable
    fn no_leaf(x): (x * 2.0).grad_fn.variable
    fn same(x):
        val y = x * 2.0
        [y.grad_fn == y.grad_fn, y.grad_fn == (x * 2.0).grad_fn, (y + y).grad_fn.next_functions[0][0] == y.grad_fn]
    fn numbers(x): [for part in x.chunk(3): part.output_nr]
    fn printed(x): "{(x * 2.0).grad_fn} {(x * 2.0).grad_fn.next_functions[0][0]}"

    fn hooked(x, w, after, before, times):
        val y = (x * w).exp()
        val (product, exp) = (y.grad_fn.next_functions[0][0], y.grad_fn)
        val handles = [product.register_hook(after), exp.register_prehook(before)]
        for at in 0..times:
            if at == 1: for handle in handles: handle.remove()
            y.sum().backward(retain_graph: true)
    fn hooks_leave_nothing(x):
        for _ in 0..20:
            val y = x * 2.0
            y.grad_fn.register_hook(\\gi, go: nil)
            y.sum().backward()
        torch.live_handles()

    fn watched(a, b, c, hook, mode): graph.register_multi_grad_hook([a, b, c], hook, mode: mode)
    fn end(handle): handle.remove()
    fn steps_with_hook(w):
        for _ in 0..20:
            val y = w * 2.0
            graph.register_multi_grad_hook([w, y], \\g: nil)
            y.sum().backward()
        torch.live_handles()
    fn with_fused_step(w, rate):
        fn step(gradients):
            with torch.no_grad(): w.sub_(rate * gradients[0])
        graph.register_multi_grad_hook([w], step)

    fn disabled(x, message):
        with graph.disable_saved_tensors_hooks(message):
            with graph.saved_tensors_hooks(\\t: t, \\t: t): x.exp()
    fn disabled_inside(x, message):
        with graph.saved_tensors_hooks(\\t: t, \\t: t):
            with graph.disable_saved_tensors_hooks(message): x.exp()
    fn in_disabled(body):
        with graph.disable_saved_tensors_hooks("outer"):
            with graph.disable_saved_tensors_hooks("inner"): nil
            body()
    fn enabled_again(x):
        val before = attempt(\\: disabled(x, "no"))
        var y = nil
        with graph.saved_tensors_hooks(\\t: t * 2.0, \\t: t): y = (x * x).sum()
        y.backward()
        x.grad

    fn edge(x):
        val found = graph.get_gradient_edge(x)
        (found.node.name(), found.output_nr)
    fn raised(x): graph.increment_version(x)
    fn modified_behind(x):
        val y = x.exp()
        graph.increment_version(y)
        y.sum().backward()
    fn error_message(kind, body):
        val reported = torch.attempt(\\: body())
        if reported.is_ok(): "nothing" else: reported.unwrap_err().message()
    fn threads(mode):
        val before = torch.autograd.is_multithreading_enabled()
        var inside = nil
        with torch.autograd.set_multithreading_enabled(mode): inside = torch.autograd.is_multithreading_enabled()
        (before, inside, torch.autograd.is_multithreading_enabled())
    """,
    name="nodes",
)


def leaves():
    return (
        torch.tensor([[0.5, -1.0], [2.0, 0.1]], requires_grad=True),
        torch.tensor([[1.0, 2.0], [-0.5, 0.3]], requires_grad=True),
    )


def shape_of(node):
    if node is None:
        return "nil"
    return f"{node.name()}({', '.join(f'{shape_of(next)}.{number}' for next, number in node.next_functions)})"


def test_graph_is_traversed_as_in_python():
    x, w = leaves()
    theirs = (torch.relu(x.matmul(w)).exp() + x.sum()).log_softmax(1).max(1).values.mean()
    assert OURS.walked(x, w) == shape_of(theirs.grad_fn)
    assert "AccumulateGrad" in OURS.walked(x, w)


def test_only_accumulate_grad_nodes_have_a_variable():
    x, _ = leaves()
    assert OURS.leaf_of(x) is x
    with pytest.raises(Exception, match='MulBackward0 has no attribute "variable"'):
        OURS.no_leaf(x)


def test_nodes_compare_by_identity_and_print_their_names():
    x, _ = leaves()
    assert list(OURS.same(x)) == [True, False, True]
    assert OURS.printed(x) == "<MulBackward0> <AccumulateGrad>"
    assert list(OURS.numbers(torch.ones(3, requires_grad=True))) == [0, 1, 2]
    assert [part.output_nr for part in torch.ones(3, requires_grad=True).chunk(3)] == [0, 1, 2]


@pytest.mark.parametrize("changes", [False, True])
def test_node_hooks_receive_and_replace_gradients_until_removed(changes):
    results = []
    for side in ("ours", "theirs"):
        (x, w), seen = leaves(), []

        def after(grad_inputs, grad_outputs, seen=seen):
            seen.append(("after", [g.tolist() for g in grad_inputs], [g.tolist() for g in grad_outputs]))
            return tuple(g * 3.0 for g in grad_inputs) if changes else None

        def before(grad_outputs, seen=seen):
            seen.append(("before", [g.tolist() for g in grad_outputs]))
            return tuple(g + 1.0 for g in grad_outputs) if changes else None

        if side == "ours":
            OURS.hooked(x, w, after, before, 2)
        else:
            y = (x * w).exp()
            product, exp = y.grad_fn.next_functions[0][0], y.grad_fn
            handles = [product.register_hook(after), exp.register_prehook(before)]
            for at in range(2):
                for handle in handles if at == 1 else []:
                    handle.remove()
                y.sum().backward(retain_graph=True)
        results.append((seen, x.grad.tolist(), w.grad.tolist()))
    assert results[0] == results[1]
    assert len(results[0][0]) == 2


def test_node_hook_that_fails_or_returns_too_few_gradients_stops_the_pass():
    x, w = leaves()

    def failing(*_):
        raise ValueError("not this way")

    with pytest.raises(ValueError, match="not this way"):
        OURS.hooked(x, w, failing, lambda go: None, 1)
    with pytest.raises(Exception, match=r"incorrect number of values \(got 1, but expected 2\)"):
        OURS.hooked(x, w, lambda gi, go: (gi[0],), lambda go: None, 1)


def test_node_hooks_are_released_with_their_graphs():
    x, _ = leaves()
    gc.collect()  # what other tests left
    first = OURS.hooks_leave_nothing(x)
    gc.collect()
    assert OURS.hooks_leave_nothing(x) == first


def passes(register, a, b, c, mode):
    """The gradients that a hook of three tensors receives in four passes and in one after its removal."""
    seen = []
    handle = register((a, b, c), lambda g: seen.append(plain(g)), mode)
    y = (a * b).sum() + (b * c).sum()
    y.backward(retain_graph=True)
    torch.autograd.grad(y, [b], retain_graph=True)
    y.backward(inputs=[a, c], retain_graph=True)
    (c * 3.0).sum().backward()
    (OURS.end if register is ours_watched else type(handle).remove)(handle)
    (a * b * c).sum().backward()
    return seen


def plain(found):
    if isinstance(found, torch.Tensor):
        return found.tolist()
    return [None if each is None else each.tolist() for each in found]


def ours_watched(tensors, hook, mode):
    return OURS.watched(*tensors, hook, mode)


def pythons_watched(tensors, hook, mode):
    return torch.autograd.graph.register_multi_grad_hook(tensors, hook, mode=mode)


def three():
    """Two leaves and, between them, a computed tensor."""
    a, b, c = (torch.tensor(values, requires_grad=True) for values in ([1.0, 3.0], [1.0, 2.0], [3.0, 3.0]))
    return [a, b * 2.0, c]


def test_multi_grad_hook_waits_for_all_gradients_of_the_pass():
    ours = passes(ours_watched, *three(), "all")
    assert ours == [
        [[2.0, 4.0], [4.0, 6.0], [2.0, 4.0]],
        [None, [4.0, 6.0], None],
        [[2.0, 4.0], None, [2.0, 4.0]],
        [None, None, [3.0, 3.0]],
    ]


def test_multi_grad_hook_matches_python():
    """Python rejects leaves in grad(), so the passes with inputs are omitted."""
    results = []
    for register in (ours_watched, pythons_watched):
        a, b, c = three()
        seen = []
        handle = register((a, b, c), lambda g, seen=seen: seen.append(plain(g)), "all")
        ((a * b).sum() + (b * c).sum()).backward(retain_graph=True)
        (c * 3.0).sum().backward()
        (OURS.end if register is ours_watched else type(handle).remove)(handle)
        (a * c).sum().backward()
        results.append(seen)
    assert results[0] == results[1] and len(results[0]) == 2


def test_multi_grad_hook_in_mode_any():
    ours, theirs = (passes(register, *three(), "any") for register in (ours_watched, pythons_watched))
    assert ours == theirs and len(ours) == 4


def test_multi_grad_hook_keeps_neither_tensors_nor_graphs_alive():
    w = torch.ones(2, requires_grad=True)
    first = OURS.steps_with_hook(w)
    gc.collect()
    assert OURS.steps_with_hook(w) == first


def test_multi_grad_hook_rejects_tensors_without_gradients():
    a, b, c = three()
    reported = []
    for register in (ours_watched, pythons_watched):
        with pytest.raises((RuntimeError, ValueError, AssertionError)) as one:
            register((a, torch.ones(2), c), lambda g: None, "all")
        with pytest.raises((RuntimeError, ValueError)) as other:
            register((a, b, c), lambda g: None, "some")
        reported.append((str(one.value).split("\n")[0], str(other.value).split("\n")[0]))
    assert reported[0][0].startswith("cannot register a hook on a tensor that doesn't require gradient")
    assert reported[0][1].split(" but got")[0] == reported[1][1].split(" but got")[0]


def test_optimizer_step_in_a_post_accumulate_hook():
    w, other = (torch.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    OURS.with_fused_step(w, 0.1)
    (w * w).sum().backward()
    (other * other).sum().backward()
    with torch.no_grad():
        other -= 0.1 * other.grad
    assert equal(w, other)


def test_saved_tensor_hooks_can_be_disabled():
    x, _ = leaves()
    for failing in (OURS.disabled, OURS.disabled_inside):
        with pytest.raises(Exception, match="not in this block"):
            failing(x, "not in this block")
    assert equal(OURS.enabled_again(x), x.detach() * 4.0)


def test_disabled_hooks_are_disabled_in_python_and_messages_nest():
    x, _ = leaves()

    def hooks_of_python():
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            return x.exp()

    with pytest.raises(Exception, match="outer"):
        OURS.in_disabled(hooks_of_python)
    assert hooks_of_python().shape == (2, 2)


def test_gradient_edges_and_versions_match_python():
    x, _ = leaves()
    parts = x.reshape(-1).chunk(2)
    for each in (x, parts[1], (x * 2.0).sum()):
        theirs = torch.autograd.graph.get_gradient_edge(each)
        assert tuple(OURS.edge(each)) == (theirs.node.name(), theirs.output_nr)
    with pytest.raises(Exception, match="does not require gradients"):
        OURS.edge(torch.ones(2))
    y = torch.ones(2)
    version = y._version
    OURS.raised(y)
    assert y._version == version + 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        OURS.modified_behind(x)


def test_multithreading_of_passes_is_set_for_a_block():
    for mode in (True, False):
        before = torch.autograd.is_multithreading_enabled()
        with torch.autograd.set_multithreading_enabled(mode):
            inside = torch.autograd.is_multithreading_enabled()
        assert list(OURS.threads(mode)) == [before, inside, torch.autograd.is_multithreading_enabled()]
