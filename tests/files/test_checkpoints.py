"""torch.save and torch.load of Simple and of Python: each reads the other's files; code in a file is not executed."""

from __future__ import annotations

import os
import pickle
import random
import resource
import signal
import sys
import zipfile
from collections import OrderedDict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
torch = pytest.importorskip("torch")
sys.path.insert(0, str(ROOT / "python"))
import simple_torch  # noqa: E402

DTYPES = [
    *(torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8),
    *(torch.uint8, torch.bool, torch.complex64, torch.complex128, torch.uint16, torch.float8_e5m2),
]
SIMPLE = simple_torch.run(
    """
    use torch
    use torch.nn
    fn save(value, path): torch.save(value, path)
    fn load(path, where = nil): torch.load(path, where)
    fn kind(path): type_of(torch.load(path))
    fn names(path): torch.load(path).keys()
    fn made(path):
        val x = torch.arange(6)
        torch.save({"whole": x, "part": x[2:], "rows": (nn.Parameter(torch.ones([2])),
            [nil, true, -3, 5000000000, 1.5, "é"]),
            "dtype": torch.bfloat16, 7: torch.ones([2, 3]).t(), "frozen": nn.Parameter(torch.ones([1]), false)}, path)
    fn model(path):
        torch.manual_seed(3)
        val net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
        torch.save(net.state_dict(), path)
    fn loaded_into(path, x):
        val net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
        net.load_state_dict(torch.load(path))
        net(x)
    async fn save_often(path, k):
        for _ in 0..20:
            torch.save({"a": torch.ones([1000]) * k, "b": torch.ones([1000]) * k}, path)
            val back = torch.load(path)
            assert back["a"][0].item() == back["b"][999].item()
    fn save_at_once(path):
        val savers = [for k in 0..3: save_often(path, k * 1.0)]
        for saver in savers: await saver
    fn save_module(path): torch.save(nn.Linear(1, 1), path)
    """
)


def test_python_reads_files_of_simple_and_shared_storage_stays_shared(tmp_path):
    path = str(tmp_path / "value.pt")
    SIMPLE.made(path)
    value = torch.load(path)  # weights_only is the default
    assert value["whole"].tolist() == [0, 1, 2, 3, 4, 5]
    value["whole"][3] = 77
    assert value["part"].tolist() == [2, 77, 4, 5]
    parameter, plain = value["rows"]
    assert type(parameter) is torch.nn.Parameter
    assert parameter.requires_grad
    assert not value["frozen"].requires_grad
    assert plain == [None, True, -3, 5000000000, 1.5, "é"]
    assert value["dtype"] is torch.bfloat16
    assert value[7].stride() == (1, 3)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_each_dtype_round_trips_bit_for_bit(dtype, tmp_path):
    there, back = tmp_path / "there.pt", str(tmp_path / "back.pt")
    tensor = torch.arange(-3, 9).reshape(3, 4).to(dtype)[1:, ::2]
    torch.save(tensor, there)
    SIMPLE.save(SIMPLE.load(str(there)), back)
    again = torch.load(back)
    assert (again.dtype, again.shape, again.stride()) == (tensor.dtype, tensor.shape, tensor.stride())
    assert again.contiguous().view(torch.uint8).equal(tensor.contiguous().view(torch.uint8))


def test_module_states_round_trip(tmp_path):
    path = str(tmp_path / "model.pt")
    SIMPLE.model(path)
    torch.manual_seed(3)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    state = torch.load(path)
    assert type(state) is OrderedDict
    assert list(state) == list(model.state_dict())
    for name, tensor in model.state_dict().items():
        assert state[name].equal(tensor)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_()
    torch.save(model.state_dict(), path)
    assert SIMPLE.kind(path) == "StateDict"
    assert SIMPLE.names(path) == list(model.state_dict())
    x = torch.randn(5, 3)
    assert SIMPLE.loaded_into(path, x).equal(model(x))


def test_python_optimizers_are_read(tmp_path):
    path = str(tmp_path / "optimizer.pt")
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.25)
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    torch.save(optimizer.state_dict(), path)
    state = SIMPLE.load(path)
    assert state["param_groups"][0]["lr"] == 0.25
    assert state["state"][0]["exp_avg"].equal(optimizer.state_dict()["state"][0]["exp_avg"])


