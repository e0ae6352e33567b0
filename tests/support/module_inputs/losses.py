"""Inputs of losses."""

from __future__ import annotations

import torch

from module_inputs import Given, below, module, normal

F = torch.nn.functional


def shares(*shape: int):
    return lambda dtype: torch.rand(shape, dtype=dtype, requires_grad=True)


def signs(*shape: int):
    return lambda dtype: torch.randint(2, shape).to(dtype) * 2 - 1


def log_shares(*shape: int):
    return lambda dtype: torch.randn(shape, dtype=dtype).log_softmax(-1).requires_grad_()


def of_numbers() -> list[Given]:
    pair = (normal(3, 5), normal(3, 5))
    return [
        *(module(name, False).called(*pair) for name in ("L1Loss", "MSELoss", "SmoothL1Loss")),
        *(module(name, None, False).called(*pair) for name in ("L1Loss", "MSELoss", "KLDivLoss")),
        *(module(name).called(normal(3, 5), normal(5)) for name in ("L1Loss", "MSELoss", "HuberLoss", "SmoothL1Loss")),
        module("SmoothL1Loss", beta=0.0).called(*pair),
        module("SmoothL1Loss", beta=0.3, reduction="none").called(*pair),
        module("HuberLoss", "sum", 0.4).called(*pair),
        module("KLDivLoss", reduction="batchmean").called(log_shares(3, 5), shares(3, 5)),
        module("KLDivLoss", reduction="sum", log_target=True).called(log_shares(3, 5), log_shares(3, 5)),
        module("PoissonNLLLoss", False, True, eps=0.1).called(shares(3, 5), shares(3, 5)),
        module("GaussianNLLLoss", full=True, eps=0.2).called(*pair, shares(3, 5)),
        module("GaussianNLLLoss", reduction="none").called(*pair, shares(3)),
        module("GaussianNLLLoss", reduction="sum").called(*pair, var=shares(3, 1)),
        module("GaussianNLLLoss").called(*pair, 0.7),
    ]


def of_classes() -> list[Given]:
    weight = torch.tensor([0.2, 1.0, 0.0, 3.0])
    return [
        module("CrossEntropyLoss", weight, ignore_index=1, label_smoothing=0.1).called(normal(6, 4), below(4, 6)),
        module("CrossEntropyLoss", weight, reduction="none").called(normal(2, 4, 3, 2), below(4, 2, 3, 2)),
        module("CrossEntropyLoss", weight, label_smoothing=0.3).called(normal(6, 4), shares(6, 4)),
        module("CrossEntropyLoss", None, False).called(normal(4), below(4)),
        module("NLLLoss", weight, ignore_index=2, reduction="sum").called(log_shares(6, 4), below(4, 6)),
        module("NLLLoss").called(log_shares(6, 4), below(4, 6)),
        module("BCELoss", torch.tensor([0.5, 2.0, 1.0, 0.0])).called(shares(3, 4), shares(3, 4)),
        module("BCEWithLogitsLoss", weight, pos_weight=weight + 1).called(normal(3, 4), shares(3, 4)),
        module("SoftMarginLoss", reduction="none").called(normal(3, 4), signs(3, 4)),
        module("MultiLabelMarginLoss").called(normal(4), lambda dtype: torch.tensor([3, 0, -1, 1])),
        module("MultiLabelSoftMarginLoss", weight, reduction="none").called(normal(3, 4), shares(3, 4)),
        module("MultiMarginLoss", 2, 0.3, weight).called(normal(3, 4), below(4, 3)),
        *of_alignments(),
        *of_rare_classes(),
    ]


def of_alignments() -> list[Given]:
    scores = log_shares(9, 2, 5)
    targets = lambda dtype: torch.tensor([[1, 2, 2, 4], [3, 1, 0, 0]])  # noqa: E731
    flat = lambda dtype: torch.tensor([1, 2, 2, 4, 3, 1])  # noqa: E731
    return [
        module("CTCLoss").called(scores, targets, (9, 7), (4, 2)),
        module("CTCLoss", 4, "sum").called(scores, lambda dtype: torch.tensor([[1, 2], [3, 0]]), (9, 9), (2, 2)),
        module("CTCLoss", reduction="none", zero_infinity=True).called(scores, flat, (9, 1), (4, 2)),
        module("CTCLoss").called(log_shares(9, 5), lambda dtype: torch.tensor([1, 2]), (9,), (2,)),
    ]


