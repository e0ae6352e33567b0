"""Memory of a CUDA device that one stream writes and another reads: correct each time, in a loop with a race."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", exc_type=ModuleNotFoundError)
if not torch.cuda.is_available():
    pytest.skip("there is no CUDA device", allow_module_level=True)
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import simple_torch  # noqa: E402

ROUNDS = 200
LONG = 2_000_000  # cycles that a stream sleeps before it writes: without ordering the other stream reads first


class Producer:
    """A producer that is not a torch.Tensor, so that its `__dlpack__` is called."""

    def __init__(self, tensor: torch.Tensor, stream: torch.cuda.Stream) -> None:
        self.tensor, self.stream, self.streams = tensor, stream, []

    def __dlpack__(self, *, stream=None, **options):
        self.streams.append(stream)
        with torch.cuda.stream(self.stream):
            return self.tensor.__dlpack__(stream=stream, **options)

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()


def filled(value: int, stream: torch.cuda.Stream, cycles: int = LONG) -> torch.Tensor:
    with torch.cuda.stream(stream):
        tensor = torch.zeros(1 << 20, device="cuda")
        torch.cuda._sleep(cycles)
        return tensor.fill_(value)


def test_export_is_ordered_before_the_consumers_stream():
    writer, reader = torch.cuda.Stream(), torch.cuda.Stream()
    for value in range(1, ROUNDS):
        tensor = filled(value, writer)
        with torch.cuda.stream(writer):
            capsule = simple_torch.from_dlpack(tensor).__dlpack__(stream=reader.cuda_stream, max_version=(1, 3))
        with torch.cuda.stream(reader):
            assert torch.from_dlpack(capsule).double().mean().item() == value


def test_export_does_not_block_the_host():
    writer, reader = torch.cuda.Stream(), torch.cuda.Stream()
    tensor = filled(1, writer, cycles=1000 * LONG)  # about a second
    with torch.cuda.stream(writer):
        capsule = simple_torch.from_dlpack(tensor).__dlpack__(stream=reader.cuda_stream, max_version=(1, 3))
    assert not writer.query()
    with torch.cuda.stream(reader):
        assert torch.from_dlpack(capsule).double().mean().item() == 1


def test_import_is_ordered_before_the_current_stream():
    writer, reader = torch.cuda.Stream(), torch.cuda.Stream()
    for value in range(1, ROUNDS):
        producer = Producer(filled(value, writer), writer)
        with torch.cuda.stream(reader):
            assert simple_torch.from_dlpack(producer).torch().double().mean().item() == value
        assert producer.streams == [reader.cuda_stream]


@pytest.mark.parametrize("number", [0, -2])
def test_invalid_stream_numbers_are_rejected(number):
    with pytest.raises(BufferError, match=f"stream is {number}: on CUDA it must be"):
        simple_torch.from_dlpack(torch.zeros(1, device="cuda")).__dlpack__(stream=number)
