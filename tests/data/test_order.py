"""Batches, splits and samples have Python's order under the same seed, and the generators end in the same state."""

from __future__ import annotations

import pytest
from embedded_simple import equal, run, torch
from torch.utils import data as theirs

OURS = run(
    """
    use torch
    use torch.utils.data as d
    fn tensors(args...): d.TensorDataset(args...)
    fn loader(dataset, named): d.DataLoader(dataset, **plain(named))
    fn sampler(name, args, named):
        match name:
            case "SequentialSampler": d.SequentialSampler(args...)
            case "RandomSampler": d.RandomSampler(args..., **named)
            case "SubsetRandomSampler": d.SubsetRandomSampler(args..., **named)
            case "WeightedRandomSampler": d.WeightedRandomSampler(args..., **named)
    class Reversed(d.Sampler):
        count: i64
        fn __iter__():
            for i in 0..self.count: yield self.count - 1 - i
        fn __len__(): self.count
    class Pairs:
        fn __iter__(): iter([[0, 1], [3]])
    class Stream(d.IterableDataset):
        fn __iter__():
            yield 5
            yield 6
    fn by_python_names(rows): [[for b in d.DataLoader(rows, sampler: Reversed(count: 4), batch_size: 2): b],
        [for b in d.DataLoader(rows, batch_sampler: Pairs()): b], [for b in d.DataLoader(Stream()): b]]
    fn plain(value): if type_of(value) == "Object": value.to_value() else: value
    fn drawn(name, args, named, seed):
        val options = with_generator(named, seed)
        val made = sampler(name, plain(args), options)
        val epochs = [for _ in 0..3: [for i in made: i]]
        (len(made), epochs)
    fn with_generator(named, seed):
        var all = plain(named)
        if seed != nil: all["generator"] = torch.Generator().manual_seed(seed)
        all
    fn batches_of(indices, size, drop_last): [for b in d.BatchSampler(plain(indices), size, drop_last): b]
    fn epochs(dataset, named, seed, count, limit):
        val made = d.DataLoader(dataset, **with_generator(named, seed))
        [for _ in 0..count: first(made, limit)]
    fn first(loader, limit):
        val found = []
        for batch in loader:
            if found.len() == limit: break
            found.push(batch)
        found
    fn split(count, lengths, seed):
        val generator = if seed == nil: nil else: torch.Generator().manual_seed(seed)
        d.random_split([for i in 0..count: i], plain(lengths), generator: generator).map(\\part: part.indices)
    fn subset(dataset, indices): d.Subset(dataset, plain(indices))
    fn joined(a, b): d.ConcatDataset([a, b])
    class Numbers(d.IterableDataset):
        numbers: any
        fn iter():
            for number in self.numbers: yield number
        fn __len__(): len(self.numbers)
    fn chained(a, b, named):
        val streams = Numbers(numbers: plain(a)) + Numbers(numbers: plain(b))
        (len(streams), [for batch in d.DataLoader(streams, **plain(named)): batch])
    fn chain_of_another(): torch.attempt(\\: d.ChainDataset([[1]])).unwrap_err().message()
    fn stacked(a, b): d.StackDataset(a, b)
    fn stacked_by_name(a, b): d.StackDataset(first: a, second: b)
    fn one_subset(a): d.Subset(a, [2, 0, 1])
    fn stack_error(a, b): torch.attempt(\\: d.StackDataset(a, b)).unwrap_err().message()
    fn stack_errors(a):
        val outcomes = [torch.attempt(\\: d.StackDataset()), torch.attempt(\\: d.StackDataset(a, x: a))]
        outcomes.map(\\outcome: outcome.unwrap_err().message())
    fn rows(dataset): [for i in 0..len(dataset): dataset[i]]
    fn length(value): len(value)
    fn one(dataset, workers):
        val loader = d.DataLoader(dataset, batch_size: 4, shuffle: true, num_workers: workers)
        val batches = iter(loader)
        [next(batches), next(batches), next(batches), next(batches)]
    """
)
MANY = 10**9


def both(theirs_of, ours_of, *, seed=7):
    """Both results under the same seed, and whether the default generator is in the same state afterwards."""
    torch.manual_seed(seed)
    expected = theirs_of()
    state = torch.get_rng_state()
    torch.manual_seed(seed)
    found = ours_of()
    assert torch.equal(torch.get_rng_state(), state)
    return found, expected


def generated(named, seed):
    return {**named, **({} if seed is None else {"generator": torch.Generator().manual_seed(seed)})}


def first(loader, limit):
    found = []
    for batch in loader:
        if len(found) == limit:
            break
        found.append(batch)
    return found


def tensors(count=11):
    return torch.arange(count * 3.0).view(count, 3), torch.arange(count)


