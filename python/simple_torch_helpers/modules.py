"""Modules of Python as members of Simple's modules, and Simple's modules as modules of Python."""

from __future__ import annotations

import copy
import functools
import inspect
import sys
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any


def kind_of(value: Any) -> str:
    """Return what a value is as a member: module, parameter, buffer or nothing."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "nn"):
        return ""  # without torch there are no modules
    if isinstance(value, torch.nn.Module):
        return "module"
    if isinstance(value, torch.nn.Parameter):
        return "parameter"
    return "buffer" if isinstance(value, torch.nn.Buffer) else ""


def members(module: Any) -> tuple[list[str], list[str], list[int], list[Any]]:
    """Return the kinds, names, identities and values of the direct members, without those that are None."""
    transient = module._non_persistent_buffers_set
    found: list[tuple[str, str, Any]] = [("parameter", *pair) for pair in module._parameters.items()]
    found += [("transient" if name in transient else "buffer", name, value) for name, value in module._buffers.items()]
    found += [("module", *pair) for pair in module._modules.items()]
    found = [member for member in found if member[2] is not None]
    values = [value for _, _, value in found]
    return [kind for kind, _, _ in found], [name for _, name, _ in found], [id(value) for value in values], values


def identity(value: Any) -> int:
    """Return the identity that members() lists for the value."""
    return id(value)


def native_of(module: Any) -> Any:
    """Return the module of Simple for which a module of Python stands; None for others."""
    return module._native if isinstance(module, native_types()[1]) else None


def assign(module: Any, name: str, value: Any, is_parameter: bool) -> None:
    """Set an attribute; a parameter of Simple becomes one of Python."""
    if is_parameter:
        value._is_param = True  # makes it an instance of torch.nn.Parameter
    setattr(module, name, value)


def deep_copy(value: Any, memo: dict[int, Any]) -> Any:
    """Return a copy; `memo` keeps objects that several fields share."""
    return copy.deepcopy(value, memo)


@functools.cache
def native_types() -> tuple[type, type]:
    """Create the types of Simple's modules in Python, and of the containers of their arrays and dicts."""
    import torch

    registrations = [0]  # of members, by Python

    class Members(torch.nn.Module):
        """Tensors of a module of Simple, which stay the same objects."""

        def _apply(self, fn: Callable[..., Any], recurse: bool = True) -> Any:
            before = dict(self._buffers)
            super()._apply(fn, recurse)
            for name, old in before.items():
                new = self._buffers[name]
                if new is not old and old is not None and new is not None:
                    old.data = new  # Simple holds the old object
                    self._buffers[name] = old
            return self

    class NativeHandle(torch.utils.hooks.RemovableHandle):
        """The handle of a hook of a native module."""

        def __init__(self, native: Any) -> None:
            super().__init__(OrderedDict())
            self.native = native

        def remove(self) -> None:
            self.native.remove()

    class NativeModule(Members):
        """A module of Simple. Its parameters and buffers are the same tensors in both languages."""

        def __init__(
            self,
            native: Any,
            name: str,
            found: list[Any],
            build: Callable[[Any], Any],
            call_with: Callable[..., Any],
            register: Callable[[str, str, Any], None],
        ) -> None:
            super().__init__()
            self.__dict__.update(_native=native, _native_name=name, _build=build, _call_with=call_with)
            self.__dict__.update(_register_natively=register, _own=[], _used=[], _used_at=-1)
            self.training = native.training
            for kind, path, value in found:
                self._own.extend(_place(self, Members, kind, path, value))

        def forward(self, *args: Any, **named: Any) -> Any:
            replaced = False
            for members, name, member in self._members_in_use():
                current = members.get(name)
                if current is member:
                    continue
                is_module = isinstance(member, torch.nn.Module)
                if current is None or is_module:
                    raise RuntimeError(
                        f"py.module(): the {'module' if is_module else 'tensor'} '{name}' of {self._native_name} was "
                        f"{'removed' if current is None else 'replaced'} in Python, and Simple uses it"
                    )
                replaced = True
            if not replaced:
                return self._native(*args, **named)
            state = dict(self.named_parameters())  # one name of tied tensors: Simple's have one, too
            state.update(self.named_buffers())
            return self._call_with(state, *args, **named)

        def _members_in_use(self) -> list[tuple[dict[str, Any], str, Any]]:
            """The tensors and modules that Simple uses, also of children, which Python may have registered since."""
            if self._used_at != registrations[0]:
                self._used = list(self._own)
                for _, _, member in self._own:
                    self._used += member._members_in_use() if isinstance(member, NativeModule) else []
                self._used_at = registrations[0]
            return self._used

        def train(self, mode: bool = True) -> Any:
            self._native.train(mode)
            return super().train(mode)

        # What Python registers becomes a member of the native module, which its optimizers and files contain.

        def register_parameter(self, name: str, param: Any) -> None:
            before = self._parameters.get(name)
            super().register_parameter(name, param)
            self._register("parameter", self._parameters, name, param, before)

        def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
            before = self._buffers.get(name)
            super().register_buffer(name, tensor, persistent)
            self._register("buffer" if persistent else "transient", self._buffers, name, tensor, before)

        def add_module(self, name: str, module: Any) -> None:
            before = self._modules.get(name)
            super().add_module(name, module)
            self._register("module", self._modules, name, module, before)

        register_module = add_module

        def __setattr__(self, name: str, value: Any) -> None:
            before = self._modules.get(name)
            is_array = isinstance(before, Members) and not isinstance(before, NativeModule)
            if isinstance(value, torch.nn.Module) and not is_array and (before is not None or not hasattr(self, name)):
                self.add_module(name, value)
            else:
                super().__setattr__(name, value)

        def _register(self, kind: str, members: dict[str, Any], name: str, value: Any, before: Any) -> None:
            if value is None and before is not None:
                return  # it is removed in Python only, and forward() reports it
            try:
                self._register_natively(kind, name, value._native if isinstance(value, NativeModule) else value)
            except BaseException:
                members[name] = before
                if before is None:
                    del members[name]
                raise
            others = [own for own in self._own if own[0] is not members or own[1] != name]
            self.__dict__["_own"] = others + ([] if value is None else [(members, name, members[name])])
            registrations[0] += 1

        # Hooks belong to the native module, so that they also run when Simple calls it.

        def register_forward_pre_hook(self, hook: Any, *, prepend: bool = False, with_kwargs: bool = False) -> Any:
            native = self._native.register_forward_pre_hook
            return NativeHandle(native(_hook(self, hook), prepend=prepend, with_kwargs=with_kwargs))

        def register_forward_hook(
            self, hook: Any, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
        ) -> Any:
            native = self._native.register_forward_hook
            options = {"prepend": prepend, "with_kwargs": with_kwargs, "always_call": always_call}
            return NativeHandle(native(_hook(self, hook), **options))

        def register_full_backward_pre_hook(self, hook: Any, prepend: bool = False) -> Any:
            return NativeHandle(self._native.register_full_backward_pre_hook(_hook(self, hook), prepend=prepend))

        def register_full_backward_hook(self, hook: Any, prepend: bool = False) -> Any:
            return NativeHandle(self._native.register_full_backward_hook(_hook(self, hook), prepend=prepend))

        def register_backward_hook(self, hook: Any) -> Any:
            raise NotImplementedError(
                f"register_backward_hook: not supported by {self._native_name}, a module of Simple; "
                "use register_full_backward_hook"
            )

        def __getattr__(self, name: str) -> Any:
            try:
                return super().__getattr__(name)
            except AttributeError:
                if name.startswith("__"):
                    raise
                return getattr(self._native, name)

        def __deepcopy__(self, memo: dict[int, Any]) -> Any:
            memo[id(self)] = copied = self._build(self._native.deepcopy())
            return copied

        def _get_name(self) -> str:
            return self._native_name

        def extra_repr(self) -> str:
            return self._native.extra_repr()

    return Members, NativeModule


