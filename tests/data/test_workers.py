"""Workers of a DataLoader: worker info, random numbers, errors."""

from __future__ import annotations

import pytest
from embedded_simple import equal, run, torch
from torch.utils import data as theirs

pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create 3 worker processes")

OURS = run(
    """
    use torch
    use std.time.{sleep}
    use torch.utils.data.{Dataset, IterableDataset, DataLoader, get_worker_info}
    class Drawing(Dataset):
        fn __len__(): 9
        fn __getitem__(i):
            val x = torch.rand([2])
            val y = torch.empty([2]).normal_()
            (i, x, y, torch.randint(0, 100, [1]), torch.randperm(4), torch.randn([2]))
    fn draw(seed, named):
        torch.manual_seed(seed)
        val loader = DataLoader(Drawing(), **named.to_value())
        [for _ in 0..2: [for batch in loader: batch]]
    class Shards(IterableDataset):
        fn iter():
            val info = get_worker_info()
            for i in 0..11:
                if info == nil or i % info.num_workers == info.id: yield i
    fn shards(named): [for batch in DataLoader(Shards(), **named.to_value()): batch]
    class Uneven(IterableDataset):
        fn iter():
            for i in 0..(if get_worker_info().id == 0: 1 else: 9): yield i
    fn uneven(): [for item in DataLoader(Uneven(), batch_size: nil, num_workers: 2, prefetch_factor: 1): item]
    class Whoami(Dataset):
        fn __len__(): 6
        fn __getitem__(i):
            val info = get_worker_info()
            (i, info.id, info.num_workers, info.seed, len(info.dataset))
    fn whoami(seed):
        torch.manual_seed(seed)
        [for batch in DataLoader(Whoami(), num_workers: 2, batch_size: nil): [for item in batch: item]]
    fn nobody(): get_worker_info() == nil
    class Faulty(Dataset):
        kind: text
        fn __len__(): 12
        fn __getitem__(i):
            if i == 7 and self.kind == "torch": return torch.ones([2]) + torch.ones([3])
            if i == 7 and self.kind == "panic": panic("there is no image 7")
            if i == 7 and self.kind == "index": return [1, 2][5]
            if i == 7 and self.kind == "io": return torch.load("/nowhere/file")
            if i == 7 and self.kind == "collate": return torch.ones([3])
            torch.ones([2]) * i
    fn kind_of(error):
        match error:
            case torch.TorchError.ShapeMismatch(_, _, _): "ShapeMismatch"
            case torch.TorchError.Io(_): "Io"
            case torch.TorchError.InvalidArgument(_): "InvalidArgument"
            case _: "another"
    fn failure(kind, workers):
        val loader = DataLoader(Faulty(kind: kind), batch_size: 2, num_workers: workers)
        val error = torch.attempt(\\: [for batch in loader: batch]).unwrap_err()
        [kind_of(error), error.message()]
    fn after_failure(kind, workers):
        val dataset = Faulty(kind: kind)
        val loader = DataLoader(dataset, batch_size: 2, num_workers: workers)
        val early = torch.attempt(\\: [for batch in loader: batch]).is_err()
        dataset.kind = "none"
        (early, [for batch in loader: batch].len())
    fn goes_on(workers):
        val batches = DataLoader(Faulty(kind: "panic"), batch_size: 2, num_workers: workers).iter()
        var reported = []
        loop:
            val outcome = torch.attempt(\\: batches.next())
            if outcome.is_ok() and outcome.unwrap().is_none(): break
            reported.push(outcome.is_ok())
        reported
    fn init_failure():
        val loader = DataLoader([1, 2], num_workers: 1, worker_init_fn: \\id: panic("not ready"))
        torch.attempt(\\: [for batch in loader: batch]).unwrap_err().message()
    class Seeding(Dataset):
        fn __len__(): 8
        fn __getitem__(i):
            val before = torch.initial_seed()
            if i == 4: torch.manual_seed(100 + get_worker_info().id)
            val state = torch.get_rng_state()
            val first = torch.rand([2])
            torch.set_rng_state(state)
            [i, before, torch.initial_seed(), first, torch.rand([2]), torch.randperm(3)]
    fn seeding(seed, init):
        torch.manual_seed(seed)
        val seeds = \\id: if init: torch.manual_seed(torch.initial_seed() + 7)
        val loader = DataLoader(Seeding(), num_workers: 2, batch_size: nil, worker_init_fn: seeds)
        val items = [for item in loader: item]
        (items, torch.rand([2]), torch.initial_seed())
    class Slow(Dataset):
        fn __len__(): 4
        fn __getitem__(i):
            if i == 2: sleep(0.6)
            i
    fn slow(timeout):
        val loader = DataLoader(Slow(), num_workers: 2, batch_size: nil, timeout: timeout)
        torch.attempt(\\: [for item in loader: item])
    fn slow_message(timeout): slow(timeout).unwrap_err().message()
    fn slow_items(timeout): slow(timeout).unwrap()
    fn counted(workers, factor, consumed, expected):
        # The number of samples that are loaded after that many batches were consumed. A busy machine may need time to
        # reach the expected number.
        val seen = Seen()
        val batches = DataLoader(seen, num_workers: workers, batch_size: nil, prefetch_factor: factor).iter()
        for _ in 0..consumed: batches.next()
        for _ in 0..1000: if seen.count < expected: sleep(0.01)
        sleep(0.3)
        seen.count
    class Seen(Dataset):
        count: i64 = 0
        fn __len__(): 100
        fn __getitem__(i):
            self.count += 1
            i
    class Careful(Dataset):
        count: i64 = 0
        fn __len__(): 100
        fn __getitem__(i):
            sleep(0.1)
            self.count += 1
            i
    fn loaded_in_all(factor):
        # How many samples are loaded of a loop that ends with its first batch.
        val seen = Careful()
        only_first(DataLoader(seen, num_workers: 2, batch_size: nil, prefetch_factor: factor))
        sleep(0.6)
        seen.count
    fn only_first(loader):
        for item in loader: return
    fn inits(persistent):
        var ids = Ids()
        val loader = DataLoader([1, 2, 3, 4], num_workers: 2, worker_init_fn: \\id: ids.add(id), persistent_workers:
        persistent)
        for _ in 0..2:
            for batch in loader: pass
        sorted(ids.all)
    class Ids:
        all: [i64] = []
        fn add(id): self.all.push(id)
    fn error_message(named):
        torch.attempt(\\: DataLoader([1, 2], **named.to_value())).unwrap_err().message()
    fn stream_error(named):
        torch.attempt(\\: DataLoader(Shards(), **named.to_value())).unwrap_err().message()
    fn pinned(): [for batch in DataLoader([1, 2], pin_memory: true): batch]
    class FirstIsSlow(Dataset):
        fn __len__(): 6
        fn __getitem__(i):
            if i == 0: sleep(0.5)
            i
    class FirstIsSlowStream(IterableDataset):
        fn iter():
            val id = get_worker_info().id
            if id == 0: sleep(0.5)
            for i in 0..3: yield id * 10 + i
    fn as_they_come(dataset, named):
        val loader = DataLoader(dataset, batch_size: nil, num_workers: 2, **named.to_value())
        [for _ in 0..2: [for item in loader: item]]
    fn slow_first(in_order): as_they_come(FirstIsSlow(), in_order)
    fn slow_stream(in_order): as_they_come(FirstIsSlowStream(), in_order)
    fn slow_and_timed():
        val loader = DataLoader(Slow(), sampler: [2], num_workers: 1, batch_size: nil, timeout: 0.1, in_order: false)
        torch.attempt(\\: [for item in loader: item]).unwrap_err().message()
    fn context_error():
        match torch.attempt(\\: DataLoader([1], num_workers: 1, multiprocessing_context: "spawn")).unwrap_err():
            case torch.TorchError.NotImplemented(message): message
            case other: "another: " + other.message()
    fn positionally(generator):
        DataLoader([1], 1, nil, nil, nil, 0, nil, false, false, 0, nil, nil, generator).generator != nil
    """
)


