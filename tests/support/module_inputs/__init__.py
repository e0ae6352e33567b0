"""Inputs for modules, and for uses of modules, that PyTorch's `module_db` does not have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from module_runs import SEED, Case, recorded_inits


@dataclass
class Given:
    """The arguments of a module and of one call. A callable input is called with the dtype and returns a tensor."""

    name: str
    args: tuple
    kwargs: dict[str, Any]
    inputs: tuple = ()
    named_inputs: dict[str, Any] | None = None

    def called(self, *inputs: Any, **named: Any) -> Given:
        return Given(self.name, self.args, self.kwargs, inputs, named)

    def cases(self, dtypes: tuple = (torch.float32, torch.float64)) -> Iterator[Case]:
        for dtype in dtypes:
            for training in (True, False):
                torch.manual_seed(SEED)
                with recorded_inits():
                    named = {key: made(value, dtype) for key, value in (self.named_inputs or {}).items()}
                    inputs = tuple(made(value, dtype) for value in self.inputs)
                yield Case(self.name, dtype, training, self.args, self.kwargs, inputs, named)


def made(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, (tuple, list)):
        return type(value)(made(item, dtype) for item in value)
    return value(dtype) if callable(value) and not isinstance(value, torch.nn.Module) else value


def module(name: str, *args: Any, **kwargs: Any) -> Given:
    return Given(name, args, kwargs)


def normal(*shape: int, requires_grad: bool = True) -> Callable[[torch.dtype], torch.Tensor]:
    return lambda dtype: torch.randn(shape, dtype=dtype, requires_grad=requires_grad)


def below(limit: int, *shape: int) -> Callable[[torch.dtype], torch.Tensor]:
    """Integers from 0 up to limit."""
    return lambda dtype: torch.randint(limit, shape)
