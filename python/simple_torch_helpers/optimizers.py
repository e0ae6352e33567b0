"""Optimizers of Simple as optimizers of Python."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

from simple_torch_helpers.option_groups import OptionGroup, reject_changes

_known: WeakValueDictionary[int, Any] = WeakValueDictionary()


@reject_changes("append", "extend", "insert", "pop", "remove", "clear", "__setitem__", "__delitem__", "__iadd__")
class Groups(list):  # type: ignore[type-arg]
    """The groups of an optimizer. They are added by add_param_group()."""

    rule = "the groups of an optimizer of Simple are added by add_param_group()"


@reject_changes("__setitem__", "__delitem__", "pop", "popitem", "clear", "update", "setdefault", "__ior__")
class State(dict):  # type: ignore[type-arg]
    """The state of a parameter. Its tensors are shared."""

    rule = "the states of an optimizer of Simple are assigned by load_state_dict()"


@reject_changes("__setitem__", "__delitem__", "pop", "popitem", "clear", "update", "setdefault", "__ior__")
class States(defaultdict):  # type: ignore[type-arg]
    """The states of an optimizer by their parameters."""

    rule = State.rule

    def __missing__(self, key: Any) -> State:
        return State()


@functools.cache
def optimizer_type() -> type:
    """Create the class on first use, so that programs without torch do not import it."""
    import torch

    class NativeOptimizer(torch.optim.Optimizer):
        """An optimizer of Simple. Parameters, options and states are shared: a change in one language is seen by both.

        `native` is the proxy of the optimizer. `group(i)` returns the parameters and the options of group i, or None,
        and `set_option(i, name, value)` changes one. `states()` returns the states by the index of their parameter.
        """

        def __init__(
            self,
            native: Any,
            name: str,
            group: Callable[[int], tuple[list[Any], dict[str, Any]] | None],
            set_option: Callable[[int, str, Any], None],
            states: Callable[[], dict[int, dict[str, Any]]],
        ) -> None:
            self._native, self._name = native, name
            self._group, self._set_option, self._states = group, set_option, states
            self._groups: list[OptionGroup] = []
            self._is_ready = False  # the groups that __init__ adds are those of the native optimizer
            super().__init__([{"params": group(0)[0]}], dict(native.defaults))  # type: ignore[index]
            self._is_ready = True

        @property
        def param_groups(self) -> Groups:
            if self._is_ready:
                while self._group(len(self._groups)) is not None:
                    index = len(self._groups)
                    self._groups.append(OptionGroup(self._name, index, self._group, self._set_option))
            return Groups(self._groups)

        @param_groups.setter
        def param_groups(self, groups: Any) -> None:
            if self._is_ready:
                raise AttributeError(f"cannot assign the groups of {self._name}, an optimizer of Simple")

        @property
        def state(self) -> States:
            """The states of the native optimizer. Its tensors are shared; assign entries by load_state_dict()."""
            found = States(dict)
            if self._is_ready:
                parameters = [parameter for group in self.param_groups for parameter in group["params"]]
                for index, entries in self._states().items():
                    dict.__setitem__(found, parameters[index] if index < len(parameters) else index, State(entries))
            return found

        @state.setter
        def state(self, states: Any) -> None:
            if self._is_ready or states:
                raise AttributeError(f"cannot assign the state of {self._name}, an optimizer of Simple")

        def state_dict(self) -> dict[str, Any]:
            found = super().state_dict()
            return {**found, "state": {key: dict(entries) for key, entries in found["state"].items()}}

        def step(self, closure: Callable[[], Any] | None = None) -> Any:
            return self._native.step() if closure is None else self._native.step(closure)

        def add_param_group(self, param_group: dict[str, Any]) -> None:
            if self._is_ready:
                params = param_group["params"]
                param_group = {**param_group, "params": [params] if hasattr(params, "grad") else list(params)}
                self._native.add_param_group(param_group)

        def __setstate__(self, state: dict[str, Any]) -> None:
            """Take over the state that load_state_dict() has checked and converted."""
            parameters = (parameter for group in self.param_groups for parameter in group["params"])
            indices = {parameter: index for index, parameter in enumerate(parameters)}
            start, groups = 0, []
            for group in state["param_groups"]:
                places = list(range(start, start + len(group["params"])))
                groups.append({**group, "params": places})
                start += len(places)
            states = {indices.get(parameter, parameter): entries for parameter, entries in state["state"].items()}
            self._native.load_state_dict({"state": states, "param_groups": groups})

        def __reduce_ex__(self, protocol: Any) -> Any:
            raise TypeError(f"cannot copy or pickle {self._name}, an optimizer of Simple; use its state_dict()")

        def __repr__(self) -> str:
            return super().__repr__().replace(type(self).__name__, self._name, 1)

    return NativeOptimizer


def native_optimizer(identity: int, *arguments: Any) -> Any:
    """Return a torch.optim.Optimizer for an optimizer of Simple, the same one while Python holds it.

    See NativeOptimizer for the other arguments.
    """
    found = _known.get(identity)
    if found is None:
        found = _known[identity] = optimizer_type()(*arguments)
    return found