class Drawing(theirs.Dataset):
    def __len__(self):
        return 9

    def __getitem__(self, i):
        x = torch.rand(2)
        y = torch.empty(2).normal_()
        return i, x, y, torch.randint(0, 100, [1]), torch.randperm(4), torch.randn(2)


class Shards(theirs.IterableDataset):
    def __iter__(self):
        info = theirs.get_worker_info()
        for i in range(11):
            if info is None or i % info.num_workers == info.id:
                yield i


class Whoami(theirs.Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, i):
        info = theirs.get_worker_info()
        return i, info.id, info.num_workers, info.seed, len(info.dataset)


@pytest.mark.parametrize(
    "named",
    [
        {"batch_size": 2},
        {"batch_size": 2, "num_workers": 2},
        {"batch_size": 2, "num_workers": 3, "shuffle": True},
        {"batch_size": 2, "num_workers": 2, "persistent_workers": True},
    ],
    ids=str,
)
def test_random_numbers_in_workers_match_python(named):
    torch.manual_seed(4)
    loader = theirs.DataLoader(Drawing(), **named)
    expected = [list(loader) for _ in range(2)]
    state = torch.get_rng_state()
    found = OURS.draw(4, named)
    assert all(equal(a, b) for a, b in zip(found, expected))
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("workers", [0, 1, 2, 3])
@pytest.mark.parametrize(
    "named", [{"batch_size": 2}, {"batch_size": 3, "drop_last": True}, {"batch_size": None}], ids=str
)
def test_iterable_datasets_are_sharded_as_in_python(named, workers):
    options = {**named, "num_workers": workers}
    expected = list(theirs.DataLoader(Shards(), **options))
    found = OURS.shards(options)
    assert len(found) == len(expected)
    assert all(equal(torch.as_tensor(a), torch.as_tensor(b)) for a, b in zip(found, expected))


