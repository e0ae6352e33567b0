"""Event files match those of torch.utils.tensorboard after the same calls, and TensorBoard reads them."""

from __future__ import annotations

import importlib.util
import io
import os
import re
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

import event_files as reading
from programs import host, is_sanitized

torch = pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)
np = pytest.importorskip("numpy")
Image = pytest.importorskip("PIL.Image")

pytestmark = pytest.mark.skipif(os.environ.get("SIMPLE_TORCH") == "off", reason="there is no PyTorch")

# The same lines for both; `at` is a time, so that the events are equal bit for bit.
CALLS = """
w.add_scalar("loss/train", 0.1, 3, at)
w.add_scalar("loss/train", torch.tensor([[2.5]]), 4, at)
w.add_scalar("a number", 7, walltime=at)
w.add_scalar("new", 0.1, 5, at, new_style=True)
w.add_scalar("double", 0.1, 5, at, new_style=True, double_precision=True)
w.add_scalar("not a number", 0.0 * torch.tensor(float_of("inf")), 6, at)
w.add_text("note", "**bold** ünïcode 日本", 2, at)
w.add_histogram_raw("raw", 1.0, 4.0, 3, 7.0, 21.0, [2.0, 3.0, 5.0], [1, 0, 2], 9, at)
"""
IMAGES = {
    "float": ("torch.rand(3, 6, 5)", "CHW"),
    "out of range": ("torch.rand(3, 6, 5) * 3 - 1", "CHW"),
    "bytes": ("torch.randint(0, 256, (3, 6, 5), dtype=torch.uint8)", "CHW"),
    "rows first": ("torch.randint(0, 256, (6, 5, 3), dtype=torch.uint8)", "HWC"),
    "columns first": ("torch.rand(5, 6, 3)", "WHC"),
    "gray": ("torch.rand(1, 6, 5)", "CHW"),
    "without channels": ("torch.rand(6, 5)", "HW"),
    "turned": ("torch.rand(5, 6)", "WH"),
    "doubles": ("torch.rand(3, 6, 5, dtype=torch.float64)", "CHW"),
    "bools": ("torch.rand(1, 6, 5) > 0.5", "CHW"),
}
BATCHES = {
    "few": ("torch.rand(3, 3, 6, 5)", "NCHW"),
    "more than a line": ("torch.rand(11, 1, 4, 5)", "NCHW"),
    "bytes": ("torch.randint(0, 256, (9, 4, 5, 3), dtype=torch.uint8)", "NHWC"),
}
HISTOGRAMS = {
    "normal": ("torch.randn(1000)", ""),
    "one value": ("torch.full((7,), 2.0)", ""),
    "zeros": ("torch.zeros(3, 4)", ""),
    "whole numbers": ("torch.arange(20)", ""),
    "bools": ("torch.rand(50) > 0.5", ""),
    "bfloat16 that is exact": ("torch.arange(8).to(torch.float32) / 4", ""),
    "huge and tiny": ("torch.tensor([1e-15, -1e-15, 1e18, -1e18, 1e30])", ""),
    "not finite": ("torch.tensor([1.0, 2.0]) / torch.tensor([1.0, 0.0])", ""),
    "of one width": ("torch.randn(500)", ", bins=10"),
    "of one width, one value": ("torch.full((7,), 2.0)", ", bins=4"),
    "edges": ("torch.randn(500)", ", bins=[-1.0, -0.5, 0.0, 2.0]"),
    "edges that values touch": ("torch.tensor([0.0, 1.0, 1.0, 2.0])", ", bins=[0.0, 1.0, 2.0]"),
    "joined": ("torch.randn(500)", ", max_bins=100"),
    "joined, with a rest": ("torch.randn(500)", ", bins=10, max_bins=4"),
}
AT = 1700000000.25


def as_simple(calls: str) -> str:
    calls = re.sub(r"\b(\w+)=(?!=)", r"\1: ", calls)
    calls = calls.replace("True", "true").replace("**bold**", "**bold**")
    return re.sub(r"torch\.(rand|randn|zeros)\(([\d, ]+?)(, dtype[^)]*)?\)", r"torch.\1([\2]\3)", calls)


