"""Python tensors that move into the capsule that exports them: flags, users of the memory, and the moved tensor."""

from __future__ import annotations

import ctypes
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

from_dlpack = simple_torch.from_dlpack
READ_ONLY, COPIED = 1, 2


def flags_of(capsule) -> int:
    """Reads the flags, which follow version, context and deleter."""
    pointer_in = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_in.restype, pointer_in.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.c_uint64.from_address(pointer_in(capsule, b"dltensor_versioned") + 24).value


def numpys_copy(values=4.0):
    """A copy, flagged as NumPy flags it."""
    capsule = np.arange(values).__dlpack__(max_version=(1, 0), copy=True)
    assert flags_of(capsule) == COPIED
    return capsule


# ---- into a capsule


def test_copied_flag_is_kept_if_the_tensor_moves():
    tensor = from_dlpack(numpys_copy())
    address = tensor.data_ptr()
    assert flags_of(tensor.__dlpack__(max_version=(1, 0))) == 0  # it has two users then
    capsule = tensor.into_dlpack()
    assert flags_of(capsule) == COPIED
    theirs = torch.from_dlpack(capsule)
    assert (theirs.data_ptr(), theirs.tolist()) == (address, [0, 1, 2, 3])


def test_copied_flag_is_not_set_for_shared_memory():
    assert flags_of(from_dlpack(np.zeros(3)).into_dlpack()) == 0
    assert flags_of(from_dlpack(torch.zeros(3)).into_dlpack()) == 0
    assert flags_of(from_dlpack(b"abc").into_dlpack()) == READ_ONLY


def weak_storage(tensor):
    from torch.multiprocessing.reductions import StorageWeakRef

    return StorageWeakRef(tensor.torch().untyped_storage())


HOLDERS = {
    "a torch tensor": lambda tensor: tensor.torch(),
    "a view": lambda tensor: tensor.torch()[1:],
    "another tensor": from_dlpack,
    "an array of NumPy's": np.from_dlpack,
    "a storage": lambda tensor: tensor.torch().untyped_storage(),
    "a weak reference": weak_storage,
    "a capsule": lambda tensor: tensor.__dlpack__(max_version=(1, 0)),
}


@pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS.keys())
def test_copied_flag_is_not_set_if_the_memory_has_other_users(hold):
    tensor = from_dlpack(numpys_copy())
    held = hold(tensor)
    capsule = tensor.into_dlpack()
    assert flags_of(capsule) == 0
    del held


# Torch keeps the Python object of a storage, which owns the storage, as long as the storage.
LETTING_GO = [name for name in HOLDERS if name not in ("a storage", "a weak reference")]


@pytest.mark.parametrize("holder", LETTING_GO)
def test_copied_flag_is_set_after_the_other_user_releases(holder):
    tensor = from_dlpack(numpys_copy())
    held = HOLDERS[holder](tensor)
    del held
    assert flags_of(tensor.into_dlpack()) == COPIED


def test_imported_copy_is_rejected_without_copy_and_used_with_copy():
    def round_trip(copy):
        capsule = from_dlpack(numpys_copy()).into_dlpack()
        return from_dlpack(capsule, copy=copy)

    with pytest.raises(BufferError, match="flags has IS_COPIED"):
        round_trip(False)
    first = from_dlpack(numpys_copy())
    address = first.data_ptr()
    assert from_dlpack(first.into_dlpack(), copy=True).data_ptr() == address  # the consumer is its only user
    assert flags_of(round_trip(None).into_dlpack()) == COPIED


class ReturningProducer:
    """A producer of one capsule."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)


def test_numpy_writes_to_moved_memory_but_not_to_read_only_memory():
    assert np.from_dlpack(ReturningProducer(from_dlpack(numpys_copy()).into_dlpack())).flags.writeable
    assert not np.from_dlpack(ReturningProducer(from_dlpack(b"abc").into_dlpack())).flags.writeable


USES = {
    "__dlpack__": lambda tensor: tensor.__dlpack__(max_version=(1, 0)),
    "__dlpack_device__": lambda tensor: tensor.__dlpack_device__(),
    "shape": lambda tensor: tensor.shape,
    "torch": lambda tensor: tensor.torch(),
    "data_ptr": lambda tensor: tensor.data_ptr(),
    "__reduce__": lambda tensor: tensor.__reduce__(),
    "into_dlpack": lambda tensor: tensor.into_dlpack(),
    "from_dlpack": from_dlpack,
    "numpy": np.from_dlpack,
    "torch.from_dlpack": torch.from_dlpack,
}


@pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
def test_moved_tensor_is_invalid(use):
    tensor = from_dlpack(np.zeros(3))
    capsule = tensor.into_dlpack()
    with pytest.raises(ValueError, match=r"was moved by into_dlpack\(\)"):
        use(tensor)
    assert repr(tensor) == "simple_torch.Tensor(moved by into_dlpack())"
    assert torch.from_dlpack(capsule).tolist() == [0, 0, 0]


def test_rejected_tensor_stays_valid():
    tensor = from_dlpack(np.zeros(3))
    tensor.torch().requires_grad_()
    with pytest.raises(BufferError, match=r"Can't export tensors that require gradient, use tensor\.detach\(\)"):
        tensor.into_dlpack()
    with pytest.raises(BufferError, match="a CPU tensor has no stream"):
        tensor.into_dlpack(stream=1)
    with pytest.raises(TypeError):
        tensor.into_dlpack(copy=True)
    assert tensor.shape == (3,)
