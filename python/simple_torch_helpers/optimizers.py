"""Optimizers of Simple as optimizers of Python."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable
from typing import Any

_MISSING = object()


@functools.cache
def optimizer_type() -> type:
    """Create the class on first use, so that programs without torch do not import it."""
    import torch

    class NativeOptimizer(torch.optim.Optimizer):
        """An optimizer of Simple. Parameters, options and states are shared: a change in one language is seen by both.

        `native` is the proxy of the optimizer. `options(i)` returns the options of group i, and
        `set_option(i, name, value)` changes one. `states()` returns the states by the index of their parameter.
        """

        def __init__(
            self,
            native: Any,
            name: str,
            groups: list[dict[str, Any]],
            options: Callable[[int], dict[str, Any]],
            set_option: Callable[[int, str, Any], None],
            states: Callable[[], dict[int, dict[str, Any]]],
        ) -> None:
            self._native, self._name = native, name
            self._options, self._set_option, self._states = options, set_option, states
            self._groups: list[dict[str, Any]] = []
            self._synchronized: list[dict[str, Any]] = []  # the options when both sides were last equal
            self._is_ready = False  # the groups that __init__ adds are those of the native optimizer
            super().__init__(groups, dict(native.defaults))
            self._synchronized = [dict(group) for group in self._groups]
            self._is_ready = True

        @property
        def param_groups(self) -> list[dict[str, Any]]:
            self._synchronize()
            return self._groups

        @param_groups.setter
        def param_groups(self, groups: list[dict[str, Any]]) -> None:
            self._groups = groups

        @property
        def state(self) -> Any:
            """The states of the native optimizer. Its tensors are shared; assign entries by load_state_dict()."""
            found: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
            if self._is_ready:
                parameters = [parameter for group in self._groups for parameter in group["params"]]
                for index, entries in self._states().items():
                    found[parameters[index] if index < len(parameters) else index] = entries
            return found

        @state.setter
        def state(self, states: Any) -> None:
            if self._is_ready or states:
                raise AttributeError(f"cannot assign the state of {self._name}, an optimizer of Simple")

        def step(self, closure: Callable[[], Any] | None = None) -> Any:
            self._synchronize()
            return self._native.step() if closure is None else self._native.step(closure)

        def add_param_group(self, param_group: dict[str, Any]) -> None:
            if self._is_ready:
                params = param_group["params"]
                param_group = {**param_group, "params": [params] if hasattr(params, "grad") else list(params)}
                self._native.add_param_group(param_group)
            super().add_param_group(param_group)
            if self._is_ready:
                self._groups[-1].update(self._options(len(self._groups) - 1))
                self._synchronized.append(dict(self._groups[-1]))

        def _synchronize(self) -> None:
            """Send options that Python code changed to Simple, and take over those that Simple changed."""
            if not self._is_ready:
                return
            for index, (group, known) in enumerate(zip(self._groups, self._synchronized, strict=True)):
                for name, value in group.items():
                    if name != "params" and not _is_same(value, known.get(name, _MISSING)):
                        self._set_option(index, name, value)
                group.update(self._options(index))
                known.clear()
                known.update(group)

        def __setstate__(self, state: dict[str, Any]) -> None:
            """Take over the state that load_state_dict() has checked and converted."""
            indices = {
                parameter: index for index, parameter in enumerate(p for group in self._groups for p in group["params"])
            }
            start, groups = 0, []
            for group in state["param_groups"]:
                numbers = list(range(start, start + len(group["params"])))
                groups.append({**group, "params": numbers})
                start += len(numbers)
            states = {indices.get(parameter, parameter): entries for parameter, entries in state["state"].items()}
            self._native.load_state_dict({"state": states, "param_groups": groups})
            for index, group in enumerate(self._groups):
                group.update(self._options(index))
            self._synchronized = [dict(group) for group in self._groups]

        def __reduce_ex__(self, protocol: Any) -> Any:
            raise TypeError(f"cannot copy or pickle {self._name}, an optimizer of Simple; use its state_dict()")

        def __repr__(self) -> str:
            return super().__repr__().replace(type(self).__name__, self._name, 1)

    return NativeOptimizer


def _is_same(value: Any, known: Any) -> bool:
    """Compare options: tensors, which are changed in place, by identity."""
    return value is known or (type(value) is type(known) and not hasattr(value, "shape") and value == known)


def native_optimizer(*arguments: Any) -> Any:
    """Return a torch.optim.Optimizer for an optimizer of Simple; see NativeOptimizer for the arguments."""
    return optimizer_type()(*arguments)
