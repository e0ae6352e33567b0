"""`simple model info` prints what a file holds without running it; `simple model convert` keeps every value."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
torch = pytest.importorskip("torch")
numpy = pytest.importorskip("numpy")
sys.path.insert(0, str(ROOT / "python"))
from simple_torch_helpers.model_files import ModelFileError, info  # noqa: E402

HOST = os.environ.get("SIMPLE_HOST", str(ROOT / "build" / "release" / "bin" / "simple-host"))
COMMAND = ROOT / "simple" / "model_files" / "command.spl"
LONG = bool(os.environ.get("SIMPLE_LONG_TESTS"))
ALLOWED = 64 << 20  # bytes that reading damaged files may need, next to twice the file

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(3, 2)

    def forward(self, x: torch.Tensor, scale: int = 2) -> torch.Tensor:
        return self.fc(x).relu() * scale


class Runs:
    """Unpickled by pickle, it makes a folder."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def make(kind: str, folder: Path) -> str:
    torch.manual_seed(0)
    path = str(folder / f"file.{kind}")
    net = Net().eval()
    match kind:
        case "pt":
            torch.save({"epoch": 3, "state_dict": net.state_dict(), "names": ["a", "b"]}, path)
        case "legacy.pt":
            torch.save(net.state_dict(), path, _use_new_zipfile_serialization=False)
        case "jit.pt":
            torch.jit.script(net).save(path, _extra_files={"labels.txt": "cat"})
        case "pt2":
            torch.export.save(torch.export.export(net, (torch.ones(4, 3),)), path)
        case "safetensors":
            save_file = pytest.importorskip("safetensors.torch").save_file
            save_file({"w": torch.ones(2, 3, dtype=torch.bfloat16)}, path, metadata={"license": "MIT"})
        case "onnx":
            make_onnx(path)
        case "npy":
            numpy.save(path, numpy.zeros((2, 3), "float32"))
        case "npz":
            numpy.savez(path, x=numpy.zeros((2, 3), "float32"), y=numpy.arange(3))
        case "pte":
            make_executorch(path)
    return path


def make_onnx(path: str) -> None:
    onnx = pytest.importorskip("onnx")
    weight = onnx.numpy_helper.from_array(numpy.ones((3, 2), "float32"), "w")
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("MatMul", ["x", "w"], ["y"])],
        "graph",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["batch", 3])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["batch", 2])],
        [weight],
    )
    model = onnx.helper.make_model(graph, producer_name="tests", producer_version="1")
    onnx.helper.set_model_props(model, {"license": "MIT"})
    onnx.save(model, path)


def make_executorch(path: str) -> None:
    exir = pytest.importorskip("executorch.exir")
    program = exir.to_edge(torch.export.export(Net().eval(), (torch.ones(4, 3),))).to_executorch()
    Path(path).write_bytes(program.buffer)


EXPECTED = {
    "pt": (
        "torch.save",
        {"state_dict.fc.weight": ("float32", [2, 3]), "state_dict.fc.bias": ("float32", [2])},
        {"other values": "epoch = 3, names.0 = 'a', names.1 = 'b'", "storages": "2, 32 bytes"},
    ),
    "legacy.pt": ("torch.save before PyTorch 1.6", {"fc.weight": ("float32", [2, 3]), "fc.bias": ("float32", [2])}, {}),
    "jit.pt": (
        "TorchScript",
        {"fc.weight": ("float32", [2, 3]), "fc.bias": ("float32", [2])},
        {"method forward": "(x: Tensor, scale: int=2) -> Tensor", "extra files": "labels.txt"},
    ),
    "pt2": (
        ".pt2",
        {"fc.weight": ("float32", [2, 3]), "fc.bias": ("float32", [2])},
        {"input": "x: float32 [4, 3]"},
    ),
    "safetensors": ("safetensors", {"w": ("bfloat16", [2, 3])}, {"metadata license": "MIT"}),
    "onnx": (
        "ONNX",
        {"w": ("float32", [3, 2])},
        {"input": "x: float32 [batch, 3]", "output": "y: float32 [batch, 2]", "metadata license": "MIT"},
    ),
    "npy": (".npy", {"array": ("float32", [2, 3])}, {}),
    "npz": (".npz", {"x": ("float32", [2, 3]), "y": ("int64", [3])}, {}),
    "pte": (".pte", {}, {"method": "forward", "input": "float32 [4, 3]", "output": "float32 [4, 2]"}),
}


@pytest.mark.parametrize("kind", EXPECTED)
def test_info_lists_what_the_writer_put_into_the_file(kind, tmp_path):
    name, _, facts, rows = info(make(kind, tmp_path))
    expected_name, tensors, expected_facts = EXPECTED[kind]
    assert name == expected_name
    found = {each: (dtype, shape) for each, dtype, shape in rows}
    assert tensors.items() <= found.items()
    assert kind == "pte" or len(found) == len(tensors)
    assert expected_facts.items() <= dict(facts).items()