class CustomClass:
    pass


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (torch.nn.Linear(1, 1), r"torch\.nn\.modules\.linear\.Linear.*save a state_dict"),
        (CustomClass(), "test_checkpoints.CustomClass"),
        ({"x": 2**70}, "more than 64 bits"),
    ],
    ids=["module", "object", "big integer"],
)
def test_other_types_are_rejected_by_name(value, message, tmp_path):
    path = tmp_path / "other.pt"
    torch.save(value, path)
    with pytest.raises(Exception, match=message):
        SIMPLE.load(str(path))


@pytest.mark.filterwarnings("ignore:.*nested")
def test_unsupported_value_is_rejected_and_keeps_the_old_file(tmp_path):
    path = tmp_path / "kept.pt"
    SIMPLE.save("kept", str(path))
    for value in [torch.nested.nested_tensor([torch.ones(2)]), [torch.ones(2, device="meta")]]:
        with pytest.raises(Exception, match=r"save: the tensor is (not dense|without memory)"):
            SIMPLE.save(value, str(path))
    with pytest.raises(Exception, match="cannot save a Linear; save its state_dict"):
        SIMPLE.save_module(str(path))
    assert SIMPLE.load(str(path)) == "kept"
    assert os.listdir(tmp_path) == ["kept.pt"]


def test_full_disk_keeps_the_old_file(tmp_path):
    path = tmp_path / "kept.pt"
    SIMPLE.save("kept", str(path))
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limit[1]))
    try:
        with pytest.raises(Exception, match="cannot be written"):
            SIMPLE.save(torch.ones(1_000_000), str(path))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, old)
    assert SIMPLE.load(str(path)) == "kept"
    assert os.listdir(tmp_path) == ["kept.pt"]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("none.pt", "No such file"),
        ("text.pt", "Invalid magic number; corrupt file?"),
        ("folder", "cannot be read: Is a directory"),
    ],
)
def test_other_files_are_rejected(path, message, tmp_path):
    (tmp_path / "text.pt").write_text("words")
    (tmp_path / "folder").mkdir()
    with pytest.raises(Exception, match=message):
        SIMPLE.load(str(tmp_path / path))


def test_missing_folder_is_reported(tmp_path):
    with pytest.raises(Exception, match="no such directory"):
        SIMPLE.save(1, str(tmp_path / "none" / "x.pt"))


def rewritten(source: Path, target: Path, change) -> None:
    """Writes the archive with its pickle changed."""
    with zipfile.ZipFile(source) as archive, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as out:
        for name in archive.namelist():
            data = archive.read(name)
            out.writestr(name, change(data) if name.endswith("data.pkl") else data)


def test_code_in_a_file_is_not_executed(tmp_path):
    class Malicious:
        def __reduce__(self):
            return os.system, (f"touch {tmp_path}/was_run",)

    torch.save(1, tmp_path / "good.pt")
    rewritten(tmp_path / "good.pt", tmp_path / "evil.pt", lambda _: pickle.dumps(Malicious(), protocol=2))
    with pytest.raises(Exception, match=r"it contains a posix\.system"):
        SIMPLE.load(str(tmp_path / "evil.pt"))
    assert not (tmp_path / "was_run").exists()


def test_deeply_nested_lists_are_rejected(tmp_path):
    deep = b"\x80\x02" + b"]" * 1_000_000 + b"a" * 999_999 + b"."
    torch.save(1, tmp_path / "good.pt")
    rewritten(tmp_path / "good.pt", tmp_path / "deep.pt", lambda _: deep)
    with pytest.raises(Exception, match="nested too deep"):
        SIMPLE.load(str(tmp_path / "deep.pt"))


def test_trailing_bytes_are_ignored(tmp_path):
    path = str(tmp_path / "view.pt")
    torch.save(torch.zeros(5, dtype=torch.uint8)[:4].view(torch.float32), path)
    assert SIMPLE.load(path).tolist() == [0]


def test_symlinks_file_modes_and_pipes(tmp_path):
    target, link, pipe = tmp_path / "target.pt", tmp_path / "link.pt", tmp_path / "pipe"
    SIMPLE.save("old", str(target))
    target.chmod(0o600)
    link.symlink_to(target)
    SIMPLE.save("new", str(link))
    assert link.is_symlink()
    assert SIMPLE.load(str(target)) == "new"
    assert target.stat().st_mode & 0o777 == 0o600
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    SIMPLE.save("piped", str(pipe))
    assert b"piped" in os.read(reader, 65536)
    os.close(reader)
    assert pipe.is_fifo()


