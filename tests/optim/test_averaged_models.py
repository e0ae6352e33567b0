"""Averaged models (SWA, EMA) and their learning rate schedule match Python bit for bit."""

from __future__ import annotations

import warnings

import pytest
from compare_optimizers import ours, plain, torch
from simple_torch import run
from torch.optim import swa_utils

OURS = run(
    """
    use torch
    use torch.nn.{Module, Parameter, Buffer}
    use torch.optim.swa_utils

    class Norm(Module):
        running_mean: Buffer
        fn init():
            self.running_mean = Buffer(torch.zeros([3]))
        fn forward(x): x - self.running_mean

    class Model(Module):
        weight: Parameter
        bias: Parameter
        steps: Buffer
        norm: Module? = nil
        fn init(weight, bias, steps):
            self.weight = Parameter(weight)
            self.bias = Parameter(bias)
            self.steps = Buffer(steps)
            self.norm = Norm()
        fn forward(x): self.norm(x) @ self.weight + self.bias

    fn AveragedModel(model, **named): swa_utils.AveragedModel(model, **named)
    fn SWALR(args..., **named): swa_utils.SWALR(args..., **named)
    fn update_bn(args..., **named): swa_utils.update_bn(args..., **named)
    fn normed(): torch.nn.Sequential(torch.nn.BatchNorm1d(3, momentum: 0.3),
        torch.nn.InstanceNorm1d(3, track_running_stats: true), torch.nn.BatchNorm1d(3, track_running_stats: false))
    fn get_ema_multi_avg_fn(args...): swa_utils.get_ema_multi_avg_fn(args...)
    fn get_ema_avg_fn(args...): swa_utils.get_ema_avg_fn(args...)
    fn with_fn(model, which: text, decay, use_buffers):
        val multi = match which:
            case "ema_multi": swa_utils.get_ema_multi_avg_fn(decay)
            case "swa_multi": swa_utils.get_swa_multi_avg_fn()
            case _: nil
        val one = match which:
            case "ema": swa_utils.get_ema_avg_fn(decay)
            case "swa": swa_utils.get_swa_avg_fn()
            case _: nil
        swa_utils.AveragedModel(model, avg_fn: one, multi_avg_fn: multi, use_buffers: use_buffers)
    """,
    name="averages",
)