def test_inputs_of_onnx_without_sizes_have_none(tmp_path):
    """A size may be unset, and so may the shape; a sequence has neither."""
    onnx = pytest.importorskip("onnx")
    float32, helper, path = onnx.TensorProto.FLOAT, onnx.helper, tmp_path / "file.onnx"
    nodes = [helper.make_node("Identity", [f"x{i}"], [f"y{i}"]) for i in range(4)]
    inputs = [helper.make_tensor_value_info(f"x{i}", float32, sizes) for i, sizes in enumerate(([None, 3], None, []))]
    inputs.append(helper.make_tensor_sequence_value_info("x3", float32, None))
    outputs = [helper.make_tensor_value_info(f"y{i}", float32, None) for i in range(4)]
    onnx.save(helper.make_model(helper.make_graph(nodes, "graph", inputs, outputs)), path)
    found = [value for name, value in info(str(path))[2] if name == "input"]
    assert found == ["x0: float32 [dynamic, 3]", "x1: float32, any shape", "x2: float32 []", "x3: sequence"]


def test_weights_in_subgraphs_and_constants_of_onnx_are_listed(tmp_path):
    """Silero's packaged file has all its weights as constants in the two branches of an If."""
    silero = pytest.importorskip("silero_vad")
    _, _, facts, rows = info(str(Path(silero.__file__).parent / "data" / "silero_vad.onnx"))
    names = [name for name, _, _ in rows]
    for branch in ("then", "else"):
        assert any(f"{branch}_branch" in name and name.endswith("decoder.rnn.weight_ih") for name in names)
    assert dict(facts)["operators"].startswith("5, and ")


class Short(torch.nn.Module):
    def forward(s, x: torch.Tensor):
        return {"a": x * 2}


def test_methods_of_torchscript_are_listed_whatever_self_is_called(tmp_path):
    torch.jit.script(Short()).save(str(tmp_path / "short.pt"))
    assert dict(info(str(tmp_path / "short.pt"))[2])["method forward"] == "(x: Tensor) -> Dict[str, Tensor]"


def test_sparse_tensors_are_listed_and_others_are_named(tmp_path):
    dense = torch.tensor([[0.0, 1.0, 0.0], [2.0, 0.0, 3.0]])
    values = {"coo": dense.to_sparse(), "csr": dense.to_sparse_csr(), "jagged": torch.nested.nested_tensor([dense[0]])}
    torch.save(values, tmp_path / "sparse.pt")
    _, _, facts, rows = info(str(tmp_path / "sparse.pt"))
    assert rows == [["coo", "sparse_coo float32", [2, 3]], ["csr", "sparse_csr float32", [2, 3]]]
    assert dict(facts)["other values"] == "jagged: _rebuild_nested_tensor, which is not read"


def test_no_class_and_no_function_of_a_pickle_runs(tmp_path):
    made, path = tmp_path / "made", tmp_path / "file.pt"
    torch.save({"weight": torch.ones(2), "code": Runs(made)}, path)
    _, _, facts, rows = info(str(path))
    assert dict(facts)["classes of Python"] == "posix.mkdir"
    assert rows == [["weight", "float32", [2]]]
    assert not made.exists()


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x05\x06" + b"\0" * 18, b"\x80\x04K\x01", b"\x08\x07"])
def test_a_file_of_no_known_format_is_an_error(content, tmp_path):
    path = tmp_path / "file.bin"
    path.write_bytes(content)
    with pytest.raises(ModelFileError):
        info(str(path))


def test_a_pickle_cannot_ask_for_more_memory_than_it_has(tmp_path):
    for name, content in {
        "memo": b"\x80\x04N\x72\xff\xff\xff\xfe.",
        "bytes": b"\x80\x05\x8e" + (1 << 40).to_bytes(8, "little") + b".",
        "bytearray": b"\x80\x05\x96" + (1 << 40).to_bytes(8, "little") + b".",
    }.items():
        path = tmp_path / f"{name}.pkl"
        path.write_bytes(content)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with contextlib.suppress(ModelFileError):
            info(str(path))
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


