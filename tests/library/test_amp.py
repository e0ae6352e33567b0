"""torch.amp: autocast and GradScaler compute what Python's do."""

from __future__ import annotations

import pytest
from embedded_simple import equal, run, torch
from torch.nn import functional

OURS = run(
    """
    use torch
    use torch.nn
    use torch.nn.functional as F

    fn dtypes():
        val a = torch.rand([3, 4])
        val layer = torch.nn.Linear(4, 2)
        with torch.autocast("cpu"):
            val low = [layer(a), a @ a.transpose(0, 1), F.mse_loss(layer(a), a[:, 0:2]), a.exp()]
            with torch.autocast("cpu", enabled: false):
                return [for x in low + [layer(a)]: "{x.dtype}"]

    fn trained(dtype, steps):
        torch.manual_seed(3)
        val net = torch.nn.Sequential([torch.nn.Linear(5, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1)])
        val optimizer = torch.optim.Adam(net.parameters(), lr: 0.01)
        val scaler = torch.amp.GradScaler("cpu", init_scale: 1024.0, growth_interval: 2)
        val (x, y) = (torch.rand([16, 5]), torch.rand([16, 1]))
        val losses = []
        for _ in 0..steps:
            optimizer.zero_grad()
            var loss = nil
            with torch.autocast("cpu", dtype: if dtype == "half": torch.float16 else: torch.bfloat16):
                loss = F.mse_loss(net(x), y)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            losses.push(loss.item())
        (losses, scaler.state_dict(), [for p in net.parameters(): p.detach()])

    fn overflowed(values):
        val p = torch.nn.Parameter(torch.ones([2]))
        val optimizer = torch.optim.SGD([p], lr: 0.5)
        val scaler = torch.GradScaler("cpu", init_scale: 8.0, growth_interval: 1)
        val scales = []
        for value in values:
            optimizer.zero_grad()
            scaler.scale((p * value).sum()).backward()
            scaler.step(optimizer)
            scaler.update()
            scales.push(scaler.get_scale())
        (scales, p.detach())

    @torch.autocast("cpu")
    fn decorated(a, depth):
        if depth > 0: decorated(a, depth - 1)
        a @ a

    fn state(): [torch.is_autocast_enabled("cpu"), torch.is_autocast_cache_enabled(),
        "{torch.get_autocast_dtype("cpu")}"]

    fn failed():
        torch.attempt(\\:
            with torch.autocast("cpu", dtype: torch.float16, cache_enabled: false):
                torch.ones([2]) + torch.ones([3]))
        state()

    class Product(torch.autograd.Function):
        @torch.amp.custom_fwd(device_type: "cpu", cast_inputs: torch.float32)
        static fn forward(ctx, x, w):
            ctx.save_for_backward(x, w)
            x @ w

        @torch.amp.custom_bwd(device_type: "cpu")
        static fn backward(ctx, grad):
            val (x, w) = ctx.saved_tensors
            (grad @ w.transpose(0, 1), x.transpose(0, 1) @ grad)

    class Mixed(Product):
        @torch.amp.custom_fwd(device_type: "cpu")
        static fn forward(ctx, x, w):
            ctx.save_for_backward(x, w)
            x @ w

    fn custom(kind, x, w):
        var out = nil
        with torch.autocast("cpu"):
            out = if kind == "cast": Product.apply(x, w) else: Mixed.apply(x, w)
        out.sum().backward()
        ("{out.dtype}", x.grad, w.grad)

    fn error_of(body): "{torch.attempt(body).unwrap_err()}"

    fn errors():
        val scaler = torch.amp.GradScaler("cpu")
        val p = torch.nn.Parameter(torch.ones([2]))
        val optimizer = torch.optim.SGD([p], lr: 0.5)
        val half = torch.nn.Parameter(torch.ones([2], dtype: torch.float16))
        val half_optimizer = torch.optim.SGD([half], lr: 0.5)
        val first = [error_of(\\: scaler.step(optimizer)), error_of(\\: scaler.update())]
        scaler.scale(p.sum()).backward()
        scaler.unscale_(optimizer)
        val second = [error_of(\\: scaler.unscale_(optimizer))]
        scaler.step(optimizer)
        half.sum().backward()
        first + second + [error_of(\\: scaler.unscale_(optimizer)), error_of(\\: scaler.step(optimizer)),
            error_of(\\: scaler.unscale_(half_optimizer)), error_of(\\: scaler.scale(1.0)),
            error_of(\\: torch.amp.GradScaler("cpu", growth_factor: 1.0)),
            error_of(\\: torch.amp.GradScaler("cpu", backoff_factor: 1.0)),
            error_of(\\: scaler.load_state_dict({})), error_of(\\: scaler.load_state_dict({"scale": 2.0})),
            error_of(\\: torch.autocast("meta")),
            error_of(\\: torch.autocast("nowhere")), error_of(\\: torch.autocast_decrement_nesting()),
            error_of(\\: torch.is_autocast_enabled("meta")), error_of(\\: torch.set_autocast_dtype("cpu", 3))]
    """
)
ERRORS = [
    "Attempted step but _scale is None",
    "Attempted update but _scale is None",
    "unscale_() has already been called",
    "unscale_() is being called after step()",
    "step() has already been called",
    "Attempting to unscale FP16 gradients",
    "outputs must be a Tensor or an array of Tensors",
    "growth factor must be > 1.0",
    "backoff factor must be < 1.0",
    "source state dict is empty",
    "the state has no 'growth_factor'",
    "unsupported autocast device_type 'meta'",
    "'nowhere' is not a type of device",
    "this thread is in no autocast scope",
    "device type 'meta' has no mixed precision",
    "must be a DType",
]