class Uneven(theirs.IterableDataset):
    def __iter__(self):
        yield from range(1 if theirs.get_worker_info().id == 0 else 9)


def test_finished_worker_leaves_the_rest_to_the_others():
    assert OURS.uneven() == list(theirs.DataLoader(Uneven(), batch_size=None, num_workers=2, prefetch_factor=1))


def test_workers_load_nothing_for_an_abandoned_loop():
    assert OURS.loaded_in_all(10) <= 4


def test_worker_info():
    torch.manual_seed(8)
    expected = [list(item) for item in theirs.DataLoader(Whoami(), num_workers=2, batch_size=None)]
    assert [list(item) for item in OURS.whoami(8)] == expected
    assert OURS.nobody()


FAULTS = [
    ("torch", "ShapeMismatch", "sample 7: The size of tensor a (2) must match the size of tensor b (3)"),
    ("panic", "InvalidArgument", "sample 7: there is no image 7 ("),
    ("index", "InvalidArgument", "sample 7: "),
    ("io", "Io", "sample 7: "),
    ("collate", "ShapeMismatch", "collate_fn of samples 6, 7: stack expects each tensor to be equal size"),
]


@pytest.mark.parametrize("workers", [0, 1, 3])
@pytest.mark.parametrize(("kind", "error", "message"), FAULTS)
def test_errors_name_sample_and_worker(kind, error, message, workers):
    reported = OURS.failure(kind, workers)
    worker = f"worker {3 % workers}, " if workers else ""
    assert reported[0] == error
    assert reported[1].startswith(f"DataLoader, {worker}{message}")
    assert OURS.after_failure(kind, workers) == (True, 6)


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_after_a_failed_one_are_loaded(workers):
    assert OURS.goes_on(workers) == [True, True, True, False, True, True]


def test_failing_worker_init_fn_is_reported():
    assert OURS.init_failure().startswith("DataLoader, worker 0, before its first sample: not ready (")


def test_worker_init_fn_runs_once_per_worker():
    assert OURS.inits(False) == [0, 0, 1, 1]
    assert OURS.inits(True) == [0, 1]


def test_timeout_is_reported_only_if_it_is_exceeded():
    assert OURS.slow_message(0.1) == "DataLoader timed out after 0.1 seconds"
    assert OURS.slow_items(20) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("workers", "factor", "consumed", "loaded"), [(1, 2, 0, 2), (2, 2, 0, 4), (2, 3, 4, 10), (3, 1, 1, 4)]
)
def test_prefetch_factor_limits_loading_ahead(workers, factor, consumed, loaded):
    assert OURS.counted(workers, factor, consumed, loaded) == loaded


