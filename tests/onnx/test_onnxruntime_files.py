"""Files of ONNX that others wrote have the outputs of Python's onnxruntime, to the bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx_sessions import OURS, as_feed, proto_value, python_session, same, torch

DATA = Path(onnx.__file__).parent / "backend/test/data"
MODELS = sorted(path.parent for path in DATA.glob("*/*/model.onnx"))
LIGHT = sorted(DATA.glob("light/*.onnx"))
SILERO = sorted(
    path for path in (Path(torch.__file__).parents[1] / "silero_vad/data").glob("*.onnx") if "openvino" not in path.name
)


def outcome(action):
    """Return the result, or the message of the exception."""
    try:
        return action(), None
    except Exception as error:
        return None, str(error)


def data_sets(folder):
    for data in sorted(folder.glob("test_data_set_*")):
        paths = sorted(data.glob("input_*.pb"), key=lambda path: int(path.stem.split("_")[1]))
        yield [sample_of(path) for path in paths]


def sample_of(path):
    """An array, or a list of arrays for a sequence: the files do not state which of both they hold."""
    try:
        value = proto_value(path)
        if value.size or path.stat().st_size < 20:
            return value
    except Exception:
        pass
    sequence = onnx.SequenceProto()
    sequence.ParseFromString(path.read_bytes())
    return onnx.numpy_helper.to_list(sequence)


@pytest.mark.parametrize("folder", MODELS, ids=lambda folder: folder.name)
def test_backend_models_have_the_outputs_of_pythons_runtime(folder):
    path = str(folder / "model.onnx")
    theirs, why = outcome(lambda: python_session(path))
    if theirs is None:  # operators of training, which the library lacks
        assert OURS.failure(lambda: OURS.session(path, OURS.quiet())).split(":")[0] in ("Io", "NotImplemented"), why
        return
    ours = OURS.session(path, OURS.quiet())
    assert [name for name, _, _ in OURS.inputs(ours)] == [node.name for node in theirs.get_inputs()]
    for arrays in data_sets(folder):
        feeds = dict(zip([node.name for node in theirs.get_inputs()], arrays, strict=True))
        expected = theirs.run(None, feeds)
        found = OURS.run(ours, None, {name: as_feed(array) for name, array in feeds.items()})
        assert same(found, expected)


@pytest.mark.parametrize("path", LIGHT, ids=lambda path: path.stem)
def test_networks_have_the_outputs_of_pythons_runtime(path):
    theirs = python_session(path)
    ours = OURS.session(str(path), OURS.quiet())
    generator = np.random.default_rng(0)
    feeds = {node.name: generator.random(node.shape, dtype=np.float32) for node in theirs.get_inputs()}
    found = OURS.run(ours, None, {name: torch.from_numpy(array) for name, array in feeds.items()})
    assert same(found, theirs.run(None, feeds))


@pytest.mark.parametrize("path", SILERO, ids=lambda path: path.stem)
def test_a_voice_detector_has_the_outputs_of_pythons_runtime_on_a_sound(path):
    theirs, ours = python_session(path), OURS.session(str(path), OURS.quiet())
    time = np.arange(16000, dtype=np.float32) / 16000
    sound = np.sin(2 * np.pi * 220 * time) * np.exp(-3 * time) + 0.01 * np.cos(2 * np.pi * 3100 * time)
    generator = np.random.default_rng(0)
    feeds = {}
    for node in theirs.get_inputs():
        kind = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(int64)": np.int64}[node.type]
        sizes = [size if isinstance(size, int) else 1 for size in node.shape]
        if node.name == "input":
            value = sound[: 512 + 64].reshape(1, -1)
        elif kind is np.int64:
            value = np.array(16000).reshape(sizes)
        else:
            value = 0.1 * generator.standard_normal(sizes if node.name != "state" else (2, 1, 128))
        feeds[node.name] = np.asarray(value, dtype=kind)
    expected, why = outcome(lambda: theirs.run(None, feeds))
    assert expected is not None, why
    found = OURS.run(ours, None, {name: as_feed(array) for name, array in feeds.items()})
    assert same(found, expected)


def test_what_was_compared_exists():
    assert len(MODELS) > 100 and len(LIGHT) == 9
    assert len(SILERO) >= 4
