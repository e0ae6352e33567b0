"""Inputs of activations, distances and products of two inputs."""

from __future__ import annotations

from module_inputs import module, normal

PLAIN = normal(4, 6, requires_grad=False)  # the target of an in-place write must not be a leaf that requires grad

SAMPLES = [
    *(
        module(name, inplace=True).called(PLAIN)
        for name in ("Hardsigmoid", "RReLU", "Hardswish", "ELU", "CELU", "Mish")
    ),
    *(module(name).called(normal(4, 6)) for name in ("Tanh", "Sigmoid", "Hardsigmoid", "RReLU", "Softsign", "ReLU6")),
    module("RReLU", 0.2, upper=0.9).called(normal(3, 5)),
    module("Threshold", 0.1, -2, inplace=True).called(PLAIN),
    module("Hardtanh", min_value=-0.3, max_value=0.4).called(normal(4, 6)),
    module("LeakyReLU", 0.3, True).called(PLAIN),
    module("PReLU", 3, init=0.1).called(normal(2, 3, 4)),
    module("GELU", "tanh").called(normal(4, 6)),
    *(module(name).called(normal(*(2,) * rank)) for name in ("Softmax", "LogSoftmax", "Softmin") for rank in range(5)),
    module("Softmax", -1).called(normal(2, 3)),
    *(module("Softmax2d").called(normal(*(3,) * rank)) for rank in (3, 4)),
    module("GLU", 0).called(normal(4, 3)),
    module("Softplus", 2, threshold=0.5).called(normal(4, 6)),
    module("Softshrink", 0.1).called(normal(4, 6)),
    module("Hardshrink", lambd=0.9).called(normal(4, 6)),
    module("Identity", 3, unused=True).called(normal(4, 6)),
    module("PairwiseDistance").called(normal(4, 6), normal(4, 6)),
    module("PairwiseDistance", 1, 0.1, True).called(normal(4, 6), normal(1, 6)),
    module("PairwiseDistance", p=3.5).called(normal(6), normal(6)),
    module("CosineSimilarity").called(normal(4, 6), normal(4, 6)),
    module("CosineSimilarity", dim=0, eps=0.5).called(normal(4, 6), normal(4, 6)),
    module("Bilinear", 3, 4, 2, bias=False).called(normal(5, 7, 3), normal(5, 7, 4)),
    module("LazyLinear", 3).called(normal(4, 6)),
    module("LazyLinear", 3, bias=False).called(normal(2, 4, 6)),
]

REJECTED = [
    module("Hardtanh", 1.0, 0.5).called(normal(4, 6)),
    module("PReLU", 3).called(normal(2, 4)),
    module("GELU", approximate="other").called(normal(4, 6)),
    module("Softmax", dim=2).called(normal(2, 3)),
    module("GLU").called(normal(4, 3)),
    module("GLU").called(normal()),
    module("Bilinear", 3, 4, 2).called(normal(5, 3), normal(5, 5)),
    module("Bilinear", 0, 4, 2).called(normal(5, 0), normal(5, 4)),
    module("Softmax2d").called(normal(3, 3)),
]