class Norm(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("running_mean", torch.zeros(3))


class Model(torch.nn.Module):
    def __init__(self, weight, bias, steps):
        super().__init__()
        self.weight, self.bias = torch.nn.Parameter(weight), torch.nn.Parameter(bias)
        self.register_buffer("steps", steps)
        self.norm = Norm()


def values():
    torch.manual_seed(4)
    return torch.randn(3, 2), torch.randn(2), torch.tensor([1.0, 2.0])


def tensors(averaged):
    return [t.detach().clone() for t in [*averaged.module.parameters(), *averaged.module.buffers()]]


def change(model):
    with torch.no_grad():
        for i, tensor in enumerate([*model.parameters(), *model.buffers()]):
            tensor.mul_(0.9).add_(0.1 * (i + 1))


AVERAGES = {
    "": lambda decay: {},
    "ema_multi": lambda decay: {"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(decay)},
    "ema": lambda decay: {"avg_fn": swa_utils.get_ema_avg_fn(decay)},
    "swa_multi": lambda decay: {"multi_avg_fn": swa_utils.get_swa_multi_avg_fn()},
    "swa": lambda decay: {"avg_fn": swa_utils.get_swa_avg_fn()},
}


@pytest.mark.parametrize("use_buffers", [False, True])
@pytest.mark.parametrize("decay", [0.999, 0.7])
@pytest.mark.parametrize("which", AVERAGES)
def test_averages_match_python(which, decay, use_buffers):
    theirs, mine = Model(*values()), OURS.Model(*values())
    expected = swa_utils.AveragedModel(theirs, use_buffers=use_buffers, **AVERAGES[which](decay))
    found = OURS.with_fn(mine, which, decay, use_buffers)
    for _ in range(20):
        change(theirs)
        change(mine)
        expected.update_parameters(theirs)
        found.update_parameters(mine)
        for a, b in zip(tensors(found), tensors(expected), strict=True):
            assert torch.equal(a, b)
    assert found.n_averaged.item() == 20
    assert list(found.state_dict().keys()) == list(expected.state_dict())


def test_custom_averaging_function():
    mine = OURS.Model(*values())
    found = OURS.AveragedModel(mine, avg_fn=lambda average, current, count: average + current * count)
    for _ in range(3):
        found.update_parameters(mine)
    assert torch.equal(found.module.bias, mine.bias * 4)


def test_model_is_copied_and_forward_calls_the_copy():
    mine = OURS.Model(*values())
    averaged = OURS.AveragedModel(mine)
    averaged.update_parameters(mine)
    change(mine)
    averaged.eval()
    x = torch.ones(2, 3)
    weight, bias, _ = values()
    assert torch.equal(averaged(x), x @ weight + bias)


@pytest.mark.parametrize("training", [True, False])
def test_update_bn_weights_batches_equally_and_leaves_other_norms(training):
    theirs = torch.nn.Sequential(
        torch.nn.BatchNorm1d(3, momentum=0.3),
        torch.nn.InstanceNorm1d(3, track_running_stats=True),
        torch.nn.BatchNorm1d(3, track_running_stats=False),
    ).train(training)
    mine = OURS.normed()
    mine.train(training)
    generator = torch.Generator().manual_seed(3)
    batches = [torch.randn(4, 3, 5, generator=generator) for _ in range(5)]
    loader = [(batch, "label") for batch in batches[:2]] + batches[2:]
    with torch.no_grad():
        theirs(batches[0]), mine(batches[0])
    swa_utils.update_bn(loader, theirs)
    OURS.update_bn(loader, mine)
    for i, norm in enumerate(theirs):
        assert mine[i].momentum == norm.momentum and mine[i].training is training
        if norm.track_running_stats:
            assert torch.equal(mine[i].running_mean, norm.running_mean)
            assert torch.equal(mine[i].running_var, norm.running_var)
            assert mine[i].num_batches_tracked == norm.num_batches_tracked


def params():
    return [torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)]


@pytest.mark.parametrize("options", [{}, {"anneal_epochs": 5, "anneal_strategy": "linear"}, {"anneal_epochs": 0}])
@pytest.mark.parametrize("swa_lr", [0.01, [0.2, 0.001]])
def test_schedule_matches_python(swa_lr, options):
    groups = [[{"params": [a], "lr": 0.1}, {"params": [b], "lr": 0.5}] for a, b in (params(), params())]
    theirs, mine = torch.optim.SGD(groups[0]), ours("SGD", groups[1])
    expected, found = swa_utils.SWALR(theirs, swa_lr, **options), OURS.SWALR(mine, swa_lr, **options)
    for _ in range(20):
        assert found.get_last_lr() == expected.get_last_lr()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected.step()
        found.step()
    assert plain(found.state_dict()) == plain(expected.state_dict())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: OURS.get_ema_multi_avg_fn(2.0), r"Invalid decay value 2.0 provided. .* in \[0,1\] range"),
        (lambda: OURS.get_ema_avg_fn(-0.5), "Invalid decay value -0.5 provided"),
        (
            lambda: OURS.AveragedModel(
                OURS.Model(*values()), avg_fn=lambda a, b, c: a, multi_avg_fn=lambda a, b, c: None
            ),
            "Only one of avg_fn and multi_avg_fn should be provided",
        ),
        (lambda: OURS.SWALR(ours("SGD", params()), 0.1, 5, "log"), "must be one of 'cos' or 'linear', instead got log"),
        (lambda: OURS.SWALR(ours("SGD", params()), 0.1, -1), "anneal_epochs must be equal or greater than 0, got -1"),
        (lambda: OURS.SWALR(ours("SGD", params()), [0.1, 0.2, 0.3]), "swa_lr must have the same length"),
    ],
)
def test_rejects_the_same_as_python(make, message):
    with pytest.raises(RuntimeError, match=message):
        make()
