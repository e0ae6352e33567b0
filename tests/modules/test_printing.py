"""Models of many kinds print as in Python, character by character."""

from __future__ import annotations

import pytest
from embedded_simple import run, torch
from torch import nn

OURS = run(
    """
    use torch
    use torch.nn
    use torch.nn.utils.{parametrizations}

    class Block(nn.Module):
        fn init(width):
            self.norm = nn.LayerNorm(width)
            self.attention = nn.MultiheadAttention(width, 2, batch_first: true)
            self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
    class GPT(nn.Module):
        fn init():
            self.tokens = nn.Embedding(10, 8)
            self.blocks = nn.ModuleList([for _ in 0..3: Block(8)])
            self.head = nn.Linear(8, 10, bias: false)
            self.scale = nn.Parameter(torch.ones([1]))
    class WithExtraRepr(nn.Module):
        size: i64 = 3
        fn init(size):
            self.size = size
            self.inner = nn.ReLU(inplace: true)
        fn extra_repr(): "size={self.size}"
    class OnlyExtraRepr(nn.Module):
        fn extra_repr(): "first=1\\nsecond=2"
    class Empty(nn.Module):
        fn forward(x): x
    class Renamed(nn.Module):
        fn _get_name(): "Another"
    class Shared(nn.Module):
        fn init():
            self.a = nn.Linear(2, 2)
            self.b = self.a
    class Deep(nn.Module):
        fn init(depth):
            if depth > 0: self.below = Deep(depth - 1)
            self.act = nn.Tanh()
    fn named_net():
        nn.Sequential(("conv", nn.Conv2d(1, 4, (3, 5), padding: 1, bias: false)), ("act", nn.LeakyReLU(0.2)))
    fn made(which):
        match which:
            case "mlp": nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Dropout(0.1), nn.Linear(3, 2, bias: false))
            case "named": named_net()
            case "gpt": GPT()
            case "extra_repr_model": WithExtraRepr(5)
            case "extra_repr_model alone": OnlyExtraRepr()
            case "empty": Empty()
            case "renamed": Renamed()
            case "shared": Shared()
            case "deep": Deep(3)
            case "list": nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Tanh(), nn.ReLU()])
            case "dict":
                val first = nn.GRU(2, 3, 2, batch_first: true)
                nn.ModuleDict([("b", first), ("a", nn.LSTM(2, 3, proj_size: 1, dropout: 0.5, num_layers: 2))])
            case "nothing in it": nn.Sequential()
            case "empty list": nn.ModuleList()
            case "parameters":
                val second = nn.Parameter(torch.ones([1], dtype: torch.float64))
                nn.ParameterList([nn.Parameter(torch.ones([2, 3])), second])
            case "transformer":
                nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2, enable_nested_tensor: false)
            case "norms":
                val group = nn.GroupNorm(1, 3)
                nn.Sequential(nn.BatchNorm2d(3, affine: false), group, nn.InstanceNorm1d(3), nn.RMSNorm([2, 3]))
            case "pools":
                val larger = nn.Upsample(scale_factor: 2.0, mode: "nearest")
                nn.Sequential(nn.MaxPool2d(2), nn.AvgPool1d(3, 1), nn.AdaptiveAvgPool2d((1, nil)), larger)
            case "shapes":
                nn.Sequential(nn.Flatten(), nn.Unflatten(1, (2, 3)), nn.PixelShuffle(2), nn.ZeroPad2d((1, 2, 0, 1)))
            case "losses": nn.ModuleList([nn.CrossEntropyLoss(label_smoothing: 0.1), nn.MSELoss(), nn.CTCLoss()])
            case "lazy": nn.Sequential(nn.LazyLinear(3), nn.LazyConv2d(2, 3))
            case "parametrized": nn.Sequential(parametrizations.weight_norm(nn.Linear(2, 3)), nn.ReLU())
            case "attention": nn.MultiheadAttention(4, 2, dropout: 0.1, kdim: 3)
            case "embeddings":
                val one = nn.Embedding(3, 4, padding_idx: 0, max_norm: 1.0)
                nn.ModuleList([one, nn.EmbeddingBag(3, 4, mode: "sum")])
    fn printed(which): "{made(which)}"
    """,
    name="printing",
)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, 2, batch_first=True)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(10, 8)
        self.blocks = nn.ModuleList([Block(8) for _ in range(3)])
        self.head = nn.Linear(8, 10, bias=False)
        self.scale = nn.Parameter(torch.ones(1))


