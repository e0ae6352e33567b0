"""Backward passes that are stopped, as programs: Ctrl-C, exit(), failures, threads of the engine."""

from __future__ import annotations

import os
import signal
import subprocess
import textwrap
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HOST = os.environ.get("SIMPLE_HOST", str(ROOT / "build" / "release" / "bin" / "simple-host"))
if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)

# Nested backward(): beyond 60 levels the engine continues on another thread.
NESTED = """
use torch
class Bottom(torch.autograd.Function):
    static fn forward(ctx, x): x * 2.0
    static fn backward(ctx, grad):
        BOTTOM
        grad
class Nested(torch.autograd.Function):
    static fn forward(ctx, x, depth):
        ctx.depth = depth
        x * 2.0
    static fn backward(ctx, grad):
        val inner = grad.detach().requires_grad_()
        with torch.enable_grad():
            if ctx.depth == 0: Bottom.apply(inner).sum().backward()
            else: Nested.apply(inner, ctx.depth - 1).sum().backward()
        (inner.grad, nil)
val x = torch.ones([2], requires_grad: true)
"""
DEPTHS = pytest.mark.parametrize("depth", [0, 100])


def started(path: Path, source: str) -> subprocess.Popen:
    program = path / "program.spl"
    program.write_text(textwrap.dedent(source))
    return subprocess.Popen(
        [HOST, str(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def ended(process: subprocess.Popen) -> tuple[int, str, str]:
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    return process.returncode, out, err


def nested(bottom: str, last: str) -> str:
    return NESTED.replace("BOTTOM", bottom) + last


@DEPTHS
def test_ctrl_c_ends_a_backward_that_never_ends(tmp_path, depth):
    process = started(
        tmp_path, nested('eprint("below")\n        while true: pass', f"Nested.apply(x, {depth}).sum().backward()\n")
    )
    assert process.stderr.readline() == "below\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    assert ended(process)[0] == 130


@DEPTHS
def test_exit_in_backward_ends_the_program_with_its_code(tmp_path, depth):
    code, out, _ = ended(
        started(tmp_path, nested("exit(7)", f'Nested.apply(x, {depth}).sum().backward()\nprint("after")\n'))
    )
    assert (code, out) == (7, "")


@DEPTHS
def test_failure_stops_the_program_at_its_backward_and_names_the_inner_location(tmp_path, depth):
    code, _, err = ended(started(tmp_path, nested('panic("no slope")', f"Nested.apply(x, {depth}).sum().backward()\n")))
    assert code == 1
    assert "no slope (in Bottom.backward, " in err
    assert "program.spl:6)" in err
    assert "Nested.apply(x" in err


def test_failing_calls_leak_nothing(tmp_path):
    source = nested(
        'panic("no slope")',
        """
        fn once(): torch.attempt(\\: Nested.apply(x, 2).sum().backward())
        for _ in 0..1000: once()
        x.grad = nil
        print(torch.live_handles())
        """.replace("\n        ", "\n"),
    )
    assert ended(started(tmp_path, source))[:2] == (0, "1\n")


def test_python_may_start_after_the_first_backward(tmp_path):
    """LibTorch starts an engine's threads once per process, and Python's engine replaces the first."""
    source = nested(
        "pass",
        """
        x.sum().backward()
        use python as py
        py.import("torch")
        x.grad = nil
        Nested.apply(x, 100).sum().backward()
        print(x.grad.tolist())
        """.replace("\n        ", "\n"),
    )
    assert ended(started(tmp_path, source))[:2] == (0, "[1.0, 1.0]\n")
