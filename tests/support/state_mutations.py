"""States with one random change, and the results of loading them on both sides."""

from __future__ import annotations

import warnings
from copy import deepcopy

from compare_optimizers import torch
from simple_torch import run


def odd_value(rng):
    return rng.choice(
        [
            *(None, True, -1, 7, 2**62, 2**70, 0.5, float("nan"), float("inf"), 1j, "", "fast", "a,b"),
            *([], [1, "two"], (), (0.9, 0.99), (0.9, "x"), {}, {"a": 1}, {3: 4}, {1, 2}, [[1], [2, 3]], object(), len),
            *(torch.ones(()), torch.ones(1), torch.ones(0), torch.ones(3, 4), torch.ones(99), torch.ones(4, dtype=int)),
            *(torch.ones(3, 4, dtype=torch.complex64), torch.ones(3, 4, device="meta"), torch.eye(3, 4).to_sparse()),
            *(torch.ones(1, 1).expand(3, 4), torch.ones(4, 3).T, torch.ones((), dtype=bool), torch.float64),
        ]
    )


def odd_key(rng):
    return rng.choice(["", "own", "a,b", 0, 5, -1, 2**70, None, 1.5, (1, 2), "params", "lr", "step", "exp_avg"])


def containers_in(value):
    """Each dict and list in the value."""
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from containers_in(item)
    elif isinstance(value, list):
        yield value
        for item in value:
            yield from containers_in(item)


def mutate(state, rng):
    """Changes one entry; returns a description for the message of a failed test."""
    place = rng.choice(list(containers_in(state)))
    keys = list(place) if isinstance(place, dict) else list(range(len(place)))
    kind = rng.choice(["remove", "replace", "replace", "replace", "add", "swap"])
    if not keys or kind == "add":
        key, value = odd_key(rng), odd_value(rng)
        place.__setitem__(key, value) if isinstance(place, dict) else place.append(value)
        return f"{key!r} := {value!r}"
    key = rng.choice(keys)
    if kind == "remove":
        del place[key]
        return f"without {key!r}"
    value = place[rng.choice(keys)] if kind == "swap" else odd_value(rng)
    place[key] = value
    return f"{key!r} := {value!r}"


def python_error(optimizer, state):
    """The error message, or None. The exception types of Python's optimizers are not guaranteed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            optimizer.load_state_dict(deepcopy(state))
    except Exception as error:
        return error
    return None


# A failure that is not a TorchError propagates, and fails the test.
ERROR_OF = run(
    """
    use torch
    fn of(optimizer, state):
        match torch.attempt(\\: optimizer.load_state_dict(state)):
            case Ok(_): nil
            case Err(InvalidArgument(message)): message
            case Err(NotImplemented(message)): message
    """
)