@pytest.mark.parametrize("kind", EXPECTED)
def test_a_corrupt_file_is_an_error_or_an_answer(kind, tmp_path):
    """Each cut and each flip returns or raises ModelFileError, and needs little memory."""
    path = make(kind, tmp_path)
    content = Path(path).read_bytes()
    info(path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    random.seed(1)
    path = tmp_path / f"corrupt.{kind}"
    for i in range(11_000 if LONG else 220):
        changed = bytearray(content)
        if i % 11 == 0:
            del changed[random.randrange(len(content)) :]
        else:
            changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
        path.write_bytes(changed)
        try:
            info(str(path))
        except ModelFileError as error:
            assert str(error)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 < before + 2 * len(content) + ALLOWED


# ---- the command


def run(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run([HOST, COMMAND, *words], capture_output=True, text=True, check=False)


def test_the_command_prints_a_table(tmp_path):
    path = make("jit.pt", tmp_path)
    done = run("info", path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"{path}: TorchScript, PyTorch, archive version ")
    assert "  method forward  (x: Tensor, scale: int=2) -> Tensor" in lines
    assert lines[-3:] == ["tensors: 2, 8 elements", "  fc.weight  float32  [2, 3]", "  fc.bias    float32  [2]"]


VALUES = {
    "fc.weight": torch.arange(6, dtype=torch.float32).reshape(2, 3),
    "half": torch.ones(2, dtype=torch.float16),
    "count": torch.tensor(5),
    "turned": torch.arange(6).reshape(2, 3).t(),
}


def read(path: str) -> dict:
    if path.endswith(".npz"):
        return {name: torch.from_numpy(array) for name, array in numpy.load(path).items()}
    if path.endswith(".safetensors"):
        return pytest.importorskip("safetensors.torch").load_file(path)
    return torch.load(path)


@pytest.mark.parametrize("ending", ["pt", "safetensors", "npz"])
def test_converted_values_are_the_same(ending, tmp_path):
    source, target, back = (str(tmp_path / name) for name in ("a.pt", f"b.{ending}", "c.pth"))
    tied = VALUES["fc.weight"]
    torch.save({**VALUES, "tied": tied}, source)
    for words in ((source, target), (target, back)):
        done = run("convert", *words)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(f"{words[1]}: 5 tensors, ")
        found = read(words[1])
        assert all(
            torch.equal(found[name], value) and found[name].dtype == value.dtype for name, value in VALUES.items()
        )
        assert torch.equal(found["tied"], tied)


def test_metadata_of_safetensors_is_kept_or_named(tmp_path):
    from safetensors import safe_open
    from safetensors.torch import save_file

    source, target = str(tmp_path / "a.safetensors"), str(tmp_path / "b.safetensors")
    save_file({"w": torch.ones(2)}, source, metadata={"license": "MIT", "format": "pt"})
    for chosen in (target, source):
        assert run("convert", source, chosen).returncode == 0
        with safe_open(chosen, "pt") as file:
            assert file.metadata() == {"license": "MIT", "format": "pt"}
    done = run("convert", source, str(tmp_path / "b.npz"))
    assert done.returncode == 0
    assert done.stderr == "warning: convert: a .npz file holds no metadata; left out: license\n"


def test_an_entry_of_a_checkpoint_is_converted(tmp_path):
    source, target = make("pt", tmp_path), str(tmp_path / "b.safetensors")
    done = run("convert", source, target, "--key", "state_dict")
    assert done.returncode == 0, done.stderr
    assert set(read(target)) == {"fc.bias", "fc.weight"}
    done = run("convert", source, target)
    assert "'epoch' of" in done.stderr and "--key NAME selects an entry" in done.stderr
    assert "has no entry 'nothing'" in run("convert", source, target, "--key", "nothing").stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a.pt", "b.onnx"], "cannot write 'b.onnx'; it converts .pt, .pth, .bin, .safetensors and .npz. For .onnx"),
        (["a.pte", "b.pt"], "cannot read 'a.pte'"),
        (["missing.pt", "b.pt"], "'missing.pt' does not exist"),
    ],
)
def test_what_cannot_be_converted_is_rejected_by_name(words, message):
    done = run("convert", *words)
    assert done.returncode == 1
    assert message in done.stderr


def test_other_contents_are_rejected_by_name(tmp_path):
    script = make("jit.pt", tmp_path)
    assert "is TorchScript, whose loading runs its code" in run("convert", script, str(tmp_path / "b.npz")).stderr
    torch.save([torch.ones(1)], tmp_path / "list.pt")
    assert "holds a array" in run("convert", str(tmp_path / "list.pt"), str(tmp_path / "b.npz")).stderr
    torch.save({"w": torch.ones(1, dtype=torch.bfloat16)}, tmp_path / "half.pt")
    torch.save({1: torch.ones(2), "1": torch.zeros(3)}, tmp_path / "keys.pt")
    assert "the key 1 of '" in run("convert", str(tmp_path / "keys.pt"), str(tmp_path / "b.safetensors")).stderr
    torch.save({"w": torch.eye(3).to_sparse()}, tmp_path / "sparse.pt")
    done = run("convert", str(tmp_path / "sparse.pt"), str(tmp_path / "b.safetensors"))
    assert "'w' of" in done.stderr and "has the layout torch.sparse_coo" in done.stderr
    assert "NumPy has no dtype" in run("convert", str(tmp_path / "half.pt"), str(tmp_path / "b.npz")).stderr
    assert "info FILE" in run("--help").stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["nothing"], "expected info FILE or convert FROM TO"),
        (["info"], "expected info FILE or convert FROM TO"),
        (["convert", "a.pt"], "convert: expected FROM and TO"),
    ],
)
def test_wrong_usage_is_2(words, expected):
    done = run(*words)
    assert done.stderr == f"simple model: {expected}; `simple model --help` lists the options\n"
    assert done.returncode == 2
