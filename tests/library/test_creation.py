"""from_numpy, asarray, numpy(), Size, newaxis, broadcast_shapes and device values."""

from __future__ import annotations

import pytest
from embedded_simple import equal, run, torch

numpy = pytest.importorskip("numpy")
OURS = run(
    """
    use torch
    fn plain(value): if type_of(value) == "Object": value.to_value() else: value
    fn from_numpy(array): torch.from_numpy(array)
    fn tensor(value): torch.tensor(value)
    fn as_tensor(value): torch.as_tensor(value)
    fn asarray(value, options): torch.asarray(value, **plain(options))
    fn of_list(): [torch.asarray([1, 2]), torch.asarray([1.5], dtype: torch.float64), torch.asarray(3)]
    fn array_of(x): x.numpy()
    fn forced(x): x.numpy(force: true)
    fn error(work, value): torch.attempt(\\: work(value)).unwrap_err().message()
    fn no_copy(value): torch.asarray(value, copy: false)
    fn sizes(x): [torch.Size([2, 3]) == x.shape, torch.Size(), x[:, torch.newaxis].shape]
    fn broadcast(shapes): torch.broadcast_shapes(*plain(shapes))
    fn device(x): [x.device.type, x.device.index, x.device == "cpu", "cpu" == x.device, "{x.device}",
        torch.ones([1], device: x.device).device == x.device]
    fn shared(x): x.share_memory_() + 1
    fn cuda():
        torch.cuda.manual_seed(1)
        torch.cuda.manual_seed_all(1)
        torch.cuda.reset_peak_memory_stats()
        [torch.cuda.memory_reserved(), torch.cuda.max_memory_reserved(), torch.cuda.is_initialized(),
            torch.accelerator.is_available(), torch.accelerator.device_count()]
    fn cuda_errors(): [for work in [\\: torch.cuda.synchronize(), \\: torch.cuda.get_device_name(),
        \\: torch.cuda.set_device(0), \\: torch.cuda.current_device(), \\: torch.cuda.mem_get_info()]:
        torch.attempt(work).unwrap_err().message()]
    """
)
ARRAYS = [
    numpy.arange(6).reshape(2, 3),
    numpy.ones(2, "float32"),
    numpy.array(2.5),
    numpy.array([True]),
    numpy.zeros((0, 2)),
]


@pytest.mark.parametrize("array", ARRAYS, ids=repr)
def test_numpy_arrays_become_tensors(array):
    for made in (OURS.from_numpy, OURS.tensor, OURS.as_tensor):
        assert equal(made(array), torch.from_numpy(array))
    assert equal(OURS.asarray(array, {}), torch.asarray(array))
    assert numpy.array_equal(OURS.array_of(torch.from_numpy(array)), array)


def test_memory_is_shared_where_pytorch_shares_it():
    array = numpy.arange(3)
    shared = [OURS.from_numpy(array), OURS.as_tensor(array), OURS.asarray(array, {})]
    copies = [OURS.tensor(array), OURS.asarray(array, {"copy": True})]
    array[0] = 9
    assert [int(x[0]) for x in shared] == [9, 9, 9]
    assert [int(x[0]) for x in copies] == [0, 0]
    x = torch.arange(3)
    OURS.array_of(x)[0] = 7
    assert x[0] == 7
    assert OURS.no_copy(x).data_ptr() == x.data_ptr()


def test_asarray_accepts_other_values():
    expected = [torch.asarray([1, 2]), torch.asarray([1.5], dtype=torch.float64), torch.asarray(3)]
    assert equal(OURS.of_list(), expected)
    leaf = OURS.asarray(torch.ones(2), {"requires_grad": True})
    assert leaf.requires_grad


def test_numpy_of_a_tensor_with_a_gradient_needs_force():
    leaf = torch.ones(2, requires_grad=True)
    assert "Can't call numpy() on Tensor that requires grad" in OURS.error(OURS.array_of, leaf)
    assert numpy.array_equal(OURS.forced(leaf), leaf.numpy(force=True))


def test_other_values_are_no_arrays():
    assert OURS.error(OURS.from_numpy, [1]).startswith("expected np.ndarray (got ")
    with pytest.raises(ValueError, match="can't alias arbitrary sequence"):
        torch.asarray([1], copy=False)
    assert "can't alias arbitrary sequence" in OURS.error(OURS.no_copy, 1)


def test_sizes_are_arrays():
    x = torch.ones(2, 3)
    assert OURS.sizes(x) == [True, [], list(x[:, None].shape)]


@pytest.mark.parametrize("shapes", [[[2, 1], [3]], [[5]], [[1, 4], [2, 1, 1], [4]], [[0], [1]], [3, [2, 1]]], ids=str)
def test_broadcast_shapes(shapes):
    assert OURS.broadcast(shapes) == list(torch.broadcast_shapes(*shapes))


def test_shapes_that_do_not_broadcast_are_rejected():
    with pytest.raises(RuntimeError) as theirs:
        torch.broadcast_shapes((2, 3), (4,))
    ours = OURS.error(OURS.broadcast, [[2, 3], [4]])
    if torch.__version__.startswith("2.15."):  # others have another message
        assert ours.replace("had [4]", "had (4,)") == str(theirs.value)


def test_devices_have_a_type_and_equal_their_names():
    for x in (torch.ones(2), torch.ones(2, device="meta")):
        name = str(x.device)
        assert OURS.device(x)[:2] == [x.device.type, x.device.index]
        assert OURS.device(x)[2:] == [name == "cpu", name == "cpu", name, True]
    assert equal(OURS.shared(torch.ones(2)), torch.ones(2) + 1)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_cuda_without_a_device():
    assert OURS.cuda() == [0, 0, False, False, 0]
    named, *others = sorted(OURS.cuda_errors(), key=lambda message: "cuda:0" not in message)
    assert named == "no device cuda:0; available devices: cpu"
    for message in others:
        assert message.endswith(": there is no CUDA device")
