"""Programs that fork: the child continues, reports missing features, and never hangs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

HOST = os.environ.get("SIMPLE_HOST", "")
pytestmark = pytest.mark.skipif(not HOST, reason="SIMPLE_HOST is not set")
pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)

# The child's exit code is its result; the parent prints it.
FORKING = """
use torch
use python as py

val threads = py.import("os").cpu_count().to_int()
torch.set_num_threads(threads)
val big = torch.ones([500, 500])
val before = big.matmul(big).sum().item()
fn spin():
    while true: 1 + 1
fn compute():
    while true: big.matmul(big)
fn call_python():
    while true: py.eval("sum(range(1000))")
val others = [spin, compute, call_python].map(\\body: thread.spawn(body))

fn child() -> i64:
{child}

for _ in 0..5:
    val pid = py.import("os").fork().to_int()
    if pid == 0: exit(child())
    val status = py.import("os").waitpid(pid, 0)[1].to_int()
    print py.import("os").waitstatus_to_exitcode(status).to_int()
exit(0)
"""


def codes(folder: Path, child: str) -> list[str]:
    file = folder / "program.spl"
    file.write_text(FORKING.replace("{child}", "".join(f"    {line}\n" for line in child.strip().split("\n"))))
    done = subprocess.run([HOST, file], capture_output=True, text=True, check=False, timeout=100)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


CHILDREN = {
    "computes": "if big.matmul(big).sum().item() == before: 7 else: 1",
    "uses gradients": """
val x = torch.ones([3]).requires_grad_(true)
(x * x).sum().backward()
if x.grad.tolist() == [2.0, 2.0, 2.0]: 7 else: 1
""",
    "calls Python": 'py.eval("3 + 4").to_int()',
    "starts threads of its own": "thread.spawn(\\: 7).join()",
    "reports that other threads do not exist": """
match attempt(\\: others[0].join()):
    case Ok(_): 1
    case Err(failure): if failure.message.contains("does not run in the forked process"): 7 else: 2
""",
    "reports that operations have one thread": """
match torch.attempt(\\: torch.set_num_threads(2)):
    case Ok(_): 1
    case Err(Unavailable(message)): if message.contains("a forked process supports 1 thread"): 7 else: 2
    case Err(_): 3
""",
}


@pytest.mark.parametrize("what", CHILDREN)
def test_the_child(tmp_path, what):
    assert codes(tmp_path, CHILDREN[what]) == ["7"] * 5