def run_ours(folder, calls: str, options: str = "", **env) -> subprocess.CompletedProcess[str]:
    program = folder / "program.spl"
    program.write_text(
        "use torch\nuse torch.nn\nuse torch.utils.tensorboard.{SummaryWriter}\n"
        "fn float_of(_name): 1.0 / 0.0\n"
        f"val at = {AT}\ntorch.manual_seed(4)\n"
        f'val w = SummaryWriter("{folder}/ours"{options})\n{as_simple(calls)}\nw.close()\n'
    )
    environment = {**os.environ, **env}
    return subprocess.run([host(), program], capture_output=True, text=True, timeout=60, check=False, env=environment)


def ours(folder, calls: str, options: str = "") -> str:
    done = run_ours(folder, calls, options)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def pythons(folder, calls: str, **options) -> None:
    from torch.utils.tensorboard import SummaryWriter

    torch.manual_seed(4)
    with SummaryWriter(f"{folder}/pythons", **options) as writer:
        exec(calls, {"torch": torch, "w": writer, "at": AT, "float_of": float})


def both(folder, calls: str) -> tuple[dict, dict]:
    ours(folder, calls)
    pythons(folder, calls)
    return reading.values_in(folder / "ours"), reading.values_in(folder / "pythons")


def test_scalar_and_text_events_match_python(tmp_path):
    ours(tmp_path, CALLS)
    pythons(tmp_path, CALLS)
    (mine,), (theirs,) = (reading.files_in(tmp_path / name) for name in ("ours", "pythons"))
    events, expected = reading.events_in(mine), reading.events_in(theirs)
    assert len(events) == 9
    assert [event.SerializeToString() for event in events[1:]] == [event.SerializeToString() for event in expected[1:]]
    assert events[0].file_version == expected[0].file_version == "brain.Event:2"
    assert abs(events[0].wall_time - time.time()) < 120


def test_file_name_is_recognized_by_tensorboard(tmp_path):
    ours(tmp_path, "", options=', filename_suffix: ".mine"')
    (file,) = reading.files_in(tmp_path / "ours")
    host_name = re.escape(socket.gethostname())
    assert re.fullmatch(rf"events\.out\.tfevents\.\d{{10}}\.{host_name}\.\d+\.0\.mine", file.name)


def test_wall_time_defaults_to_now(tmp_path):
    ours(tmp_path, 'w.add_scalar("a", 1)\nw.add_scalar("a", 1, walltime=5.5)')
    (file,) = reading.files_in(tmp_path / "ours")
    first, second = reading.events_in(file)[1:]
    assert abs(first.wall_time - time.time()) < 120
    assert second.wall_time == 5.5


def test_histograms_match_python(tmp_path):
    calls = "".join(
        f'x = {values}\nw.add_histogram("{name}", x, 1, walltime=at{options})\n'
        for name, (values, options) in HISTOGRAMS.items()
    )
    found, expected = both(tmp_path, calls)
    assert list(found) == list(expected) == list(HISTOGRAMS)
    for name in HISTOGRAMS:
        ((_, mine),), ((_, theirs),) = found[name], expected[name]
        assert list(mine.histo.bucket) == list(theirs.histo.bucket), name
        assert list(mine.histo.bucket_limit) == pytest.approx(list(theirs.histo.bucket_limit), rel=1e-15), name
        for moment in ("min", "max", "num"):
            assert getattr(mine.histo, moment) == pytest.approx(getattr(theirs.histo, moment), rel=0, nan_ok=True)
        for moment in ("sum", "sum_squares"):  # summed in another order
            value = getattr(theirs.histo, moment)
            assert getattr(mine.histo, moment) == pytest.approx(value, rel=1e-12, abs=1e-9, nan_ok=True), name


def pixels(value):
    return np.asarray(Image.open(io.BytesIO(value.image.encoded_image_string)))


@pytest.mark.parametrize(("function", "cases"), [("add_image", IMAGES), ("add_images", BATCHES)])
def test_images_match_python(function, cases, tmp_path):
    calls = "".join(
        f'x = {image}\nw.{function}("{name}", x, 1, at, "{letters}")\n' for name, (image, letters) in cases.items()
    )
    found, expected = both(tmp_path, calls)
    assert list(found) == list(expected) == list(cases)
    for name in cases:
        ((_, mine),), ((_, theirs),) = found[name], expected[name]
        sizes = [(value.image.height, value.image.width, value.image.colorspace) for value in (mine, theirs)]
        assert sizes[0] == sizes[1], name
        assert np.array_equal(pixels(mine), pixels(theirs)), name


