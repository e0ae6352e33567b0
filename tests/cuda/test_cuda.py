"""Simple programs on a CUDA device: results, memory, and errors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)
if not torch.cuda.is_available():
    pytest.skip("there is no CUDA device", allow_module_level=True)

from programs import run  # noqa: E402


def printed(folder: Path, program: str, *, code: int = 0, errors: str = "") -> list[str]:
    """The program's output lines. It must exit with `code` and print `errors` (a pattern) to standard error."""
    file = folder / "program.spl"
    file.write_text(f"use torch\nuse python as py\n{program}")
    done = run(file)
    assert (done.returncode, bool(re.fullmatch(errors, done.stderr, re.S))) == (code, True), done.stdout + done.stderr
    return done.stdout.splitlines()


# ---- results

COMPUTED = """
torch.manual_seed(3)
val x = torch.randn([64, 32], device: "cuda")
val w = torch.randn([32, 16], device: "cuda").requires_grad_(true)
val y = (x.matmul(w)).relu().sum()
y.backward()
print "{x.device()} {y.device()} {w.grad.device()} {x.is_cuda()}"
print x.sum().item()
print y.item()
print w.grad.cpu().sum().item()
print x.cpu().device()
print x.to("cpu").cuda().device()
print torch.zeros([2]).to(x).device()
print torch.cat([x, x]).flip([0]).argmax().item()
"""


def test_results_match_torch(tmp_path):
    torch.manual_seed(3)
    x = torch.randn([64, 32], device="cuda")
    w = torch.randn([32, 16], device="cuda").requires_grad_()
    y = x.matmul(w).relu().sum()
    y.backward()
    numbers = [x.sum().item(), y.item(), w.grad.cpu().sum().item()]
    lines = printed(tmp_path, COMPUTED)
    assert lines[0] == "cuda:0 cuda:0 cuda:0 true"
    assert [float(line) for line in lines[1:4]] == numbers
    assert lines[4:] == ["cpu", "cuda:0", "cuda:0", str(torch.cat([x, x]).flip([0]).argmax().item())]


def test_new_tensors_are_on_the_default_device(tmp_path):
    program = """
print torch.cuda_available() and torch.devices().contains("cuda:0")
torch.set_default_device("cuda")
print "{torch.ones([2]).device()} {torch.rand([2]).device()} {torch.tensor([1]).device()} {torch.arange(3).device()}"
torch.set_default_device("cpu")
print torch.ones([2]).device()
"""
    assert printed(tmp_path, program) == ["true", "cuda:0 cuda:0 cuda:0 cuda:0", "cpu"]


def test_pinned_memory_is_pinned(tmp_path):
    program = 'val t = torch.empty([2], pinned: true)\nprint "{t.is_pinned()} {t.device()}"'
    assert printed(tmp_path, program) == ["true cpu"]


def test_streams_are_created_synchronized_and_freed(tmp_path):
    program = """
for _ in 0..100:
    val stream = torch.Stream.create(0)
    torch.ones([1000, 1000], device: "cuda").matmul(torch.ones([1000, 1000], device: "cuda"))
    stream.synchronize()
    print stream.query()
"""
    assert {*printed(tmp_path, program)} == {"true"}


CURRENT = """
val default = torch.cuda.default_stream()
print default == torch.cuda.current_stream(), default.cuda_stream()
val side = torch.cuda.Stream()
print side == default, side.cuda_stream() != 0, side.device
with torch.cuda.stream(side):
    print torch.cuda.current_stream() == side
    # Python's torch shares the current stream of the thread.
    print py.eval("__import__('torch').cuda.current_stream().cuda_stream").to_int() == side.cuda_stream()
    with torch.cuda.stream(nil): print torch.cuda.current_stream("cuda:0") == side
print torch.cuda.current_stream() == default
torch.cuda.set_stream(side)
print torch.cuda.current_stream() == side
torch.cuda.set_stream(default)
print torch.cuda.current_device()
with torch.cuda.device("cuda:0"): print torch.cuda.current_device()
"""


