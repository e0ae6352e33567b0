"""Which hooks release their tensor by themselves, and what releases the others."""

from __future__ import annotations

import gc
import weakref

from compare_optimizers import torch
from simple_torch import run

OURS = run(
    """
    use torch
    use std.memory.{collect_cycles}

    # How many of ten tensors with a hook stay alive.
    fn kept(body) -> i64:
        collect_cycles()    # those of earlier tests
        val before = torch.live_handles()
        for _ in 0..10: body(torch.ones([2], requires_grad: true))
        collect_cycles()
        torch.live_handles() - before

    fn of_another(w):
        val scale = torch.ones([2])
        w.register_hook(\\g: g * scale)
        w.sum().backward()
    fn of_itself(w):
        w.register_hook(\\g: g * w.detach())
        w.sum().backward()
    fn of_a_result(w):
        val y = w * 2.0
        y.register_hook(\\g: g * y.detach())
        y.sum().backward()
    fn removed(w):
        val handle = w.register_hook(\\g: g * w.detach())
        w.sum().backward()
        handle.remove()
    fn in_a_block(w):
        with w.register_hook(\\g: g * w.detach()):
            w.sum().backward()
    fn given_the_tensor(w):
        w.register_post_accumulate_grad_hook(\\p: p.grad.mul_(p.detach()))
        w.sum().backward()

    fn all_kept(): [kept(of_another), kept(of_itself), kept(of_a_result), kept(removed), kept(in_a_block),
        kept(given_the_tensor)]
    """
)


def lives_on_in_python(make) -> bool:
    tensor = make(torch.ones(2, requires_grad=True))
    seen = weakref.ref(tensor)
    del tensor
    gc.collect()
    return seen() is not None


def of_itself(w):
    w.register_hook(lambda g: g * w.detach())
    return w


def of_a_result(w):
    y = w * 2
    y.register_hook(lambda g: g * y.detach())
    return y


def test_only_hooks_that_capture_their_tensor_keep_it_alive_until_removed():
    gc.collect()
    assert OURS.all_kept() == [0, 10, 10, 0, 0, 0]


def test_python_finds_the_cycle_of_a_leaf_but_not_of_a_result():
    """docs/autograd.md describes both; it is outdated if the cycle of a result is found too."""
    assert (lives_on_in_python(of_itself), lives_on_in_python(of_a_result)) == (False, True)