def test_add_scalars_uses_one_folder_per_curve(tmp_path):
    calls = 'w.add_scalars("a/b", {"x": 1, "y": 2.5}, 3, at)\nw.add_scalars("a/b", {"x": 4}, 4, at)'
    ours(tmp_path, calls)
    pythons(tmp_path, calls)
    folders = {path.name for path in (tmp_path / "pythons").iterdir() if path.is_dir()}
    assert {path.name for path in (tmp_path / "ours").iterdir() if path.is_dir()} == folders == {"a_b_x", "a_b_y"}
    for name in folders:
        found, expected = (reading.values_in(tmp_path / side / name) for side in ("ours", "pythons"))
        assert found == expected


def test_hyperparameters_match_python(tmp_path):
    calls = 'w.add_hparams({"bsize": 32, "lr": 0.1, "shuffle": True, "sort": "sgd"}, {"acc": 0.5, "f1": 0.25}, '
    calls += 'run_name="run", global_step=7)'
    ours(tmp_path, calls)
    pythons(tmp_path, calls)
    found, expected = (reading.values_in(tmp_path / side / "run") for side in ("ours", "pythons"))
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    def reported(values):
        return {
            tag: [(step, value.simple_value, HParamsPluginData.FromString(value.metadata.plugin_data.content))]
            for tag, ((step, value),) in values.items()
        }

    assert len(expected) == 5
    assert reported(found) == reported(expected)
    assert {value.metadata.plugin_data.plugin_name for ((_, value),) in found.values()} == {"hparams", ""}


MODEL = """
class Net(nn.Module):
    fn init():
        self.first = nn.Linear(4, 8)
        self.act = nn.ReLU()
        self.body = nn.Sequential(nn.Linear(8, 8), nn.Tanh())
        self.attention = nn.MultiheadAttention(8, 2)
        self.last = nn.Linear(8, 2)
    fn forward(x):
        val y = self.act(self.first(x))
        val z = y + self.body(y)
        val (attended, _) = self.attention(z, z, z)
        self.last(self.act(attended.flatten(0)).reshape(-1, 8))
val model = Net()
"""


def test_model_is_written_as_a_graph(tmp_path):
    ours(tmp_path, MODEL + "w.add_graph(model, torch.ones([3, 4]))\nassert model.training")
    from tensorboard.plugins.graph import graph_util

    graph = reading.shown(tmp_path / "ours").Graph()
    graph_util.merge_graph_defs([graph])
    nodes = {node.name: node for node in graph.node}
    assert len(nodes) == len(graph.node)
    assert all(source in nodes for node in graph.node for source in node.input)
    assert {name: (node.op, list(node.input)) for name, node in nodes.items()} == {
        "input/0": ("Placeholder", []),
        "Net/first": ("Linear", ["input/0"]),
        "Net/act": ("ReLU", ["Net/first"]),
        "Net/body/0": ("Linear", ["Net/act"]),
        "Net/body/1": ("Tanh", ["Net/body/0"]),
        "Net/attention": ("MultiheadAttention", ["Net/body/1"]),
        "Net/act_1": ("ReLU", ["Net/attention"]),
        "Net/last": ("Linear", ["Net/act_1"]),
        "output/0": ("Output", ["Net/last"]),
    }
    assert nodes["Net/first"].attr["output"].s == b"[3, 8]"
    assert nodes["Net/first"].attr["weight"].s == b"[8, 4]"
    assert nodes["Net/first"].attr["settings"].s == b"in_features=4, out_features=8, bias=True"


def test_without_inputs_a_graph_has_the_innermost_modules(tmp_path):
    ours(tmp_path, "w.add_graph(nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.ReLU())))")
    graph = reading.shown(tmp_path / "ours").Graph()
    assert [(node.name, node.op) for node in graph.node] == [("Sequential/0", "Linear"), ("Sequential/1/0", "ReLU")]


def test_tensorboard_reads_all_kinds(tmp_path):
    calls = 'w.add_histogram("h", torch.randn(10), 1)\nw.add_image("i", torch.rand(3, 4, 5), 2)\n' + CALLS
    ours(tmp_path, calls)
    board = reading.shown(tmp_path / "ours")
    tags = board.Tags()
    assert sorted(tags["scalars"]) == ["a number", "loss/train", "not a number"]
    assert (tags["histograms"], tags["images"]) == (["h", "raw"], ["i"])
    assert sorted(tags["tensors"]) == ["double", "new", "note/text_summary"]
    assert [(event.step, event.value) for event in board.Scalars("loss/train")] == [(3, np.float32(0.1)), (4, 2.5)]


