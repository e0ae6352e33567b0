"""torch.jit: Simple runs files of Python and traces its own modules; each side reads the other's files."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
torch = pytest.importorskip("torch")
sys.path.insert(0, str(ROOT / "python"))
import simple_torch  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")

HOST = os.environ.get("SIMPLE_HOST", str(ROOT / "build" / "release" / "bin" / "simple-host"))
OURS = simple_torch.run(
    """
    use torch
    use torch.nn
    use torch.nn.parameter.{Parameter}
    use std.host.{rt_is_same}

    fn load(path, where = nil): torch.jit.load(path, where)
    fn call(path, args): torch.jit.load(path)(*args)
    fn method(path, name, args): torch.jit.load(path).__invoke__(name, args, {})
    fn named(path, x): torch.jit.load(path)(x, scale: 3)
    fn attribute(path, name): getattr(torch.jit.load(path), name)
    fn error(path, args) -> text: attempt(\\: torch.jit.load(path)(*args)).unwrap_err().message.to_string()
    fn kind_of_error(path, where = nil):
        match torch.attempt(\\: torch.jit.load(path, where)):
            case Ok(_): "none"
            case Err(Io(message)): "Io: {message}"
            case Err(error): "{error}"
    fn set_hidden(path, value):
        val model = torch.jit.load(path)
        model.hidden = value
        model.hidden
    fn error_of_assignment(path) -> text:
        val model = torch.jit.load(path)
        attempt(\\: set_on(model)).unwrap_err().message.to_string()
    fn set_on(model): model.hidden = "three"
    fn parts(path):
        val model = torch.jit.load(path)
        [model.state_dict().keys(), model.parameters().len(), "{model}", model.fc.weight is Parameter]
    fn tied(path):
        val model = torch.jit.load(path)
        [model.parameters().len(), rt_is_same([model.parameters()[0], model.first.weight])]
    fn modes(path):
        val model = torch.jit.load(path)
        val before = model.training
        model.eval()
        val middle = [model.training, model.drop.training, model(torch.ones([4])).sum().item()]
        model.train()
        [before, middle, model.drop.training]
    fn doubled(path, x): torch.jit.load(path).double()(x)
    fn gradients(path, x):
        val model = torch.jit.load(path)
        model(x).sum().backward()
        model.parameters().map(\\p: p.grad())
    fn loaded(path, state, x):
        val model = torch.jit.load(path)
        model.load_state_dict(state)
        model(x)
    fn again(path, to): torch.jit.save(torch.jit.load(path), to)
    fn copied(path):
        val model = torch.jit.load(path)
        val copy = model.deepcopy()
        copy.fc.weight.fill_(0.0)
        model.fc.weight.abs().sum().item() > 0.0
    fn frozen(path, x):
        val model = torch.jit.freeze(torch.jit.load(path).eval())
        [model(x), model.parameters().len(), model.state_dict().keys()]
    fn frozen_with(path, name): torch.jit.freeze(torch.jit.load(path).eval(), preserved_attrs: [name])
    fn optimized(path, x): torch.jit.optimize_for_inference(torch.jit.load(path))(x)
    fn error_of(name, path) -> text:
        attempt(\\: (match name:
            case "freeze": torch.jit.freeze(torch.jit.load(path).train())
            case "freeze_native": torch.jit.freeze(nn.Linear(1, 1))
            case "save_native": torch.jit.save(nn.Linear(1, 1), path)
            case "script": torch.jit.script(nn.Linear(1, 1))
            case "method": torch.jit.load(path).nothing(1)
            case "code": torch.jit.load(path).code("nothing")
            case "folder": torch.jit.load(path).save("/nowhere/model.pt")
        )).unwrap_err().message.to_string()
    fn source(path): torch.jit.load(path).code()
    fn graph(path): torch.jit.load(path).inlined_graph()
    fn schema(path): torch.jit.load(path).schema()
    fn live(path):
        val before = torch.live_handles()
        used(path)
        torch.live_handles() - before
    fn used(path):
        val model = torch.jit.load(path)
        torch.jit.trace(nn.Linear(3, 2), torch.ones([1, 3]))(torch.ones([2, 3]))
        model.parameters().len()

    # ---- traces
    class Blocks(nn.Module):
        layers: any = nil
        scale: any = nil
        fn init():
            self.layers = [nn.Linear(3, 4), nn.Linear(4, 2)]
            self.scale = nn.Parameter(torch.full([2], 0.7))
            self.register_buffer("offset", torch.full([2], 0.5))
        fn forward(x):
            var y = x
            for layer in self.layers: y = layer(y).relu()
            y * self.scale + self.offset

    class Pairs(nn.Module):
        fn forward(a, pair, named): (a + pair[0], pair[1] * named["factor"])

    fn conv():
        nn.Sequential(nn.Conv2d(1, 4, 3, padding: 1), nn.BatchNorm2d(4), nn.GELU(), nn.MaxPool2d(2), nn.Flatten(),
            nn.LayerNorm([64]), nn.Linear(64, 5))
    fn transformer(): nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first: true), 2)
    fn recurrent(): nn.LSTM(3, 5, batch_first: true)
    fn made(name):
        torch.manual_seed(4)
        match name:
            case "blocks": Blocks()
            case "conv": conv()
            case "transformer": transformer()
            case "recurrent": recurrent()
            case "pairs": Pairs()
            case "embedding": nn.Sequential(nn.Embedding(10, 4), nn.Linear(4, 2), nn.Softmax(dim: -1))
    fn traced(name, path, inputs, others):
        val net = made(name).eval()
        net.to_torchscript(path, *inputs)
        net(*others)
    val WEIGHT = torch.ones([3], requires_grad: true)
    fn trace_error(name, x) -> text:
        attempt(\\: (match name:
            case "item": torch.jit.trace(\\a: if a.sum().item() > 0.0: a else: -a, x)
            case "tolist": torch.jit.trace(\\a: a * a.tolist()[0][0], x)
            case "equal": torch.jit.trace(\\a: if torch.equal(a, a): a else: -a, x)
            case "dropout": torch.jit.trace(nn.Dropout(0.5), x)
            case "number": torch.jit.trace(\\a: a, 3)
            case "none": nn.Linear(3, 2).to_torchscript("m.pt")
            case "no file": nn.Linear(3, 2).to_torchscript(x)
            case "text": torch.jit.trace(\\a: \\: a, x)
            case "dict": torch.jit.trace(\\a: {"y": a}, x)
            case "grad": torch.jit.trace(\\a: a * WEIGHT, x)
            case "size": torch.jit.trace(\\a: a.reshape([a.shape[0] * 3]), x, check_inputs: [[torch.ones([2, 3])]])
            case "lazy": torch.jit.trace(nn.LazyLinear(2), x)
            case "nested": torch.jit.trace(\\a: torch.jit.trace(\\b: b, a)(a), x)
            case "panic": torch.jit.trace(\\a: a @ torch.ones([2]), x)
        )).unwrap_err().message.to_string()
    fn usual_after_an_error(x):
        attempt(\\: torch.jit.trace(\\a: a.item(), x))
        [torch.jit.is_tracing(), x.sum().item()]
    fn tracing_inside(x):
        torch.jit.trace(\\a: recorded(a), x, check_trace: false)
        was_tracing
    var was_tracing = false
    fn recorded(a):
        was_tracing = torch.jit.is_tracing()
        a * 2.0
    fn dict_output(x): torch.jit.trace(\\a: {"y": a * 2.0}, x, strict: false)(x)["y"]
    """
)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(3, 2)
        self.register_buffer("offset", torch.full((2,), 0.25))
        self.hidden = 7

    def forward(self, x: torch.Tensor, scale: int = 2) -> torch.Tensor:
        return self.fc(x) * scale + self.offset

    @torch.jit.export
    def twice(self, x: torch.Tensor) -> torch.Tensor:
        return x + x


class Named(NamedTuple):
    low: torch.Tensor
    count: int


class Kinds(torch.nn.Module):
    def forward(
        self,
        items: list[torch.Tensor],
        table: dict[str, torch.Tensor],
        pair: tuple[int, float],
        name: str,
        size: float,
        maybe: torch.Tensor | None = None,
    ) -> tuple[list[torch.Tensor], dict[str, torch.Tensor], tuple[int, float], str, float, torch.Tensor | None]:
        return items, table, pair, name + "!", size * 2, maybe


class NamedResult(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> Named:
        return Named(x.min(), x.numel())


class Modes(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = torch.nn.Dropout(0.9)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.drop(x)


class Tied(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(2, 2, bias=False)
        self.second = self.first

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(x))


class Raises(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.numel() > 2:
            raise ValueError("too many")
        return x


@pytest.fixture
def saved(tmp_path):
    """Saves a scripted module and returns the path."""

    def save(module, name="model.pt"):
        torch.manual_seed(1)
        path = str(tmp_path / name)
        torch.jit.script(module).save(path)
        return path

    return save


@pytest.fixture
def net():
    torch.manual_seed(0)
    return Net()


def test_a_scripted_module_computes_what_it_does_in_python(net, saved):
    x = torch.randn(4, 3)
    path = saved(net)
    assert torch.equal(OURS.call(path, [x]), net(x))
    assert torch.equal(OURS.named(path, x), net(x, scale=3))
    assert torch.equal(OURS.method(path, "twice", [x]), x + x)


def test_arguments_and_results_of_all_kinds(saved):
    path = saved(Kinds())
    items, table, pair, name, size, maybe = OURS.call(
        path, [[torch.ones(2), torch.zeros(1)], {"a": torch.ones(3)}, (3, 1.5), "é", 2]
    )
    assert [each.shape[0] for each in items] == [2, 1]
    assert table["a"].tolist() == [1, 1, 1]
    assert (tuple(pair), name, size, maybe) == ((3, 1.5), "é!", 4.0, None)
    low, count = OURS.call(saved(NamedResult()), [torch.tensor([3.0, 2.0])])
    assert (low.item(), count) == (2.0, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "forward() is missing value for argument 'x'"),
        ([1], "forward() Expected a value of type 'Tensor' for argument 'x' but instead found type 'int'"),
        ([torch.ones(1, 3), 2, 3], "forward() expected at most 2 argument(s) but received 3 argument(s)"),
        ([torch.ones(1, 3), "2"], "Expected a value of type 'int' for argument 'scale' but instead found type 'str'"),
        ([[torch.ones(1), 2]], "Expected a value of type 'Tensor' for argument 'x' but instead found type"),
        ([torch.ones(1, 2)], "mat1 and mat2 shapes cannot be multiplied"),
    ],
)
def test_wrong_arguments_are_errors_with_the_declaration(net, saved, arguments, message):
    assert message in OURS.error(saved(net), arguments)


def test_an_exception_of_the_module_has_its_message(saved):
    assert "too many" in OURS.error(saved(Raises()), [torch.ones(3)])


def test_members_are_those_of_a_module(net, saved):
    path = saved(net)
    keys, count, text, is_parameter = OURS.parts(path)
    assert keys == list(torch.jit.load(path).state_dict())
    assert count == 2
    assert text == repr(torch.jit.load(path))
    assert is_parameter
    assert OURS.attribute(path, "hidden") == 7
    assert OURS.set_hidden(path, 9) == 9
    assert "Expected a value of type 'int' for attribute 'hidden'" in OURS.error_of_assignment(path)
    assert OURS.tied(saved(Tied(), "tied.pt")) == [1, True]


def test_modes_state_dtype_and_gradients(net, saved):
    assert OURS.modes(saved(Modes(), "modes.pt")) == [True, [False, False, 4.0], True]
    path = saved(net)
    x = torch.randn(4, 3)
    assert OURS.doubled(path, x.double()).dtype == torch.float64
    net(x).sum().backward()
    ours = OURS.gradients(path, x)
    assert all(torch.equal(mine, each.grad) for mine, each in zip(ours, net.parameters(), strict=True))
    other = Net()
    assert torch.equal(OURS.loaded(path, other.state_dict(), x), other(x))
    assert OURS.copied(path)


def test_all_handles_are_released(net, saved):
    path = saved(net)
    OURS.live(path)  # the first use may load modules
    assert OURS.live(path) == 0


def test_python_loads_what_simple_saves(net, saved, tmp_path):
    to = str(tmp_path / "again.pt")
    OURS.again(saved(net), to)
    x = torch.randn(2, 3)
    assert torch.equal(torch.jit.load(to)(x), net(x))
    assert torch.equal(torch.jit.load(to).twice(x), x + x)


def test_frozen_and_optimized_modules(net, saved):
    net.eval()
    x = torch.randn(4, 3)
    path = saved(net)
    output, count, keys = OURS.frozen(path, x)
    assert torch.allclose(output, net(x))
    assert (count, keys) == (0, [])
    assert torch.allclose(OURS.optimized(path, x), net(x), atol=1e-6)
    assert OURS.frozen_with(path, "hidden").hidden == 7
    assert "Please call .eval()" in OURS.error_of("freeze", path)


def test_source_and_graph_are_pythons(net, saved):
    path = saved(net)
    loaded = torch.jit.load(path)
    assert OURS.source(path) == loaded.code
    assert OURS.schema(path) == str(loaded.forward.schema)
    assert OURS.graph(path).count("aten::linear") == str(loaded.inlined_graph).count("aten::linear") == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("freeze_native", "torch.jit.freeze(): expected a ScriptModule, got a Linear"),
        ("save_native", "torch.jit.save(): expected a ScriptModule, got a Linear"),
        ("script", "torch.jit.script() compiles Python's source"),
        ("method", "has no attribute 'nothing'"),
        ("code", "has no method 'nothing'; it has: "),
        ("folder", "/nowhere/model.pt"),
    ],
)
def test_what_cannot_be_done_is_an_error(net, saved, name, message):
    assert message in OURS.error_of(name, saved(net))


def test_files_that_are_not_torchscript(net, tmp_path, saved):
    state, text = tmp_path / "state.pt", tmp_path / "text.pt"
    torch.save(net.state_dict(), state)
    text.write_text("hello")
    assert "it is not a file of torch.jit.save" in OURS.kind_of_error(str(state))
    assert OURS.kind_of_error(str(text)).startswith(f"Io: {text} cannot be read: it is too small")
    assert "No such file or directory" in OURS.kind_of_error(str(tmp_path / "nothing.pt"))
    assert "nowhere" in OURS.kind_of_error(saved(net), "nowhere")


# ---- traces

INPUTS = {
    "blocks": [torch.ones(5, 3)],
    "conv": [torch.ones(2, 1, 8, 8)],
    "transformer": [torch.ones(2, 5, 8)],
    "recurrent": [torch.ones(2, 6, 3)],
    "embedding": [torch.arange(6).reshape(2, 3)],
    "pairs": [torch.ones(3), (torch.ones(3), torch.ones(2)), {"factor": torch.ones(2)}],
}
OTHERS = {
    "blocks": [torch.randn(2, 3)],
    "conv": [torch.randn(7, 1, 8, 8)],
    "transformer": [torch.randn(2, 5, 8)],
    "recurrent": [torch.randn(2, 6, 3)],
    "embedding": [torch.arange(4).reshape(1, 4)],
    "pairs": [torch.randn(3), (torch.randn(3), torch.randn(2)), {"factor": torch.randn(2)}],
}


def tensors_in(value) -> list:
    return [value] if torch.is_tensor(value) else [each for item in value for each in tensors_in(item)]


@pytest.mark.parametrize("name", INPUTS)
def test_python_runs_a_traced_module(name, tmp_path):
    path = str(tmp_path / "traced.pt")
    ours = tensors_in(OURS.traced(name, path, INPUTS[name], OTHERS[name]))
    theirs = tensors_in(torch.jit.load(path)(*OTHERS[name]))
    assert len(ours) == len(theirs)
    assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(ours, theirs, strict=True))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("item", "item() reads values of a tensor"),
        ("tolist", "tolist() reads values of a tensor"),
        ("equal", "equal() reads values of a tensor"),
        ("dropout", "does not agree with the module for example_inputs"),
        ("number", "example inputs must be tensors, or arrays, tuples and dicts of them, got int"),
        ("none", "to_torchscript: a trace needs example inputs: to_torchscript('m.pt', x)"),
        ("no file", "to_torchscript: expected a string, got"),
        ("text", "torch.jit.trace: cannot return a function"),
        ("dict", "Encountering a dict at the output of the tracer"),
        ("grad", "uses a tensor that requires grad"),
        ("size", "does not agree with the module for check_inputs[0]"),
        ("lazy", "'weight' has no values yet"),
        ("nested", "Tracing can't be nested"),
        ("panic", "size mismatch, got input (5), mat (5x3), vec (2)"),
    ],
)
def test_what_cannot_be_traced_is_an_error(name, message):
    assert message in OURS.trace_error(name, torch.rand(5, 3) + 1)


def test_a_failed_trace_leaves_the_thread_as_it_was():
    assert OURS.usual_after_an_error(torch.ones(3)) == [False, 3.0]
    assert OURS.tracing_inside(torch.ones(3))
    assert OURS.dict_output(torch.ones(2)).tolist() == [2, 2]


# ---- packaged models and corrupt files


def test_silero_detects_speech_as_in_python():
    """Its packaged file has two networks, branches on numbers, attributes that are tensors, and state."""
    pytest.importorskip("silero_vad")
    path = str(resources.files("silero_vad") / "data" / "silero_vad.jit")
    time = torch.arange(16000 * 2) / 16000
    # A buzz with formants and a changing loudness, then silence.
    sound = sum(torch.sin(2 * torch.pi * 120 * k * time) / k for k in range(1, 30)) * torch.sin(6 * time).abs() * 0.2
    sound[16000:] = 0
    theirs = torch.jit.load(path)
    ours = OURS.load(path)
    theirs.reset_states()
    ours.reset_states()
    with torch.no_grad():
        for start in range(0, 16000 * 2 - 512, 512):
            part = sound[start : start + 512].reshape(1, 512)
            assert torch.equal(ours(part, 16000), theirs(part, 16000))


PROGRAM = """
use torch
use std.fs
use std.process
fn main():
    val folder = process.args()[0]
    for name in fs.list_dir(folder):
        match torch.attempt(\\: torch.jit.load("{folder}/{name}")(torch.ones([4, 3]))):
            case Ok(value): print "{name} value {value.sum().item()}"
            case Err(error): print "{name} error {error.message().replace("\\n", " ")}"
