"""Names of torch.nn, torch.func and torch.backends that programs use besides layers, compared with Python."""

from __future__ import annotations

import pytest
from embedded_simple import equal, run, torch
from torch import nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.utils import parametrize

OURS = run(
    """
    use torch
    use torch.nn
    use torch.nn.functional
    use torch.nn.attention.{SDPBackend, sdpa_kernel}
    use torch.nn.utils.{skip_init, convert_conv2d_weight_memory_format, convert_conv3d_weight_memory_format}
    use torch.nn.utils.parametrize
    use torch.deterministic.{setting}

    fn seeded(seed): torch.manual_seed(seed)
    fn skipped(): skip_init(nn.Linear, 3, 4, bias: false)
    fn skipped_dtype(): skip_init(nn.Conv2d, 3, 4, 2, dtype: torch.float64, device: "cpu")
    fn skipped_activation(): skip_init(nn.ReLU)
    fn drawn(): torch.rand([1]).item()
    fn convolutions():
        val inner = nn.Sequential(nn.ConvTranspose2d(4, 3, 2))
        nn.Sequential(nn.Conv2d(3, 4, 2), inner, nn.Linear(2, 2), nn.Conv3d(1, 2, 2))
    fn last_2d(m): convert_conv2d_weight_memory_format(m, torch.channels_last)
    fn last_3d(m): convert_conv3d_weight_memory_format(m, torch.channels_last_3d)
    fn strides(m): m.parameters().map(\\p: p.stride())

    fn net():
        val body = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
        val list = nn.ModuleList([nn.Linear(3, 3)])
        nn.Sequential(("body", body), ("list", list), ("dict", nn.ModuleDict({"a": nn.Tanh()})))
    fn replaced(path, strict):
        val m = net()
        m.set_submodule(path, nn.Identity(), strict)
        "{m}"
    fn bad_replacement(path, how):
        net().set_submodule(path, if how == "kind": 3 else: nn.Identity(), how == "strict")

    fn normed(m): torch.func.replace_all_batch_norm_modules_(m)
    fn with_norms(): nn.Sequential(nn.BatchNorm1d(3), nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)))
    fn state(m): m.state_dict()
    fn load(m, state): m.load_state_dict(state)
    fn evaluated(m, x): m.eval()(x)
    fn linear_along(x, y, tangents):
        val (output, along) = torch.func.linearize(\\a, b: (a * b).sin() + a, x, y)
        [output] + [for both in tangents: along(both[0].to_tensor(), both[1].to_tensor())]
    fn dual(x, tangent):
        use torch.autograd.forward_ad
        with forward_ad.dual_level():
            val both = forward_ad.unpack_dual(forward_ad.make_dual(x, tangent).exp() * x)
            return [both.primal, both.tangent]
    fn dual_mistake(how):
        use torch.autograd.forward_ad
        match how:
            case "outside": forward_ad.make_dual(torch.ones([2]), torch.ones([2]))
            case "exit": forward_ad.exit_dual_level()
            case "integers": forward_ad.dual_level().__enter__()
        if how == "integers":
            defer forward_ad.exit_dual_level()
            forward_ad.make_dual(torch.ones([2]), torch.tensor([1, 2]))
    fn not_dual(x):
        val both = torch.autograd.forward_ad.unpack_dual(x)
        [both.primal, both.tangent == nil]

    fn attended(q, name):
        val backend = match name:
            case "MATH": SDPBackend.MATH
            case "FLASH_ATTENTION": SDPBackend.FLASH_ATTENTION
            case _: nil
        val backends = if name == "both": [SDPBackend.MATH, SDPBackend.FLASH_ATTENTION] else: backend
        with sdpa_kernel(backends):
            return functional.scaled_dot_product_attention(q, q, q)
    fn settings(): [for name in ["flash_sdp", "math_sdp", "mem_efficient_sdp", "cudnn_sdp"]: setting(name)]
    fn in_kernel(body):
        with sdpa_kernel(SDPBackend.MATH): body()
    fn no_kernel(): sdpa_kernel([])
    fn strange_kernel(): sdpa_kernel("math")

    fn cudnn(): [torch.backends.cudnn.enabled, torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic]
    fn set_cudnn(benchmark, deterministic):
        torch.backends.cudnn.benchmark = benchmark
        torch.backends.cudnn.deterministic = deterministic
    fn no_such(): torch.backends.cudnn.speed
    fn no_such_to_set():
        torch.backends.cudnn.speed = true
    fn deterministic(mode, warn_only): torch.use_deterministic_algorithms(mode, warn_only: warn_only)
    fn is_deterministic():
        [torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()]

    class Counted(nn.Module):
        fn init():
            self.calls = 0
        fn forward(w):
            self.calls = self.calls + 1
            w * 2.0
    fn cached_calls(x):
        val (layer, counted) = (nn.Linear(2, 2), Counted())
        parametrize.register_parametrization(layer, "weight", counted)
        val before = counted.calls
        with parametrize.cached():
            for _ in 0..3: layer(x)
            with parametrize.cached(): layer(x)
        val inside = counted.calls - before
        layer(x)
        layer(x)
        val after = counted.calls - before - inside
        with parametrize.cached(): layer(x)
        (inside, after, counted.calls - before - inside - after)
    fn old_name(x): torch.autograd.Variable(x, requires_grad: true) * 2.0
    fn same_class(): torch.nn.modules.Linear == torch.nn.Linear and torch.nn.parameter.Parameter == torch.nn.Parameter
    """,
    name="utilities",
)