@pytest.mark.parametrize("named", [{}, {"persistent_workers": True}, {"prefetch_factor": 1}], ids=str)
def test_batches_arrive_as_they_complete_without_in_order(named):
    """As in Python, a slow worker does not delay the others."""
    assert OURS.slow_first({**named, "in_order": True}) == [[0, 1, 2, 3, 4, 5]] * 2
    for epoch in OURS.slow_first({**named, "in_order": False}):
        assert sorted(epoch) == [0, 1, 2, 3, 4, 5] and epoch[0] == 1 and epoch.index(0) > 1
    assert OURS.slow_stream({**named, "in_order": True}) == [[0, 10, 1, 11, 2, 12]] * 2
    assert OURS.slow_stream({**named, "in_order": False}) == [[10, 11, 12, 0, 1, 2]] * 2
    assert OURS.slow_and_timed() == "DataLoader timed out after 0.1 seconds"


def test_multiprocessing_context_is_ignored():
    assert OURS.context_error().startswith("DataLoader: multiprocessing_context is not supported, because workers are")
    assert OURS.positionally(torch.Generator())


@pytest.mark.parametrize("named", [{"num_workers": 1.5}, {"num_workers": "two"}, {"timeout": "soon"}], ids=str)
def test_number_arguments_must_be_numbers(named):
    ((name, value),) = named.items()
    message = OURS.error_message(named)
    assert message.startswith(f"DataLoader: {name} must be a non-negative ") and message.endswith(f"got {value}")


REJECTED = [
    {"num_workers": -1},
    {"timeout": -1},
    {"prefetch_factor": 2},
    {"num_workers": 1, "prefetch_factor": -1},
    {"persistent_workers": True},
    {"shuffle": True, "sampler": [0]},
    {"batch_sampler": [[0]], "batch_size": 2},
    {"batch_sampler": [[0]], "drop_last": True},
    {"batch_size": None, "drop_last": True},
    {"batch_size": 0},
    {"batch_size": 2.5},
]


@pytest.mark.parametrize("named", REJECTED, ids=str)
def test_rejects_the_same_as_python_with_its_message(named):
    with pytest.raises((ValueError, TypeError)) as error:
        theirs.DataLoader([1, 2], **named)
    assert OURS.error_message(named) == str(error.value)


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # Python's loader was not fully constructed
def test_rejects_a_zero_prefetch_factor():
    named = {"num_workers": 1, "prefetch_factor": 0}
    with pytest.raises(AssertionError, match="prefetch_factor must be greater than 0"):
        iter(theirs.DataLoader([1, 2], **named))
    assert OURS.error_message(named) == "prefetch_factor must be greater than 0, got 0"


@pytest.mark.parametrize("named", [{"shuffle": True}, {"sampler": [0]}, {"batch_sampler": [[0]]}], ids=str)
def test_rejects_an_order_for_an_iterable_dataset(named):
    with pytest.raises(ValueError, match="DataLoader with IterableDataset: expected unspecified") as error:
        theirs.DataLoader(Shards(), **named)
    ours = OURS.stream_error(named)
    assert ours[: ours.index("=")] == str(error.value)[: str(error.value).index("=")]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_pin_memory_without_a_gpu_warns(capsys):
    assert [batch.tolist() for batch in OURS.pinned()] == [[1], [2]]
    assert "'pin_memory' argument is set as true but no accelerator is found" in capsys.readouterr().err


class Seeding(theirs.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        before = torch.initial_seed()
        if i == 4:
            torch.manual_seed(100 + theirs.get_worker_info().id)
        state = torch.get_rng_state()
        first = torch.rand(2)
        torch.set_rng_state(state)
        return [i, before, torch.initial_seed(), first, torch.rand(2), torch.randperm(3)]


def seed_again(_worker):
    torch.manual_seed(torch.initial_seed() + 7)


@pytest.mark.parametrize("init", [False, True])
def test_seeds_and_states_in_workers_are_the_workers_own(init):
    torch.manual_seed(11)
    loader = theirs.DataLoader(Seeding(), num_workers=2, batch_size=None, worker_init_fn=seed_again if init else None)
    expected = (list(loader), torch.rand(2), torch.initial_seed())
    for _ in range(3):
        items, after, seed = OURS.seeding(11, init)
        assert equal(items, expected[0])
        assert equal(after, expected[1]), "a worker changed the program's generator"
        assert seed == expected[2]