@pytest.mark.parametrize("seed", [None, 5], ids=["", "generator"])
@pytest.mark.parametrize(
    ("name", "args", "named"),
    [
        ("SequentialSampler", [range(5)], {}),
        ("SequentialSampler", [range(5000)], {}),
        ("RandomSampler", [range(13)], {}),
        ("RandomSampler", [range(13)], {"num_samples": 30}),
        ("RandomSampler", [range(13)], {"num_samples": 26}),
        ("RandomSampler", [range(13)], {"num_samples": 5}),
        ("RandomSampler", [range(13)], {"replacement": True}),
        ("RandomSampler", [range(13)], {"replacement": True, "num_samples": 70}),
        ("RandomSampler", [range(13)], {"replacement": True, "num_samples": 64}),
        ("SubsetRandomSampler", [[3, 1, 4, 1, 5, 9]], {}),
        ("WeightedRandomSampler", [[0.1, 0.9, 0.4, 0.7, 3.0, 0.6], 5], {}),
        ("WeightedRandomSampler", [[0.9, 0.4, 0.05, 0.2, 0.3, 0.1], 5], {"replacement": False}),
    ],
)
def test_samplers_match_python(name, args, named, seed):
    seed = None if name == "SequentialSampler" else seed  # it draws nothing
    ours_args = [list(args[0]), *args[1:]]

    def python_batches():
        sampler = getattr(theirs, name)(*args, **generated(named, seed))
        return len(sampler), [list(sampler) for _ in range(3)]

    found, expected = both(python_batches, lambda: OURS.drawn(name, ours_args, named, seed))
    assert tuple(found) == expected


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("size", [1, 3, 5, 10, 11, 64])
def test_batch_samplers_match_python(size, drop_last):
    assert OURS.batches_of(list(range(10)), size, drop_last) == list(theirs.BatchSampler(range(10), size, drop_last))


OPTIONS = [
    {},
    {"batch_size": 4},
    {"batch_size": 4, "drop_last": True},
    {"batch_size": 4, "shuffle": True},
    {"batch_size": 11, "shuffle": True},
    {"batch_size": 4, "shuffle": True, "drop_last": True},
    {"batch_size": 64, "shuffle": True},
    {"batch_size": None},
    {"batch_size": None, "shuffle": True},
    {"batch_sampler": [[0, 3], [5], [1, 2, 10]]},
    {"batch_size": 2, "sampler": [9, 3, 5]},
]


# Workers draw ahead from a given generator: the test below checks its final state.
WAYS = [(seed, workers, limit) for seed in (None, 5) for workers in (0, 2) for limit in (MANY, 2)]


@pytest.mark.parametrize(("seed", "workers", "limit"), [way for way in WAYS if way != (5, 2, 2)])
@pytest.mark.parametrize("named", OPTIONS, ids=str)
def test_batches_of_all_epochs_match_python(named, seed, workers, limit):
    x, y = tensors()

    def python_batches():
        # The batches of Python's workers would be the same, but take half a second.
        loader = theirs.DataLoader(theirs.TensorDataset(x, y), **generated(named, seed))
        return [first(loader, limit) for _ in range(3)]

    loader_options = {**named, "num_workers": workers}
    found, expected = both(python_batches, lambda: OURS.epochs(OURS.tensors(x, y), loader_options, seed, 3, limit))
    assert len(found) == len(expected)
    assert all(equal(ours, his) for ours, his in zip(found, expected))


@pytest.mark.parametrize("named", [{"shuffle": True}, {"shuffle": True, "persistent_workers": True}, {}], ids=str)
def test_abandoned_workers_leave_the_generator_in_pythons_state(named):
    x, y = tensors()
    loader_options = {**named, "num_workers": 2, "batch_size": 2}
    loader = theirs.DataLoader(theirs.TensorDataset(x, y), **generated(loader_options, 3))
    expected = [first(loader, 2) for _ in range(2)]
    found = OURS.epochs(OURS.tensors(x, y), loader_options, 3, 2, 2)
    assert all(equal(a, b) for a, b in zip(found, expected))


@pytest.mark.parametrize("seed", [None, 11])
@pytest.mark.parametrize("lengths", [[7, 3], [0.7, 0.3], [0.5, 0.5], [0.33, 0.33, 0.34], [1, 9, 0], [0.9]], ids=str)
@pytest.mark.parametrize("count", [10, 3])
@pytest.mark.filterwarnings("ignore:Length of split")
def test_random_split(count, lengths, seed):
    generator = {} if seed is None else {"generator": torch.Generator().manual_seed(seed)}
    torch.manual_seed(2)
    try:
        expected = [list(part.indices) for part in theirs.random_split(range(count), lengths, **generator)]
    except ValueError as error:
        with pytest.raises(Exception, match=str(error)):
            OURS.split(count, lengths, seed)
        return
    torch.manual_seed(2)
    assert OURS.split(count, lengths, seed) == expected


