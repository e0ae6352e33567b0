"""Rows of two tensors, shuffled, in batches: `rows.py BATCH_SIZE`."""

import sys

import torch
from torch.utils.data import DataLoader, TensorDataset
from turns import take_turns

SAMPLES = 32_768
data = TensorDataset(torch.arange(SAMPLES * 32.0).view(SAMPLES, 32), torch.arange(SAMPLES))
take_turns(DataLoader(data, batch_size=int(sys.argv[1]), shuffle=True))