"""


def corrupted(content: bytes, count: int) -> list[bytes]:
    random.seed(0)
    cuts = [content[: random.randrange(len(content))] for _ in range(count // 10)]
    flips = []
    for _ in range(count):
        changed = bytearray(content)
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
        flips.append(bytes(changed))
    return cuts + flips


def test_a_corrupt_file_is_an_error_or_the_right_answer(net, saved, tmp_path):
    path = saved(net.eval())
    right = net(torch.ones(4, 3)).sum().item()
    folder = tmp_path / "corrupt"
    folder.mkdir()
    count = 10_000 if os.environ.get("SIMPLE_LONG_TESTS") else 200
    for i, content in enumerate(corrupted(Path(path).read_bytes(), count)):
        (folder / f"{i}.pt").write_bytes(content)
    program = tmp_path / "load.spl"
    program.write_text(PROGRAM)
    done = subprocess.run([HOST, program, folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = done.stdout.splitlines()
    assert len(lines) == count + count // 10
    values = [float(line.split(" value ")[1]) for line in lines if " value " in line]
    assert all(value == pytest.approx(right, abs=1e-5) for value in values)
    assert sum(" error " in line for line in lines) > count / 4


def peak_of_loading(path: str, program: Path) -> int:
    """The maximum of resident memory, in bytes."""
    program.write_text(f'use torch\nfn main(): print torch.jit.load("{path}").training')
    with subprocess.Popen([HOST, program], stdout=subprocess.PIPE) as process:
        assert process.stdout.read() == b"false\n"
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss * 1024


def test_loading_needs_at_most_twice_the_files_memory(saved, tmp_path):
    small = saved(torch.nn.Linear(8, 8).eval(), "small.pt")
    large = saved(torch.nn.Linear(4096, 4096).eval(), "large.pt")
    more = peak_of_loading(large, tmp_path / "a.spl") - peak_of_loading(small, tmp_path / "b.spl")
    assert more < 2 * Path(large).stat().st_size