class WithExtraRepr(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size
        self.inner = nn.ReLU(inplace=True)

    def extra_repr(self):
        return f"size={self.size}"


class OnlyExtraRepr(nn.Module):
    def extra_repr(self):
        return "first=1\nsecond=2"


class Empty(nn.Module):
    pass


class Renamed(nn.Module):
    def _get_name(self):
        return "Another"


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2)
        self.b = self.a


class Deep(nn.Module):
    def __init__(self, depth):
        super().__init__()
        if depth > 0:
            self.below = Deep(depth - 1)
        self.act = nn.Tanh()


def named_net():
    net = nn.Sequential()
    net.add_module("conv", nn.Conv2d(1, 4, (3, 5), padding=1, bias=False))
    net.add_module("act", nn.LeakyReLU(0.2))
    return net


def parameters():
    return nn.ParameterList([nn.Parameter(torch.ones(2, 3)), nn.Parameter(torch.ones(1, dtype=torch.float64))])


MODELS = {
    "mlp": lambda: nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Dropout(0.1), nn.Linear(3, 2, bias=False)),
    "named": named_net,
    "gpt": GPT,
    "extra_repr_model": lambda: WithExtraRepr(5),
    "extra_repr_model alone": OnlyExtraRepr,
    "empty": Empty,
    "renamed": Renamed,
    "shared": Shared,
    "deep": lambda: Deep(3),
    "list": lambda: nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Tanh(), nn.ReLU()]),
    "dict": lambda: nn.ModuleDict(
        [("b", nn.GRU(2, 3, 2, batch_first=True)), ("a", nn.LSTM(2, 3, proj_size=1, dropout=0.5, num_layers=2))]
    ),
    "nothing in it": nn.Sequential,
    "empty list": nn.ModuleList,
    "parameters": parameters,
    "transformer": lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2, enable_nested_tensor=False),
    "norms": lambda: nn.Sequential(
        nn.BatchNorm2d(3, affine=False), nn.GroupNorm(1, 3), nn.InstanceNorm1d(3), nn.RMSNorm([2, 3])
    ),
    "pools": lambda: nn.Sequential(
        nn.MaxPool2d(2),
        nn.AvgPool1d(3, 1),
        nn.AdaptiveAvgPool2d((1, None)),
        nn.Upsample(scale_factor=2.0, mode="nearest"),
    ),
    "shapes": lambda: nn.Sequential(
        nn.Flatten(), nn.Unflatten(1, (2, 3)), nn.PixelShuffle(2), nn.ZeroPad2d((1, 2, 0, 1))
    ),
    "losses": lambda: nn.ModuleList([nn.CrossEntropyLoss(label_smoothing=0.1), nn.MSELoss(), nn.CTCLoss()]),
    "lazy": lambda: nn.Sequential(nn.LazyLinear(3), nn.LazyConv2d(2, 3)),
    "parametrized": lambda: nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(2, 3)), nn.ReLU()),
    "attention": lambda: nn.MultiheadAttention(4, 2, dropout=0.1, kdim=3),
    "embeddings": lambda: nn.ModuleList(
        [nn.Embedding(3, 4, padding_idx=0, max_norm=1.0), nn.EmbeddingBag(3, 4, mode="sum")]
    ),
}


@pytest.mark.parametrize("which", MODELS)
def test_prints_as_in_python(which):
    assert OURS.printed(which) == str(MODELS[which]())
