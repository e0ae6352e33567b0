"""PyTorch in Python, on a CUDA device."""

from __future__ import annotations

import functools

import torch_peer
from common import CudaProducer as Producer  # noqa: F401
from common import are_twos, bytes_of_pattern  # noqa: F401
from torch_peer import address, dtype_of, fill, has_ones, shape_of, take, values, write  # noqa: F401

DEVICE = "cuda:0"
make = functools.partial(torch_peer.make, device=DEVICE)
