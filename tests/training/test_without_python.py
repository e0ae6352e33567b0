"""Data, metrics, the training loop and its logs load no Python into the process."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from programs import host

pytestmark = pytest.mark.skipif(os.environ.get("SIMPLE_TORCH") == "off", reason="there is no PyTorch")
PROGRAM = Path(__file__).with_name("without_python.spl")


def test_training_from_images_to_logs_needs_no_python(tmp_path):
    done = subprocess.run([host(), PROGRAM, tmp_path], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["2 2 3 2", "true false false"]
    assert list((tmp_path / "events").glob("events.out.tfevents.*"))