def test_concurrent_saves_do_not_corrupt_the_file(tmp_path):
    path = str(tmp_path / "same.pt")
    SIMPLE.save_at_once(path)
    assert len(set(torch.load(path)["a"].tolist() + torch.load(path)["b"].tolist())) == 1
    assert os.listdir(tmp_path) == ["same.pt"]


def test_tensors_outside_of_their_storage_are_rejected(tmp_path):
    torch.save(torch.zeros(3), tmp_path / "good.pt")

    # The size (3,) of three items becomes (100,).
    def widened(data: bytes) -> bytes:
        assert data.count(b"K\x03\x85") == 1
        return data.replace(b"K\x03\x85", b"K\x64\x85")

    rewritten(tmp_path / "good.pt", tmp_path / "wide.pt", widened)
    with pytest.raises(Exception, match="exceeds its storage"):
        SIMPLE.load(str(tmp_path / "wide.pt"))


def test_a_storage_that_two_tensors_name_with_other_sizes_is_rejected(tmp_path):
    torch.save({"a": torch.arange(600.0), "b": torch.ones(9, dtype=torch.bool)}, tmp_path / "good.pt")

    def renamed(data: bytes) -> bytes:
        assert data.count(b"X\x01\x00\x00\x001") == 1
        return data.replace(b"X\x01\x00\x00\x001", b"X\x01\x00\x00\x000")

    rewritten(tmp_path / "good.pt", tmp_path / "bad.pt", renamed)
    for load in (SIMPLE.load, torch.load):
        with pytest.raises(Exception, match="2400 bytes"):
            load(str(tmp_path / "bad.pt"))


def test_a_record_that_the_directory_makes_a_folder_is_rejected(tmp_path):
    """LibTorch reads nothing from a folder, so that its memory would be uninitialized."""
    path = tmp_path / "file.pt"
    torch.save(torch.ones(20), path)
    content = bytearray(path.read_bytes())
    entry = content.rindex(b"PK\x01\x02", 0, content.rindex(b"file/data/0"))
    content[entry + 38] = 0x10
    path.write_bytes(content)
    with pytest.raises(RuntimeError, match="file/data/0 has no content"):
        SIMPLE.load(str(path))


def failure_message(path: str) -> str | None:
    """The error of loading the file, or None."""
    try:
        SIMPLE.load(path)
    except RuntimeError as error:
        return str(error)
    return None


def test_names_that_are_not_utf8_are_reported(tmp_path):
    torch.save(torch.zeros(3), tmp_path / "good.pt")
    rewritten(tmp_path / "good.pt", tmp_path / "bad.pt", lambda data: data.replace(b"FloatStorage", b"Floa\xd8Storage"))
    with pytest.raises(RuntimeError, match=r"unknown storage class Floa\\xd8Storage"):
        SIMPLE.load(str(tmp_path / "bad.pt"))


def test_pickles_with_flipped_bytes_are_errors_or_values(tmp_path):
    good, bad = tmp_path / "good.pt", tmp_path / "bad.pt"
    torch.save({"a": [torch.ones(2, 3), 1.5, ("x", None)], "b": OrderedDict(c=torch.arange(4))}, good)
    generator = random.Random(11)
    counted = {"value": 0, "error": 0}
    for _ in range(1500):

        def flipped(data: bytes) -> bytes:
            changed = bytearray(data)
            for _ in range(generator.randint(1, 4)):
                changed[generator.randrange(len(changed))] = generator.randrange(256)
            return bytes(changed)

        rewritten(good, bad, flipped)
        message = failure_message(str(bad))
        assert message is None or "cannot be read" in message or "device" in message
        counted["value" if message is None else "error"] += 1
    assert min(counted.values()) > 50, counted


def test_map_location(tmp_path):
    torch.save(torch.ones(2), tmp_path / "x.pt")

    def moved(data: bytes) -> bytes:
        assert data.count(b"X\x03\x00\x00\x00cpu") == 1
        return data.replace(b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:7")

    rewritten(tmp_path / "x.pt", tmp_path / "there.pt", moved)
    with pytest.raises(Exception, match='load it with map_location: "cpu"'):
        SIMPLE.load(str(tmp_path / "there.pt"))
    assert SIMPLE.load(str(tmp_path / "there.pt"), "cpu").tolist() == [1, 1]