def test_skip_init_draws_no_random_numbers_and_keeps_shapes_and_dtypes():
    torch.manual_seed(3)
    expected = torch.rand(1).item()
    OURS.seeded(3)
    layer = OURS.skipped()
    assert OURS.drawn() == expected
    assert {name: t.shape for name, t in OURS.state(layer).items()} == {"weight": (4, 3)}
    assert OURS.state(OURS.skipped_dtype())["weight"].dtype == torch.float64
    with pytest.raises(Exception, match="Module must support a 'device' arg to skip initialization"):
        OURS.skipped_activation()


def test_convolution_weights_change_memory_format():
    theirs = nn.Sequential(
        nn.Conv2d(3, 4, 2), nn.Sequential(nn.ConvTranspose2d(4, 3, 2)), nn.Linear(2, 2), nn.Conv3d(1, 2, 2)
    )
    ours = OURS.convolutions()
    for mine, other in (
        (OURS.last_2d, lambda m: nn.utils.convert_conv2d_weight_memory_format(m, torch.channels_last)),
        (OURS.last_3d, lambda m: nn.utils.convert_conv3d_weight_memory_format(m, torch.channels_last_3d)),
    ):
        mine(ours)
        other(theirs)
        assert [tuple(s) for s in OURS.strides(ours)] == [p.stride() for p in theirs.parameters()]


def their_net():
    net = nn.Sequential()
    net.add_module("body", nn.Sequential(nn.Linear(2, 3), nn.ReLU()))
    net.add_module("list", nn.ModuleList([nn.Linear(3, 3)]))
    net.add_module("dict", nn.ModuleDict({"a": nn.Tanh()}))
    return net


@pytest.mark.parametrize(
    "path, strict",
    [("body", True), ("body.1", False), ("list.0", True), ("list.1", False), ("dict.a", True), ("dict.b", False),
     ("tail", False)],
)  # fmt: skip
def test_set_submodule_replaces_a_module(path, strict):
    theirs = their_net()
    theirs.set_submodule(path, nn.Identity(), strict)
    assert OURS.replaced(path, strict) == str(theirs)


@pytest.mark.parametrize(
    "path, how, words",
    [
        ("", "", "Cannot set the submodule without a target name!"),
        ("body.7", "strict", 'has no module "7"'),
        ("nowhere.1", "", 'has no module "nowhere"'),
        ("body.0", "kind", "expected a Module, got i64"),
    ],
)
def test_set_submodule_rejects_invalid_modules(path, how, words):
    with pytest.raises(Exception, match=words):
        OURS.bad_replacement(path, how)
    with pytest.raises((ValueError, AttributeError)):
        their_net().set_submodule(path, 3 if how == "kind" else nn.Identity(), strict=how == "strict")


def test_batch_norm_without_statistics_normalizes_by_the_batch():
    theirs = nn.Sequential(nn.BatchNorm1d(3), nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)))
    ours, x = OURS.with_norms(), torch.randn(4, 3)
    OURS.load(ours, theirs.state_dict())
    OURS.normed(ours)
    torch.func.replace_all_batch_norm_modules_(theirs)
    assert list(OURS.state(ours)) == list(theirs.state_dict())
    assert equal(OURS.evaluated(ours, x), theirs.eval()(x))


