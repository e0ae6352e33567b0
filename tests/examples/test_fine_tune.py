"""examples/vision/fine_tune.spl: the pretrained network is ten points better than the same network from scratch."""

from __future__ import annotations

import os
import re

LONG = os.environ.get("SIMPLE_LONG_TESTS") == "1"
PROGRAM = "examples/vision/fine_tune.spl"


def test_fine_tuning_is_better_than_training_from_scratch(simple):
    """In one thread, so that the result is reproducible on one machine."""
    epochs = [] if LONG else ["--epochs", "2"]
    done = simple(PROGRAM, *epochs, env={"OMP_NUM_THREADS": "1"}, timeout_s=1800)
    assert done.code == 0, done.err
    results = {name: float(value) for name, value in re.findall(r"^result: (\w+) ([-\d.]+)$", done.out, re.M)}
    assert results["points_gained"] >= 10, done.out
    assert results["test_accuracy"] >= (60 if LONG else 35), done.out


def test_wrong_options_are_errors_of_one_line(simple):
    for words in (["--epochs"], ["--epochs", "none"], ["--seed", "0"]):
        done = simple(PROGRAM, *words)
        assert done.code == 1
        assert done.err.count("\n") == 1 and f"{words[0]} needs a positive number; usage: fine_tune.spl" in done.err
