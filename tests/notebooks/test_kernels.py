"""Kernels as processes: interrupts, the end, restarts, memory, broken cells."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest
from kernels import Kernel

from programs import is_sanitized

ROOT = Path(__file__).resolve().parents[2]
LONG = bool(os.environ.get("SIMPLE_LONG_TESTS"))
TRAINING = """
use torch
use torch.nn
val model = nn.Linear(32, 1)
val optimizer = torch.optim.SGD(model.parameters(), lr: 0.001)
val (x, y) = (torch.randn([64, 32]), torch.randn([64, 1]))
var steps = 0
print "started"
while true:
    optimizer.zero_grad()
    (model(x) - y).pow(2).mean().backward()
    optimizer.step()
    steps += 1
"""


# ---- interrupts


@pytest.mark.parametrize(
    "cell",
    [
        'val kept = 1\nprint "started"\nwhile true: 1 + 1',
        'use python as py\nval kept = 1\nprint "started"\npy.import("time").sleep(1000)',
        'use std.time\nval kept = 1\nprint "started"\ntime.sleep(1000)',
        "%%python\nkept = 1\nprint('started')\nwhile True: pass",
        f"val kept = 1\n{TRAINING}",
    ],
    ids=["simple", "python call", "sleep", "python", "training"],
)
def test_an_interrupt_stops_the_cell_and_keeps_the_state(simple_kernel, cell):
    request = simple_kernel.start(cell)
    simple_kernel.wait_for_output(request, "started")
    simple_kernel.interrupt()
    outcome = simple_kernel.result_of(request)
    assert outcome.error == "KeyboardInterrupt"
    assert simple_kernel.run("kept").text == "1"


def test_an_interrupted_training_can_be_continued(simple_kernel):
    request = simple_kernel.start(TRAINING)
    simple_kernel.wait_for_output(request, "started")
    while simple_kernel.client.iopub_channel.msg_ready():
        simple_kernel.client.get_iopub_msg()
    simple_kernel.interrupt()
    assert simple_kernel.result_of(request).error == "KeyboardInterrupt"
    assert simple_kernel.run("model(x).shape()").text == "[64, 1]"


def test_an_interrupt_of_an_idle_kernel_changes_nothing(simple_kernel):
    simple_kernel.interrupt()
    assert simple_kernel.run("6 * 7").text == "42"


# ---- the end


@pytest.mark.parametrize("cell", ["exit()", "exit(3)", "%%python\nexit()"])
def test_exit_asks_the_kernel_to_stop_after_the_cell(jupyter, cell):
    with Kernel("simple") as kernel:
        outcome = kernel.run(cell)
        assert outcome.errors == []
        assert outcome.reply["status"] == "ok"
        assert [payload["source"] for payload in outcome.reply["payload"]] == ["ask_exit"]
        assert kernel.ends()


def test_a_restart_is_clean(jupyter):
    with Kernel("simple") as kernel:
        kernel.run("val before = 1")
        kernel.client.stop_channels()
        kernel.manager.restart_kernel(now=False)
        kernel.client = kernel.manager.client()
        kernel.client.start_channels()
        kernel.client.wait_for_ready(timeout=120)
        assert "'before' is not defined" in kernel.run("before").traceback
        assert kernel.run("1 + 1").text == "2"


# ---- endurance


ENDURANCE = (
    "fn scaled(t): t * 2.0\nval made = scaled(torch.ones([1000]))\nval n = made.sum().item()\nmade;",
    "%%python\nimport torch as pytorch\nbatch = pytorch.ones(1000)\ntotal = scaled(batch).sum().item()",
    "scaled([1])[7]",
    'use python as py\nval frame = py.import("numpy").ones(100)\nval shared = torch.from_dlpack(frame)',
)
MEMORY = """%%python
import gc, sys
for name in ("batch", "made", "shared", "frame", "total", "n"): globals().pop(name, None)
sys.last_value = sys.last_traceback = sys.last_exc = None
gc.collect()
int(open("/proc/self/statm").read().split()[1]) * 4096
"""


@pytest.mark.skipif(is_sanitized(), reason="the sanitizer keeps freed memory for a while")
def test_200_mixed_cells_leave_memory_flat_and_no_handles(jupyter):
    with Kernel("simple") as kernel:
        kernel.run("use torch\nuse torch.memory.{live_handles}")

        def state_after(count: int) -> tuple[int, int]:
            for i in range(count):
                kernel.run(ENDURANCE[i % len(ENDURANCE)])
            memory = int(kernel.run(MEMORY).text)
            return memory, int(kernel.run("live_handles()").text)

        state_after(100)  # caches are filled
        memory, handles = state_after(40)
        later_memory, later_handles = state_after(200)
        assert later_memory - memory < 5_000_000
        assert later_handles == handles


def mutated(source: str, chance: random.Random) -> str:
    """The source with one to three random changes."""
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(source) + 1)
        match chance.randrange(4):
            case 0:
                source = source[:at] + source[at + chance.randint(1, 9) :]
            case 1:
                source = source[:at] + chance.choice("(){}[]\"'\\:;,.=@#%!?$\n\t 0aZ\u00e9") + source[at:]
            case 2:
                other = chance.randrange(len(source) + 1)
                source = source[:at] + source[min(at, other) : max(at, other)] + source[at:]
            case _:
                source = source[:at] + chance.choice(WORDS) + source[at:]
    return source


WORDS = [
    "fn ",
    "class ",
    "val ",
    "match ",
    "%%simple\n",
    "%%python\n",
    " nil ",
    "self",
    "...",
    "0..",
    "use torch",
    "\\x: ",
]


def test_the_kernel_answers_after_each_mutated_cell(jupyter):
    """Cells of the library's examples with random changes: errors, never the end of the kernel."""
    chance = random.Random(7)
    sources = [path.read_text()[:1500] for path in sorted((ROOT / "examples" / "torch" / "basics").glob("*.spl"))]
    sources += ['val x = 1\nprint "{x}"', "%%python\nprint(1)", "fn f(a, b = 2): a + b\nf(1)", "%time 1 + 1", "torch?"]
    with Kernel("simple") as kernel:
        for i in range(500 if LONG else 60):
            cell = mutated(chance.choice(sources), chance)
            if "while" in cell or "loop" in cell or "input" in cell or "exit" in cell or cell.lstrip().startswith("!"):
                continue
            request = kernel.start(cell)
            kernel.result_of(request)
            assert kernel.run(f"{i} + 1").text == f"{i + 1}", cell