def test_operations_choose_their_dtype():
    layer, a = torch.nn.Linear(4, 2), torch.rand(3, 4)
    with torch.autocast("cpu"):
        low = [layer(a), a @ a.T, functional.mse_loss(layer(a), a[:, 0:2]), a.exp()]
        with torch.autocast("cpu", enabled=False):
            expected = [str(x.dtype) for x in [*low, layer(a)]]
    assert list(OURS.dtypes()) == expected


def trained(dtype, steps):
    torch.manual_seed(3)
    net = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=2)
    x, y = torch.rand(16, 5), torch.rand(16, 1)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16 if dtype == "half" else torch.bfloat16):
            loss = functional.mse_loss(net(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    return losses, scaler.state_dict(), [p.detach() for p in net.parameters()]


@pytest.mark.parametrize("dtype", ["half", "bfloat"])
def test_training_is_pythons_to_the_bit(dtype):
    losses, state, parameters = OURS.trained(dtype, 5)
    expected = trained(dtype, 5)
    assert list(losses) == expected[0]
    assert dict(state) == expected[1]
    assert all(equal(ours, theirs) for ours, theirs in zip(parameters, expected[2], strict=True))


def test_steps_with_inf_or_nan_are_skipped_and_lower_the_scale():
    scales, parameter = OURS.overflowed([1.0, float("inf"), float("nan"), 2.0])
    assert list(scales) == [16.0, 8.0, 4.0, 8.0]
    assert equal(parameter, torch.tensor([-0.5, -0.5]))


def test_a_decorator_opens_a_scope_for_each_call():
    a = torch.rand(3, 3)
    result = OURS.decorated(a, 2)
    assert str(result.dtype) == "torch.bfloat16"
    assert list(OURS.state()) == [False, True, "torch.bfloat16"]


def test_the_state_is_restored_after_a_failure():
    assert list(OURS.failed()) == [False, True, "torch.bfloat16"]


@pytest.mark.parametrize(("kind", "dtype"), [("cast", "torch.float32"), ("mixed", "torch.bfloat16")])
def test_custom_functions_run_backward_in_the_state_of_forward(kind, dtype):
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(x, w)
            return x @ w

        @staticmethod
        def backward(ctx, grad):
            x, w = ctx.saved_tensors
            return grad @ w.T, x.T @ grad

    cast = {"cast_inputs": torch.float32} if kind == "cast" else {}
    Product.forward = staticmethod(torch.amp.custom_fwd(Product.forward, device_type="cpu", **cast))
    Product.backward = staticmethod(torch.amp.custom_bwd(Product.backward, device_type="cpu"))
    x, w = torch.rand(2, 3), torch.rand(3, 4)
    ours = [t.clone().requires_grad_() for t in (x, w)]
    theirs = [t.clone().requires_grad_() for t in (x, w)]
    with torch.autocast("cpu"):
        out = Product.apply(*theirs)
    out.sum().backward()
    name, x_grad, w_grad = OURS.custom(kind, *ours)
    assert name == str(out.dtype) == dtype
    assert equal(x_grad, theirs[0].grad)
    assert equal(w_grad, theirs[1].grad)


def test_errors():
    found = list(OURS.errors())
    assert len(found) == len(ERRORS)
    assert all(text in message for text, message in zip(ERRORS, found, strict=True)), found


def test_without_a_device_cuda_does_nothing_and_warns(capfd):
    if torch.cuda.is_available():
        pytest.skip("needs a machine without a CUDA device")
    ours = run(
        """
        use torch
        use torch.cuda.amp
        fn dtype():
            with torch.autocast("cuda"): return "{(torch.ones([2, 2]) @ torch.ones([2, 2])).dtype}"
        fn scale(): amp.GradScaler().is_enabled()
        fn wrong_dtype():
            with torch.autocast("cpu", dtype: torch.float64):
                return "{(torch.ones([2, 2]) @ torch.ones([2, 2])).dtype}"
        """
    )
    assert ours.dtype() == "torch.float32"
    assert ours.scale() is False
    assert ours.wrong_dtype() == "torch.float32"
    errors = capfd.readouterr().err
    assert errors.count("there is no CUDA device") == 2
    assert "supports torch.bfloat16 and torch.float16, not torch.float64" in errors


def test_denormal_numbers_are_flushed_on_request():
    ours = run(
        """
        use torch
        fn flushed(mode):
            val supported = torch.set_flush_denormal(mode)
            val small = (torch.tensor([1e-300], dtype: torch.float64) * 1e-15).item()
            torch.set_flush_denormal(false)
            (supported, small)
        """
    )
    supported, small = ours.flushed(True)
    assert supported == torch.set_flush_denormal(False)
    assert (small == 0.0) == supported
    assert ours.flushed(False)[1] == 1e-300 * 1e-15