def test_the_current_stream_changes_within_a_block(tmp_path):
    assert printed(tmp_path, CURRENT) == [
        *("true 0", "false true 0", "true", "true", "true", "true", "true", "0", "0"),
    ]


# `side` sleeps before it writes, so that a reader that does not wait sees the zeros.
ORDERED = """
val wrong = []
for i in 1..51:
    val side = torch.cuda.Stream()
    val x = torch.zeros([100000], device: "cuda")
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        py.eval("__import__('torch').cuda._sleep(1000000)")
        x.fill_(i)
    val written = side.record_event()
    print written.query() and not written.query()
    if i % 2 == 0: written.wait() else: torch.cuda.current_stream().wait_event(written)
    if (x + 0).sum().item() != 100000.0 * i: wrong.push(i)
    written.synchronize()
    print written.query()
print wrong
"""


def test_streams_wait_for_events(tmp_path):
    *states, wrong = printed(tmp_path, ORDERED)
    assert (wrong, {*states[::2]}, {*states[1::2]}) == ("[]", {"false"}, {"true"})


TIMED = """
fn timed(cycles):
    val start = torch.cuda.Event(enable_timing=True)
    val end = torch.cuda.Event(enable_timing=True)
    start.record()
    py.eval(f"__import__('torch').cuda._sleep({cycles})")
    end.record()
    torch.cuda.synchronize()
    start.elapsed_time(end)
timed(1000)
val (short, long) = (timed(10000000), timed(100000000))
print short > 1.0 and long > 5.0 * short
match torch.attempt(\\: torch.cuda.Event().elapsed_time(torch.cuda.Event())):
    case Err(Torch(message)): print message
    case other: print other
"""


def test_events_measure_time(tmp_path):
    shown, message, *_ = printed(tmp_path, TIMED)
    assert shown == "true" and "event" in message.lower()


def test_files_keep_device_tensors(tmp_path):
    program = """
val t = torch.arange(6, dtype: torch.float32, device: "cuda").reshape([2, 3])
torch.save(t, "{folder}/t.pt")
val back = torch.load("{folder}/t.pt")
print "{back.device()} {back.tolist()}"
""".replace("{folder}", str(tmp_path))
    assert printed(tmp_path, program) == ["cuda:0 [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]"]


# ---- memory


def test_memory_is_released_with_the_last_handle(tmp_path):
    program = """
val before = torch.live_bytes("cuda:0")
fn fill() -> i64:
    val kept = [for i in 0..10: torch.zeros([1024, 1024], device: "cuda")]
    torch.live_bytes("cuda:0")
print fill() - before
print torch.live_bytes("cuda:0") - before
"""
    assert printed(tmp_path, program) == [str(10 * 4 * 1024 * 1024), "0"]


TOO_LARGE = """
val before = torch.live_bytes("cuda:0")
match torch.attempt(\\: torch.empty([1 << 45], device: "cuda")):
    case Err(OutOfMemory(requested, available, message)):
        print "{requested} {available > 0 and available < (1 << 40)}"
        print message
    case other: print other
print torch.ones([3], device: "cuda").sum().item()
print torch.live_bytes("cuda:0") - before
"""


def test_out_of_memory_reports_the_size(tmp_path):
    lines = printed(tmp_path, TOO_LARGE)
    assert lines[0] == f"{4 << 45} true"
    assert "CUDA out of memory. Tried to allocate" in lines[1]
    assert lines[-2:] == ["3.0", "0"]


def test_pythons_out_of_memory_has_the_same_kind(tmp_path):
    program = """
match py.try_call_method(py.import("torch"), "empty", [1 << 45], device: "cuda"):
    case Err(OutOfMemory(requested, available, _)): print "{requested} {available > 0}"
    case other: print other
"""
    assert printed(tmp_path, program) == [f"{4 << 45} true"]


