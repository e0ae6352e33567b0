"""Inputs of recurrent layers: packed sequences, several layers and directions, and errors."""

from __future__ import annotations

import torch

from module_inputs import Given, module, normal

rnn = torch.nn.utils.rnn


def packed(lengths: list[int], width: int, **kwargs: bool):
    def make(dtype: torch.dtype) -> rnn.PackedSequence:
        sequences = [torch.randn(length, width, dtype=dtype, requires_grad=True) for length in lengths]
        return rnn.pack_sequence(sequences, **kwargs)

    return make


SORTED = packed([4, 3, 1], 5)
MIXED = packed([2, 4, 1], 5, enforce_sorted=False)
LAYERS = {"RNN": {"nonlinearity": "relu"}, "LSTM": {}, "GRU": {}}


def states(name: str, *shape: int, proj_size: int = 0):
    hidden = normal(*shape[:-1], proj_size or shape[-1])
    return (hidden, normal(*shape)) if name == "LSTM" else hidden


def of_layers(name: str, kwargs: dict) -> list[Given]:
    deep = module(name, 5, 6, 2, **kwargs, bidirectional=True, dropout=0.5)
    plain = module(name, 5, 6, **kwargs)
    return [
        deep.called(SORTED),
        deep.called(MIXED, states(name, 4, 3, 6)),
        deep.called(normal(7, 3, 5)),
        module(name, 5, 6, 3, **kwargs, bias=False, batch_first=True).called(normal(3, 7, 5), states(name, 3, 3, 6)),
        plain.called(normal(7, 5)),
        plain.called(normal(7, 5), states(name, 1, 6)),
        plain.called(SORTED, states(name, 1, 3, 6)),
    ]


def rejected_by_layers(name: str, kwargs: dict) -> list[Given]:
    plain = module(name, 5, 6, **kwargs)
    return [
        plain.called(normal(5)),
        plain.called(normal(7, 3, 4)),
        plain.called(normal(7, 3, 5), states(name, 1, 2, 6)),
        plain.called(normal(7, 3, 5), states(name, 1, 6)),
        plain.called(normal(7, 5), states(name, 1, 1, 6)),
        plain.called(packed([3, 2], 4)),
        plain.called(lambda dtype: torch.ones(7, 3, 5, dtype=torch.int32)),
        *(module(name, *sizes) for sizes in ((0, 6), (5, 0), (5, 6, 0), (5.0, 6), (5, "6"))),
        *(
            module(name, 5, 6, **wrong)
            for wrong in ({"dropout": 1.5}, {"dropout": True}, {"bias": 1}, {"batch_first": 0})
        ),
    ]


def of_cells(name: str) -> list[Given]:
    cell = module(name, 5, 6)
    return [
        cell.called(normal(3, 5)),
        cell.called(normal(5), states(name[:-4], 6)),
        module(name, 5, 6, bias=False).called(normal(3, 5), states(name[:-4], 3, 6)),
    ]


def rejected_by_cells(name: str) -> list[Given]:
    cell = module(name, 5, 6)
    return [
        cell.called(normal(2, 3, 5)),
        cell.called(normal(3, 5), states(name[:-4], 1, 3, 6)),
        cell.called(normal(3, 4)),
        cell.called(normal(3, 5), states(name[:-4], 3, 7)),
        cell.called(normal(3, 5), states(name[:-4], 2, 6)),
    ]


SAMPLES = [
    *(given for name, kwargs in LAYERS.items() for given in of_layers(name, kwargs)),
    *(given for name in ("RNNCell", "LSTMCell", "GRUCell") for given in of_cells(name)),
    module("LSTM", 5, 6, 2, bidirectional=True, proj_size=3).called(MIXED, states("LSTM", 4, 3, 6, proj_size=3)),
    module("LSTM", 5, 6, bias=False, proj_size=3).called(normal(7, 5)),
    module("RNN", 5, 6).called(normal(7, 3, 5)),
    module("RNNCell", 5, 6, nonlinearity="relu").called(normal(3, 5)),
]

REJECTED = [
    *(given for name, kwargs in LAYERS.items() for given in rejected_by_layers(name, kwargs)),
    *(given for name in ("RNNCell", "LSTMCell", "GRUCell") for given in rejected_by_cells(name)),
    module("LSTM", 5, 6, proj_size=6),
    module("LSTM", 5, 6, proj_size=-1),
    module("RNN", 5, 6, 1, "sigmoid"),
    module("RNNCell", 5, 6, nonlinearity="sigmoid").called(normal(3, 5)),
]
