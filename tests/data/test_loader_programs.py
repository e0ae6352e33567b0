"""Programs with loaders: memory stays flat, and they exit correctly whatever their workers do."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from programs import host, is_sanitized

pytestmark = pytest.mark.skipif(os.environ.get("SIMPLE_TORCH") == "off", reason="there is no PyTorch")
MOST_GROWTH = 2 << 20
WATCHDOG_S = 300
SLOW = """
use torch
use std.time.{sleep}
use torch.utils.data.{DataLoader, Dataset}
class Slow(Dataset):
    fn __len__(): 100
    fn __getitem__(i):
        if i > 1: sleep(600)
        i
val loader = DataLoader(Slow(), num_workers: 2, batch_size: nil)
"""
SOON_S = 10


@pytest.mark.skipif(is_sanitized(), reason="the sanitizer keeps freed memory for a while")
@pytest.mark.parametrize("workers", [0, 2])
def test_memory_handles_and_threads_stay_flat_over_1000_epochs(workers):
    program = Path(__file__).with_name("epochs.spl")
    done = subprocess.run(
        [host(), program, "1000", str(workers)], capture_output=True, text=True, timeout=WATCHDOG_S, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    grown, more_handles, threads, left = done.stdout.split()
    assert int(grown) <= MOST_GROWTH
    assert (more_handles, threads, left) == ("0", "1", "0")


@pytest.mark.parametrize(
    ("ending", "code", "printed"),
    [
        ("for item in loader:\n    print item\n    break", 0, ""),
        ("for item in loader:\n    if item == 1: exit(3)", 3, ""),
        ('for item in loader:\n    if item == 1: panic("enough")', 1, "error: enough"),
        (
            'val t = thread.spawn(\\: panic("alone"))\nfor item in loader:\n    if item == 1: t.join()',
            1,
            "error: alone",
        ),
    ],
    ids=["broken off", "exit", "an error", "an error of another thread"],
)
def test_a_program_ends_while_its_workers_are_busy(tmp_path, ending, code, printed):
    program = tmp_path / "program.spl"
    program.write_text(f"{SLOW}{ending}\n")
    done = subprocess.run([host(), program], capture_output=True, text=True, timeout=SOON_S, check=False)
    assert done.returncode == code, done.stderr
    assert printed in done.stderr


def test_ctrl_c_ends_a_program_that_waits_for_its_workers(tmp_path):
    program = tmp_path / "program.spl"
    program.write_text(f'{SLOW}for item in loader:\n    print item\n    eprint("has {{item}}")\n')
    process = subprocess.Popen([host(), program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        while process.stderr.readline() not in ("has 1\n", ""):
            pass
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=SOON_S)
    finally:
        process.kill()
    assert out == "0\n1\n"
    assert process.returncode not in (0, None)