# ---- errors


def test_different_devices_are_named(tmp_path):
    program = """
val here = torch.ones([2, 2])
val there = here.cuda()
for body in [\\: here + there, \\: here.matmul(there), \\: torch.cat([here, there])]:
    match torch.attempt(body):
        case Err(DeviceMismatch(expected, got, _)): print "{expected} {got}"
        case other: print other
match torch.attempt(\\: here.cuda(7)):
    case Err(Unavailable(message)): print message
    case other: print other
"""
    assert printed(tmp_path, program) == [
        "cpu cuda:0",
        "cpu cuda:0",
        "cpu cuda:0",
        "no device cuda:7; available devices: cpu and cuda:0",
    ]


def test_failed_kernel_assertion_is_a_permanent_error(tmp_path):
    program = """
val table = torch.ones([4, 2], device: "cuda")
val wrong = torch.tensor([9], device: "cuda")
fn look(): torch.embedding(table, wrong).sum().item()
for _ in 0..2:
    match torch.attempt(look):
        case Err(Torch(message)): print message
        case other: print other
print torch.ones([2]).sum().item()
"""
    lines = printed(tmp_path, program, errors=".*Assertion.*failed.*")
    assert [line for line in lines if line.startswith("CUDA error: device-side assert triggered")], lines
    assert lines[-1] == "2.0"


# ---- Python in the same process


def test_tensors_reach_python_unchanged(tmp_path):
    program = """
val module = py.import("torch").nn.Linear(4, 2).cuda()
val x = torch.ones([3, 4], device: "cuda").requires_grad_(true)
val y = module(x).to_tensor()
print "{y.device()} {y.shape}"
y.sum().backward()
val expected = module.weight.to_tensor().sum(0).expand([3, 4])
val error = (x.grad - expected).abs().max().item()
print error
print module.weight.grad.to_tensor().device()
val t = torch.zeros([2], device: "cuda")
py.eval("t.fill_(5)", t: t)
print t.tolist()
print py.eval("t.data_ptr()", t: t).to_int() == t.data_ptr()
match torch.attempt(\\: py.import("numpy").asarray(t)):
    case Err(Python(_, message, _)): print message
    case other: print other
"""
    lines = printed(tmp_path, program)
    assert lines[:5] == ["cuda:0 [3, 2]", "0.0", "cuda:0", "[5.0, 5.0]", "true"]
    assert "can't convert cuda:0 device type tensor to numpy" in lines[5]


FORKING = """
val there = torch.ones([4], device: "cuda")
val sum = there.sum().item()
fn child() -> i64:
    if torch.ones([4]).sum().item() != sum: return 1
    match torch.attempt(\\: (there + 1).sum().item()):
        case Err(Unavailable(message)): if message.contains("forked"): return 7
        case Err(other): print other
        case Ok(value): print value
    2
val os = py.import("os")
val pid = os.fork().to_int()
if pid == 0: exit(child())
print os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]).to_int()
print there.sum().item() == sum
"""


def test_forked_process_reports_cuda_as_unavailable(tmp_path):
    assert printed(tmp_path, FORKING) == ["7", "true"]


def test_program_exits_cleanly_with_live_tensors(tmp_path):
    program = """
val kept = [for i in 0..8: torch.ones([100, 100], device: "cuda")]
val shared = py.import("torch").ones(3, device: "cuda")
fn spin():
    while true: kept[0].matmul(kept[1])
val threads = [for i in 0..3: thread.spawn(spin)]
print kept[7].sum().item()
exit(3)
"""
    # LibTorch prints this if a thread's first use of CUDA is a matrix product.
    warned = r"(\[W.*no current CUDA context! Attempting to set the primary context.*\n)*"
    assert printed(tmp_path, program, code=3, errors=warned) == ["10000.0"]