def test_repeated_steps_are_purged(tmp_path):
    calls = 'for step in 0..6: w.add_scalar("loss", step, step)'
    ours(tmp_path, calls)
    pythons(tmp_path, 'for step in range(6): w.add_scalar("loss", step, step)')
    time.sleep(1.1)  # TensorBoard orders files by name, with a resolution of seconds
    ours(tmp_path, 'w.add_scalar("loss", 10, 4)', options=", purge_step: 4")
    pythons(tmp_path, 'w.add_scalar("loss", 10, 4)', purge_step=4)
    found, expected = (
        [(event.step, event.value) for event in reading.shown(tmp_path / side).Scalars("loss")]
        for side in ("ours", "pythons")
    )
    assert found == expected == [(0, 0), (1, 1), (2, 2), (3, 3), (4, 10)]


def test_event_after_close_starts_another_file(tmp_path):
    ours(tmp_path, 'w.add_scalar("a", 1)\nw.close()\nw.add_scalar("a", 2)\nw.flush()')
    files = reading.files_in(tmp_path / "ours")
    assert [len(reading.events_in(file)) for file in files] == [2, 2]


def test_events_are_buffered_until_max_queue_or_flush_secs(tmp_path):
    calls = """
use std.fs as fs
fn reported(folder: text): print fs.size(folder + "/" + fs.list_dir(folder)[0])
for _ in 0..5:
    w.add_scalar("a", 1)
    reported(w.log_dir)
val hurried = SummaryWriter(w.log_dir + "/hurried", flush_secs: 0)
reported(hurried.log_dir)
hurried.add_scalar("a", 1)
reported(hurried.log_dir)
"""
    sizes = [int(line) for line in ours(tmp_path, calls, options=", max_queue: 3").split()]
    empty, full = sizes[0], sizes[2]
    assert sizes == [empty, empty, full, full, full, empty, empty + (full - empty) // 3]
    assert full > empty > 0


def test_default_folder_has_time_and_host_name(tmp_path):
    program = tmp_path / "program.spl"
    program.write_text(
        'use torch.utils.tensorboard.{SummaryWriter}\nwith SummaryWriter(comment: "_lr") as w: print w.get_logdir()\n'
    )
    done = subprocess.run([host(), program], capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    name = done.stdout.strip().removeprefix("runs/")
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [name]
    stamp, _, rest = name.partition(f"_{socket.gethostname()}")
    reported = time.strptime(f"{time.localtime().tm_year} {stamp}", "%Y %b%d_%H-%M-%S")
    assert abs(time.mktime(reported) - time.time()) < 120
    assert rest == "_lr"


REJECTED = {
    'w.add_scalar("a", "text")': "add_scalar(): expected a number or a tensor of one element, got text",
    'w.add_scalar("a", torch.ones([2]))': "add_scalar(): expected a tensor of one element, got shape [2]",
    'w.add_histogram("a", torch.ones([0]))': "add_histogram(): values must not be empty",
    'w.add_histogram("a", [1.0])': "add_histogram(): expected a tensor, got array",
    'w.add_histogram("a", torch.ones([2]), bins: "auto")': 'add_histogram(): bins must be "tensorflow", a positive '
    "number or the edges, got auto",
    'w.add_histogram("a", torch.ones([2]), bins: 100000000)': "add_histogram(): bins must be at most "
    "16777216, got 100000000",
    'w.add_histogram("a", torch.ones([2]), bins: [2.0, 1.0])': "add_histogram(): bins must be at least 2 increasing "
    "edges, got 2",
    'w.add_histogram("a", torch.ones([2]), bins: [2.0, 3.0])': "add_histogram(): no value is in the bins from "
    "2.000000 to 3.000000",
    'w.add_histogram("a", torch.complex(torch.ones([2]), torch.ones([2])))': "add_histogram(): values must be real, "
    "got complex values",
    'w.add_histogram_raw("a", 0, 1, 2, 3, 4, [1.0], [1.0, 2.0])': "1 bucket limits for 2 values",
    'w.add_image("a", torch.ones([2, 3, 3]))': "add_image(): expected an image with 1 or 3 channels, got 2",
    'w.add_image("a", torch.ones([3, 3]))': "add_image(): dataformats CHW has 3 letters, but the "
    "tensor has shape [3, 3]",
    'w.add_image("a", torch.ones([3, 3]), dataformats: "HH")': "add_image(): dataformats must hold H and W once, "
    "and C, or C and N, got HH",
    'w.add_image("a", 1)': "add_image(): expected a tensor, got i64",
    'w.add_text("a", 1)': "add_text(): expected a string, got i64",
    'w.add_graph("a")': "add_graph(): expected a module, got text",
    'w.add_hparams({"a": [1]}, {})': "add_hparams(): expected a number or a tensor of one element, got array",
    'SummaryWriter("x", filename_suffix: "a/b")': "SummaryWriter: filename_suffix must not contain '/', got 'a/b'",
    "SummaryWriter(1)": "SummaryWriter: expected a string, got i64",
}


def test_invalid_values_are_invalid_arguments(tmp_path):
    calls = "".join(
        f"match torch.attempt(\\: {call}):\n    case Err(InvalidArgument(m)): print m\n    case other: print other\n"
        for call in REJECTED
    )
    assert ours(tmp_path, calls).splitlines() == list(REJECTED.values())
    (file,) = reading.files_in(tmp_path / "ours")
    assert len(reading.events_in(file)) == 1


def test_folder_that_cannot_be_created_is_an_io_error(tmp_path):
    (tmp_path / "file").write_text("")
    calls = f"""
match torch.attempt(\\: SummaryWriter("{tmp_path}/file/run")):
    case Err(Io(m)): print m
    case other: print other
"""
    assert ours(tmp_path, calls) == f"SummaryWriter: cannot create directory {tmp_path}/file/run: Not a directory\n"


def test_unavailable_without_libprotobuf(tmp_path):
    built = Path(host()).resolve().parents[1]
    (tmp_path / "bin").mkdir()
    shutil.copy(built / "bin/simple-host", tmp_path / "bin")
    shutil.copytree(built / "lib", tmp_path / "lib", ignore=shutil.ignore_patterns("libsimple_torch_events.so"))
    (tmp_path / "share").symlink_to(built / "share")
    program = tmp_path / "program.spl"
    program.write_text("""
use torch
use torch.utils.tensorboard.{SummaryWriter}
match torch.attempt(\\: SummaryWriter("run")):
    case Err(Unavailable(m)): print m
    case other: print other
""")
    command = [tmp_path / "bin/simple-host", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("TensorBoard events require libprotobuf: ")
    assert done.stdout.endswith("; install it (Debian: libprotobuf-dev, protobuf-compiler), then bin/simple build\n")
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(is_sanitized(), reason="the address sanitizer comes first, and opens no library apart")
def test_another_libprotobuf_in_the_process_is_not_used(tmp_path):
    """TensorFlow's library exports thousands of functions of another version of libprotobuf."""
    tensorflow = importlib.util.find_spec("tensorflow")  # not imported: that takes seconds
    if tensorflow is None:
        pytest.skip("this Python has no TensorFlow")
    folder = os.path.dirname(tensorflow.origin)
    calls = CALLS + 'w.add_hparams({"lr": 0.1}, {"acc": 0.5}, run_name="run")\nw.add_graph(nn.Linear(2, 2))'
    done = run_ours(
        tmp_path,
        calls,
        LD_PRELOAD=f"{folder}/libtensorflow_framework.so.2",
        LD_LIBRARY_PATH=folder,
        LD_DEBUG="bindings",
        LD_DEBUG_OUTPUT=str(tmp_path / "bindings"),
    )
    assert done.returncode == 0, done.stderr
    assert len(reading.values_in(tmp_path / "ours")) == 7
    assert len(reading.values_in(tmp_path / "ours" / "run")) == 4
    (log,) = tmp_path.glob("bindings.*")
    user = r"binding file \S*/lib(?:simple_torch_events|protobuf-lite)\.so\S*"
    targets = re.findall(user + r" \[0\] to (\S+) \[0\]: .*google8protobuf", log.read_text())
    assert len(targets) > 100
    assert {os.path.basename(target).split(".so")[0] for target in targets} == {"libprotobuf-lite"}