def of_rare_classes() -> list[Given]:
    adaptive = module("AdaptiveLogSoftmaxWithLoss", 16, 20, [5, 10, 15], div_value=2.0)
    return [
        adaptive.called(normal(8, 16), below(20, 8)),
        adaptive.called(normal(8, 16), below(5, 8)),
        adaptive.called(normal(16), below(20)),
        module("AdaptiveLogSoftmaxWithLoss", 16, 20, [4], head_bias=True).called(normal(8, 16), below(20, 8)),
    ]


def of_distances() -> list[Given]:
    three = (normal(3, 5), normal(3, 5), normal(3, 5))
    return [
        module("MarginRankingLoss", 0.4, reduction="none").called(normal(4), normal(4), signs(4)),
        module("CosineEmbeddingLoss", margin=0.2).called(normal(4, 3), normal(4, 3), signs(4)),
        module("HingeEmbeddingLoss", 0.5, reduction="sum").called(normal(4, 3), signs(4, 3)),
        module("TripletMarginLoss").called(*three),
        module("TripletMarginLoss", 2, p=1, eps=0.1, swap=True, reduction="none").called(*three),
        module("TripletMarginWithDistanceLoss").called(*three),
        module("TripletMarginWithDistanceLoss", distance_function=F.cosine_similarity, swap=True).called(*three),
        module("TripletMarginWithDistanceLoss", distance_function=F.mse_loss, margin=0.2).called(*three),
    ]


def rejected() -> list[Given]:
    pair = (normal(3, 5), normal(3, 5))
    three = (*pair, normal(3, 5))
    adaptive = module("AdaptiveLogSoftmaxWithLoss", 16, 20, [5, 10, 15])
    return [
        *(
            module(name, reduction="most").called(*pair)
            for name in ("L1Loss", "MSELoss", "HuberLoss", "PoissonNLLLoss")
        ),
        module("SmoothL1Loss", beta=-1.0).called(*pair),
        module("GaussianNLLLoss").called(*pair, -0.7),
        module("GaussianNLLLoss").called(*pair, normal(3, 5)),
        module("GaussianNLLLoss").called(*pair, shares(5)),
        module("CrossEntropyLoss", label_smoothing=1.5).called(normal(6, 4), below(4, 6)),
        module("CrossEntropyLoss").called(normal(6, 4), below(4, 5)),
        module("BCELoss").called(shares(3, 4), shares(4, 3)),
        module("BCEWithLogitsLoss").called(normal(3, 4), shares(3)),
        module("MultiMarginLoss", 3).called(normal(3, 4), below(4, 3)),
        module("MultiMarginLoss", weight=torch.ones(2, 2)).called(normal(3, 4), below(4, 3)),
        module("CTCLoss").called(log_shares(9, 2, 5), below(5, 2, 4), (9, 7, 5), (4, 2)),
        adaptive.called(normal(8, 16), below(20, 7)),
        adaptive.called(normal(8, 4, 16), below(20, 8)),
        adaptive.called(normal(8, 16), below(20, 8, 2)),
        adaptive.called(normal(8, 16), lambda dtype: torch.tensor([0, 1, 2, 3, 4, 5, 6, 20])),
        *(module("AdaptiveLogSoftmaxWithLoss", 16, 20, wrong) for wrong in ([], [5, 5], [0, 3], [7, 3], [5, 20])),
        module("MarginRankingLoss").called(normal(4), normal(4, 1), signs(4)),
        module("TripletMarginLoss", 0.0).called(*three),
        module("TripletMarginWithDistanceLoss", margin=-1.0).called(*three),
        module("TripletMarginWithDistanceLoss", reduction="most").called(*three),
        module("TripletMarginWithDistanceLoss").called(normal(3, 5), normal(3, 5), normal(5)),
    ]


SAMPLES = of_numbers() + of_classes() + of_distances()
REJECTED = rejected()