def _hook(module: Any, hook: Callable[..., Any]) -> Callable[..., Any]:
    """Return the hook for the native module. It receives the module of Python, also that of a copy."""
    owner, build = weakref.ref(module), module._build

    def run(native: Any, *values: Any) -> Any:
        found = owner()
        return hook(found if found is not None and found._native is native else build(native), *values)

    return run


def _place(module: Any, container: type, kind: str, path: str, value: Any) -> list[tuple[dict[str, Any], str, Any]]:
    """Add a member, whose path has a container for each array or dict; return the tensors and modules that Simple uses.

    The functions that register members reject names that are attributes, which members of Simple are.
    """
    *containers, name = path.split(".")
    used: list[tuple[dict[str, Any], str, Any]] = []
    for part in containers:
        if part not in module._modules:
            module._modules[part] = container()
            used.append((module._modules, part, module._modules[part]))
        module = module._modules[part]
    if kind == "module":
        module._modules[name] = value
        return [*used, (module._modules, name, value)]
    if kind == "parameter":
        value._is_param = True  # makes it an instance of torch.nn.Parameter
        module._parameters[name] = value
        return [*used, (module._parameters, name, value)]
    module._buffers[name] = value
    if kind == "transient":
        module._non_persistent_buffers_set.add(name)
    return [*used, (module._buffers, name, value)]


def native_module(
    native: Any,
    name: str,
    found: list[Any],
    build: Callable[[Any], Any],
    call_with: Callable[..., Any],
    register: Callable[[str, str, Any], None],
) -> Any:
    """Return a torch.nn.Module for a module of Simple.

    Args:
        found: kinds, names and values of its members.
        build: makes such a module for another one of Simple.
        call_with: calls it with a dict of tensors in place of its own.
        register: adds a member to it: its kind, as in `found`, its name and its value.
    """
    return _type_with_forward(_signature_of(native))(native, name, found, build, call_with, register)


def _signature_of(native: Any) -> inspect.Signature | None:
    """Return the parameters of the module's forward(); None for a container without one."""
    try:
        return inspect.signature(native.forward)
    except (AttributeError, TypeError, ValueError):
        return None


@functools.lru_cache(maxsize=1024)
def _type_with_forward(signature: inspect.Signature | None) -> type:
    """Return the type of Simple's modules whose forward() has these parameters, by which torch.export names inputs."""
    base = native_types()[1]
    if signature is None:
        return base

    def forward(self: Any, *args: Any, **named: Any) -> Any:
        return base.forward(self, *args, **named)

    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    forward.__signature__ = signature.replace(parameters=[own, *signature.parameters.values()])
    return type(base.__name__, (base,), {"forward": forward, "__module__": base.__module__})
