"""Python code that LibTorch calls during an import or export: its exceptions and Ctrl-C propagate unchanged."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")
sys.path.insert(0, str(ROOT / "python"))
import simple_torch  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from_dlpack = simple_torch.from_dlpack


class Stops(TorchDispatchMode):
    """A mode that raises in place of every operator."""

    def __init__(self, exception):
        super().__init__()
        self.exception = exception

    def __torch_dispatch__(self, *_):
        raise self.exception


OURS = from_dlpack(np.zeros(3))
TORCHS = torch.zeros(3)
COPIES = {
    "of an array": lambda: from_dlpack(np.zeros(3), copy=True),
    "of a torch tensor": lambda: from_dlpack(TORCHS, copy=True),
    "of a capsule": lambda: from_dlpack(OURS.__dlpack__(max_version=(1, 0)), copy=True),
    "on the way out": lambda: OURS.__dlpack__(max_version=(1, 0), copy=True),
}


@pytest.mark.parametrize("copy", COPIES.values(), ids=COPIES.keys())
@pytest.mark.parametrize("exception", [KeyboardInterrupt(), SystemExit(3), GeneratorExit()], ids=repr)
def test_exit_exceptions_propagate_through_a_copy(exception, copy):
    with Stops(exception), pytest.raises(type(exception)) as caught:
        copy()
    assert caught.value is exception


@pytest.mark.parametrize("copy", COPIES.values(), ids=COPIES.keys())
def test_error_in_a_copy_is_the_cause_of_the_exception(copy):
    error = ArithmeticError("no zeros today")
    with Stops(error), pytest.raises(BufferError, match="Python code of a mode or a tensor subclass failed") as caught:
        copy()
    assert caught.value.__cause__ is error
    copy()  # no exception stays pending


class Interrupting:
    """An object with the type name of TensorFlow's tensors, whose dtype is read; SIGINT arrives in the meantime."""

    @property
    def dtype(self):
        raise KeyboardInterrupt

    def __dlpack__(self, **_):
        raise AssertionError("not asked")


def test_exit_exceptions_propagate_from_the_dtype():
    named = type("EagerTensor", (Interrupting,), {"__module__": "tensorflow.python.framework.ops"})
    with pytest.raises(KeyboardInterrupt):
        from_dlpack(named())


# ---- the same, called by a function of Simple


@pytest.fixture(scope="module")
def program():
    return simple_torch.run(
        "use torch\n"
        "fn copied(x): torch.from_dlpack(x, copy: true)\n"
        "fn shown(x): torch.attempt(\\: torch.from_dlpack(x, copy: true)).unwrap_err().message()\n"
    )


@pytest.mark.parametrize("exception", [KeyboardInterrupt("now"), SystemExit(3), ArithmeticError("no zeros")], ids=repr)
def test_python_exception_propagates_through_a_simple_function(exception, program):
    with Stops(exception), pytest.raises(type(exception)) as caught:
        program.copied(np.zeros(3))
    assert caught.value is exception
    assert program.copied(np.zeros(3)).tolist() == [0, 0, 0]


def test_simple_receives_the_python_exception(program):
    with Stops(ArithmeticError("no zeros")):
        assert program.shown(np.zeros(3)) == "ArithmeticError: no zeros"
