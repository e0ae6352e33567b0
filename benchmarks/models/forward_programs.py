"""Runs a model or loads a file on request: a line on standard input is a count, the answer is nanoseconds and a number
that depends on the last result."""

from __future__ import annotations

import sys
import time

import torch

torch.set_num_threads(1)


def image_model(name: str, size: int, form: str = "plain"):
    import torchvision

    torch.manual_seed(0)
    model = getattr(torchvision.models, name)().eval()
    image = torch.randn(1, 3, size, size)
    if form == "both":
        with torch.no_grad():
            model = torch.jit.optimize_for_inference(torch.jit.trace(model, image))

    def forward(count: int) -> float:
        with torch.no_grad():
            for _ in range(count):
                scores = model(image)
        return scores.abs().sum().item()

    return forward


def script(path: str):
    model = torch.jit.load(path)
    x = torch.ones(1, 4)

    def forward(count: int) -> float:
        with torch.no_grad():
            for _ in range(count):
                scores = model(x)
        return scores.abs().sum().item()

    return forward


def safetensors(path: str):
    from safetensors.torch import load_file

    def load(count: int) -> float:
        for _ in range(count):
            tensors = load_file(path)
            total = sum(tensor.sum().item() for tensor in tensors.values())
        return total

    return load


kind, name = sys.argv[1:3]
if kind == "image":
    work = image_model(name, int(sys.argv[3]), *sys.argv[4:])
else:
    work = script(name) if kind == "script" else safetensors(name)
for line in sys.stdin:
    start = time.perf_counter_ns()
    result = work(int(line))
    print(time.perf_counter_ns() - start, result, flush=True)
