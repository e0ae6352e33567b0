"""Rows of two tensors, shuffled, in batches: `rows.py BATCH_SIZE`."""

import sys

import torch
from torch.utils.data import DataLoader, TensorDataset
from worker import serve

SAMPLES = 32_768
data = TensorDataset(torch.arange(SAMPLES * 32.0).view(SAMPLES, 32), torch.arange(SAMPLES))
serve(DataLoader(data, batch_size=int(sys.argv[1]), shuffle=True))