def test_linearize_returns_the_output_and_the_jvp_function():
    x, y = torch.tensor([0.5, 1.0]), torch.tensor([2.0, -1.0])
    tangents = [(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])), (x, y)]
    output, along = torch.func.linearize(lambda a, b: (a * b).sin() + a, x, y)
    found = OURS.linear_along(x, y, tangents)
    assert equal(found[0], output)
    for mine, (t, u) in zip(found[1:], tangents):
        assert torch.allclose(mine, along(t, u))


def test_dual_numbers_carry_tangents():
    from torch.autograd import forward_ad

    x, tangent = torch.tensor([0.5, -1.0]), torch.tensor([1.0, 2.0])
    with forward_ad.dual_level():
        both = forward_ad.unpack_dual(forward_ad.make_dual(x, tangent).exp() * x)
        expected = [both.primal.clone(), both.tangent.clone()]
    assert equal(OURS.dual(x, tangent), expected)
    primal, has_none = OURS.not_dual(x)
    assert equal(primal, x) and has_none


@pytest.mark.parametrize(
    "how, words",
    [("outside", "no level exists"), ("exit", "not entered"), ("integers", "floating point or complex")],
)
def test_dual_numbers_reject_the_same_as_python(how, words):
    with pytest.raises(Exception, match=words):
        OURS.dual_mistake(how)
    assert equal(OURS.dual(torch.ones(1), torch.ones(1))[0], torch.ones(1).exp())  # no state is left


@pytest.mark.parametrize("name", ["MATH", "FLASH_ATTENTION", "both"])
def test_attention_uses_the_enabled_kernel(name):
    q = torch.randn(1, 2, 40, 16, generator=torch.Generator().manual_seed(0))
    backends = [SDPBackend.MATH, SDPBackend.FLASH_ATTENTION] if name == "both" else getattr(SDPBackend, name)
    with sdpa_kernel(backends):
        expected = functional.scaled_dot_product_attention(q, q, q)
    assert equal(OURS.attended(q, name), expected)


def test_kernel_settings_are_restored_after_the_block():
    inside, cuda = [], torch.backends.cuda
    before = OURS.settings()
    OURS.in_kernel(lambda: inside.append((cuda.flash_sdp_enabled(), cuda.math_sdp_enabled())))
    assert inside == [(False, True)]
    assert list(OURS.settings()) == list(before) and torch.backends.cuda.flash_sdp_enabled()
    for invalid in (OURS.no_kernel, OURS.strange_kernel):
        with pytest.raises(Exception, match="SDPBackend"):
            invalid()


def test_cudnn_settings_match_python():
    before = torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic
    try:
        OURS.set_cudnn(True, True)
        assert torch.backends.cudnn.benchmark and torch.backends.cudnn.deterministic
        assert list(OURS.cudnn()) == [torch.backends.cudnn.enabled, True, True]
        OURS.set_cudnn(False, False)
        assert not torch.backends.cudnn.benchmark and not torch.backends.cudnn.deterministic
    finally:
        OURS.set_cudnn(*before)  # PyTorch's test helpers forbid Python's own
    for invalid in (OURS.no_such, OURS.no_such_to_set):
        with pytest.raises(Exception, match="has no speed; it has benchmark, deterministic, enabled"):
            invalid()


def test_deterministic_algorithms_match_python():
    try:
        for mode, warn_only in ((True, False), (True, True), (False, False)):
            OURS.deterministic(mode, warn_only)
            found = [
                torch.are_deterministic_algorithms_enabled(),
                torch.is_deterministic_algorithms_warn_only_enabled(),
            ]
            assert found == [mode, warn_only] == list(OURS.is_deterministic())
    finally:
        torch.use_deterministic_algorithms(False)


def test_parametrizations_are_computed_once_in_a_cached_block():
    class Counted(nn.Module):
        calls = 0

        def forward(self, w):
            Counted.calls += 1
            return w * 2.0

    layer, x = nn.Linear(2, 2), torch.ones(1, 2)
    parametrize.register_parametrization(layer, "weight", Counted())
    before = Counted.calls
    with parametrize.cached():
        for _ in range(4):
            layer(x)
    theirs = Counted.calls - before
    assert tuple(OURS.cached_calls(x)) == (theirs, 2, 1) == (1, 2, 1)


def test_legacy_names_are_aliases():
    assert OURS.old_name(torch.ones(2)).requires_grad
    assert OURS.same_class()
