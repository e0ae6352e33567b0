"""simple_torch.Tensor while Python code that a call runs uses the same tensor, and rejected structures."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")
sys.path.insert(0, str(ROOT / "python"))
sys.path.insert(0, str(ROOT / "tests" / "support"))
import simple_torch  # noqa: E402
from foreign_structs import foreign_capsule  # noqa: E402

from_dlpack = simple_torch.from_dlpack
MOVED = r"was moved by into_dlpack\(\)"


# ---- moves


def test_a_finalizer_sees_a_moved_tensor():
    """Guards move_to_python(): a finalizer that ran during the move used the dying tensor."""
    tensor = from_dlpack(torch.arange(4.0))
    python = tensor.torch()
    seen = []

    def look():
        with pytest.raises(ValueError, match=MOVED) as raised:
            tensor.torch()
        seen.append(raised.value)

    weakref.finalize(python, look)
    del python
    capsule = tensor.into_dlpack()
    assert torch.from_dlpack(capsule).tolist() == [0, 1, 2, 3]
    assert len(seen) == 1


MOVED_BY_COLLECTOR = """
import gc, torch, simple_torch

class Moves:
    def __init__(self, tensor):
        self.itself, self.tensor = self, tensor
    def __del__(self):
        self.tensor.into_dlpack()

tensor = simple_torch.from_dlpack(torch.arange(4.0))
gc.collect()
gc.freeze()
Moves(tensor)
gc.set_threshold(1)
value = tensor.torch()
gc.set_threshold(700)
gc.collect()
print(value)
"""


def test_a_collected_cycle_may_move_a_tensor_while_it_is_used():
    """Guards hold_tensor(): the first use looks up torch, whose allocations run the collector."""
    command = [sys.executable, "-c", MOVED_BY_COLLECTOR]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert (run.stdout, run.stderr) == ("tensor([0., 1., 2., 3.])\n", "")


def test_another_thread_uses_a_tensor_while_it_is_moved():
    """Guards the same with two threads: each use succeeds or is a ValueError."""
    unexpected = []

    def use(tensor):
        while True:
            try:
                tensor.torch().sum()
            except ValueError:
                return
            except BaseException as error:
                unexpected.append(error)
                return

    for _ in range(300):
        tensor = from_dlpack(torch.ones(4))
        user = threading.Thread(target=use, args=(tensor,))
        user.start()
        assert torch.from_dlpack(tensor.into_dlpack()).sum() == 4
        user.join()
    assert unexpected == []


class Mover:
    """An argument that moves the tensor when the call reads it."""

    def __init__(self, tensor):
        self.tensor = tensor

    def move(self):
        self.capsule = self.tensor.into_dlpack()

    def __index__(self):
        self.move()
        return 1

    def __bool__(self):
        self.move()
        return False


@pytest.mark.parametrize(
    "call",
    [
        lambda tensor, mover: tensor.into_dlpack(stream=mover),
        lambda tensor, mover: tensor.__dlpack__(stream=mover),
        lambda tensor, mover: tensor.__dlpack__(max_version=(mover, 0)),
        lambda tensor, mover: tensor.__dlpack__(dl_device=(1, mover)),
        lambda tensor, mover: tensor.__dlpack__(copy=mover, max_version=(1, 0)),
        lambda tensor, mover: from_dlpack(tensor, copy=mover),
    ],
    ids=["into_dlpack stream", "stream", "max_version", "dl_device", "copy", "from_dlpack copy"],
)
def test_an_argument_that_moves_the_tensor_is_an_error(call):
    """Guards the order of reading arguments and the tensor: each call aborted the process."""
    tensor = from_dlpack(torch.ones(4))
    mover = Mover(tensor)
    with pytest.raises(ValueError, match=MOVED):
        call(tensor, mover)
    assert torch.from_dlpack(mover.capsule).sum() == 4


def test_a_copy_under_a_mode_that_moves_the_tensor_is_complete():
    """Guards the reference that a copy holds: a dispatch mode runs Python code meanwhile."""
    from torch.utils._python_dispatch import TorchDispatchMode

    tensor = from_dlpack(torch.arange(4.0))

    class Moving(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            if not hasattr(self, "capsule"):
                self.capsule = tensor.into_dlpack()
            return function(*args, **(kwargs or {}))

    with Moving():
        copy = from_dlpack(tensor, copy=True)
    assert copy.torch().tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match=MOVED):
        tensor.torch()


# ---- rejected structures and tensors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"flags": 4, "code": 17, "bits": 4, "lanes": 2}, "flags must not have IS_SUBBYTE_TYPE_PADDED"),
        ({"version": (2, 0)}, "version.major must be 1, got 2"),
        ({"byte_offset": 2**62}, "byte_offset must keep data in the address space"),
        ({"byte_offset": 2**47}, "byte_offset must keep data in the address space"),
        ({"byte_offset": 2**64 - 4}, "byte_offset must keep data in the address space"),
    ],
)
def test_the_deleter_of_a_rejected_structure_has_run_when_the_exception_arrives(options, message):
    deleted = []
    with pytest.raises(BufferError, match=message):
        from_dlpack(foreign_capsule(lambda _: deleted.append(True), **options))
    assert deleted == [True]


def test_no_order_is_accepted_on_the_cpu():
    tensor = from_dlpack(torch.ones(2))
    assert torch.from_dlpack(tensor.__dlpack__(stream=-1)).sum() == 2
    assert torch.from_dlpack(tensor.into_dlpack(stream=-1)).sum() == 2


def test_dual_tensors_are_rejected():
    """A consumer would compute without the tangent."""
    from torch.autograd import forward_ad

    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.ones(3), torch.ones(3))
        with pytest.raises(BufferError, match="forward-mode gradient"):
            from_dlpack(dual)
        assert from_dlpack(forward_ad.unpack_dual(dual).primal).torch().sum() == 3


def test_read_only_tensors_are_pickled_by_value():
    array = np.arange(3.0)
    array.flags.writeable = False
    tensor = from_dlpack(array)
    again = pickle.loads(pickle.dumps(tensor))
    again.torch()[0] = 7
    assert again.torch().tolist() == [7, 1, 2]
    assert array.tolist() == [0, 1, 2]