def test_concat_datasets_match_python():
    x, y = tensors()
    his = theirs.ConcatDataset([theirs.Subset(theirs.TensorDataset(x, y), [5, 1, 2]), theirs.TensorDataset(x, y)])
    mine = OURS.joined(OURS.subset(OURS.tensors(x, y), [5, 1, 2]), OURS.tensors(x, y))
    found, expected = both(
        lambda: [list(theirs.DataLoader(his, 4, shuffle=True)) for _ in range(2)],
        lambda: OURS.epochs(mine, {"batch_size": 4, "shuffle": True}, None, 2, MANY),
    )
    assert all(equal(a, b) for a, b in zip(found, expected))
    assert all(equal(tuple(a), b) for a, b in zip(OURS.rows(mine), his))


def test_subsets_match_python():
    x, y = tensors()
    part = theirs.Subset(theirs.TensorDataset(x, y), [5, 1, 2, 9])
    mine = OURS.subset(OURS.tensors(x, y), [5, 1, 2, 9])
    found, expected = both(
        lambda: [list(theirs.DataLoader(part, batch_size=3, shuffle=True))],
        lambda: OURS.epochs(mine, {"batch_size": 3, "shuffle": True}, None, 1, MANY),
    )
    assert equal(found[0], expected[0])


class Numbers(theirs.IterableDataset):
    def __init__(self, numbers):
        self.numbers = numbers

    def __iter__(self):
        return iter(self.numbers)

    def __len__(self):
        return len(self.numbers)


@pytest.mark.parametrize(
    "named", [{"batch_size": 2}, {"batch_size": 2, "num_workers": 2}, {"batch_size": None}], ids=str
)
def test_chain_datasets_match_python(named):
    chain = Numbers([1, 2, 3]) + Numbers([4])
    expected = list(theirs.DataLoader(chain, **named))
    count, found = OURS.chained([1, 2, 3], [4], named)
    assert count == len(chain) == 4
    assert [torch.as_tensor(batch).tolist() for batch in found] == [torch.as_tensor(b).tolist() for b in expected]
    assert OURS.chain_of_another() == "ChainDataset only supports IterableDataset"


def test_stack_datasets_match_python():
    x, y = tensors()
    his, mine = theirs.TensorDataset(x, y), OURS.tensors(x, y)
    parts, my_parts = theirs.Subset(his, [3, 1, 4]), OURS.subset(mine, [3, 1, 4])
    others, my_others = theirs.Subset(his, [2, 0, 1]), OURS.one_subset(mine)
    found, expected = both(
        lambda: [list(theirs.DataLoader(theirs.StackDataset(parts, others), batch_size=2, shuffle=True))],
        lambda: OURS.epochs(OURS.stacked(my_parts, my_others), {"batch_size": 2, "shuffle": True}, None, 1, MANY),
    )
    assert equal(found[0], expected[0])
    named = list(theirs.DataLoader(theirs.StackDataset(first=parts, second=others), batch_size=2))
    found = OURS.epochs(OURS.stacked_by_name(my_parts, my_others), {"batch_size": 2}, None, 1, MANY)[0]
    assert all(equal([ours["first"], ours["second"]], [t["first"], t["second"]]) for ours, t in zip(found, named))
    assert OURS.stack_error(mine, my_parts) == "Size mismatch between datasets: they have [11, 3] samples"
    assert [text[:20] for text in OURS.stack_errors(mine)] == ["At least one dataset", "Supported either ``t"]


@pytest.mark.parametrize("named", OPTIONS, ids=str)
def test_lengths(named):
    x, y = tensors()
    expected = len(theirs.DataLoader(theirs.TensorDataset(x, y), **named))
    assert OURS.length(OURS.loader(OURS.tensors(x, y), named)) == expected


@pytest.mark.parametrize("workers", [0, 2])
def test_next_returns_one_batch(workers):
    x, y = tensors()

    def python_batches():
        batches = iter(theirs.DataLoader(theirs.TensorDataset(x, y), batch_size=4, shuffle=True))
        return [next(batches), next(batches), next(batches), next(batches, None)]

    found, expected = both(python_batches, lambda: OURS.one(OURS.tensors(x, y), workers))
    assert found[3] is expected[3] is None
    assert all(equal(ours, his) for ours, his in zip(found[:3], expected[:3]))


class Reversed(theirs.Sampler):
    def __iter__(self):
        return iter([3, 2, 1, 0])

    def __len__(self):
        return 4


class Pairs:
    def __iter__(self):
        return iter([[0, 1], [3]])


class Stream(theirs.IterableDataset):
    def __iter__(self):
        return iter([5, 6])


def test_samplers_and_datasets_may_define_iter_by_its_name_in_python():
    rows = torch.arange(8).reshape(4, 2)
    expected = [
        list(theirs.DataLoader(rows, sampler=Reversed(), batch_size=2)),
        list(theirs.DataLoader(rows, batch_sampler=Pairs())),
        list(theirs.DataLoader(Stream())),
    ]
    assert equal(OURS.by_python_names(rows), expected)
