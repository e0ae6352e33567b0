"""Loaders and samplers reject invalid arguments at once; Python fails later or with another message."""

from __future__ import annotations

import pytest
from embedded_simple import run, torch
from torch.utils import data as theirs

OURS = run(
    """
    use torch
    use torch.utils.data.{DataLoader, Dataset, RandomSampler}
    class Unsized(Dataset):
        fn __getitem__(i): i * 10
    class Sized(Unsized):
        fn __len__(): 3
    class Faulty(Unsized):
        fn __len__(): panic("no length today")
    fn error_text(work):
        match torch.attempt(work).unwrap_err():
            case torch.TorchError.InvalidArgument(message): message
            case other: "another: " + other.message()
    fn loader_error(named): error_text(\\: DataLoader([1, 2], **named.to_value()))
    fn sampler_error(named): error_text(\\: RandomSampler([], **named.to_value()))
    fn unsized_error(): error_text(\\: DataLoader(Unsized(), batch_size: 2))
    fn of_faulty(): attempt(\\: [for b in DataLoader(Faulty()): b]).unwrap_err().message
    fn ordered(): [for b in DataLoader(Unsized(), sampler: [2, 0, 1], batch_size: 2): b]
    fn in_batches(): [for b in DataLoader(Unsized(), batch_sampler: [[2, 0], [1]]): b]
    fn measured(dataset): [for b in DataLoader(dataset, batch_size: 2, collate_fn: \\b: b.len()): b]
    """
)


class Unsized(theirs.Dataset):
    def __getitem__(self, i):
        return i * 10


@pytest.mark.parametrize("value", ["yes", 1, 0.0])
def test_shuffle_must_be_a_bool(value):
    error_text = OURS.loader_error({"shuffle": value})
    assert error_text == f"shuffle option should be a boolean value or nil, but got shuffle={value}"


@pytest.mark.filterwarnings("ignore")  # the iterator that Python rejects late warns again when it is deallocated
def test_prefetch_factor_must_be_positive():
    with pytest.raises(AssertionError, match="prefetch_factor must be greater than 0"):
        list(theirs.DataLoader([1, 2], num_workers=1, prefetch_factor=0))
    error_text = OURS.loader_error({"num_workers": 1, "prefetch_factor": 0})
    assert error_text.startswith("prefetch_factor must be greater than 0")


@pytest.mark.parametrize("named", [{"num_samples": 3}, {"num_samples": 3, "replacement": True}, {}], ids=str)
@pytest.mark.filterwarnings("ignore")
def test_samplers_reject_empty_datasets(named):
    with pytest.raises((ZeroDivisionError, RuntimeError, ValueError)):
        list(theirs.RandomSampler([], **named))
    assert OURS.sampler_error(named) in (
        "RandomSampler: num_samples is 3, but data_source is empty",
        "num_samples should be a positive integer value, but got num_samples=0",
    )


def test_sequential_sampler_needs_a_length():
    assert OURS.unsized_error().startswith("DataLoader: Unsized has no __len__(); define it, pass a sampler")
    assert OURS.of_faulty() == "no length today"


def test_custom_sampler_needs_no_length():
    wanted = theirs.DataLoader(Unsized(), sampler=[2, 0, 1], batch_size=2)
    assert [batch.tolist() for batch in OURS.ordered()] == [batch.tolist() for batch in wanted]
    wanted = theirs.DataLoader(Unsized(), batch_sampler=[[2, 0], [1]])
    assert [batch.tolist() for batch in OURS.in_batches()] == [batch.tolist() for batch in wanted]


def test_python_datasets_have_their_lengths():
    assert OURS.measured(theirs.TensorDataset(torch.arange(5))) == [2, 2, 1]