# ---- the start


def test_loading_twice_keeps_the_session(python_kernel):
    python_kernel.run("%%simple\nval kept = 7")
    outcome = python_kernel.run("%load_ext simple_torch\n%reload_ext simple_torch")
    assert outcome.errors == []
    assert python_kernel.run("%simple kept").text == "7"


def test_no_time_is_spent_on_what_a_cell_does_not_mention(python_kernel):
    """Many variables do not slow cells down: the benchmark measures the time itself."""
    python_kernel.run("for i in range(20000): globals()[f'filler_{i}'] = i")
    start = time.perf_counter()
    assert python_kernel.run("%simple filler_19999 + 1").text == "20000"
    assert time.perf_counter() - start < 60


# ---- event loops of graphical interfaces, and the debugger

LOOP = """%%python
import time
from ipykernel.eventloops import register_integration
turns = []
@register_integration("counting")
def loop_counting(kernel):
    turns.append(1)
    time.sleep(0.01)
"""


def test_an_event_loop_runs_between_the_cells(jupyter):
    """%gui is IPython's: this loop stands for that of Qt, Tk and others, which need a screen."""
    with Kernel("simple") as kernel:
        kernel.run(LOOP)
        assert kernel.run("turns.__len__()").text == "0"
        assert kernel.run("%gui counting\nval before = 1").errors == []
        time.sleep(0.5)
        first = int(kernel.run("turns.__len__()").text)
        time.sleep(0.5)
        second = int(kernel.run("%%python\nlen(turns)").text)
        assert 0 < first < second
        kernel.run("%gui")
        time.sleep(0.2)
        counts = {kernel.run("turns.__len__()").text for _ in range(2)}
        assert len(counts) == 1


def test_the_debugger_finds_the_exception_of_a_cell(simple_kernel):
    assert simple_kernel.run("val items = [1]\nitems[5]").error == "IndexError"
    shown = simple_kernel.run("%%python\nimport sys\ntype(sys.last_value).__name__, str(sys.last_value)").text
    assert shown.startswith("('IndexError', ")
    simple_kernel.run('use python as py\npy.import("json").loads("[")')
    shown = simple_kernel.run("%%python\nsys.last_traceback.tb_next is not None, type(sys.last_value).__name__").text
    assert shown == "(True, 'JSONDecodeError')"
