"""A PyTorch module and the Simple module with the same arguments, run in one process; the results, by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import simple_torch
import torch

SEED = 1234
STEPS = {"lr": 0.01, "momentum": 0.9}  # of the training after the first call
torch.set_num_threads(1)  # the inputs are small: threads would slow it down
BINDINGS = simple_torch.run_file(Path(__file__).parents[1] / "modules" / "bindings.spl")


@dataclass
class Case:
    """One module and one call of it. Tensors among the arguments are copied before each use."""

    name: str
    dtype: torch.dtype
    training: bool
    args: tuple = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    inputs: tuple = ()
    named_inputs: dict[str, Any] = field(default_factory=dict)
    desc: str = ""

    def __str__(self) -> str:
        mode = "train" if self.training else "eval"
        arguments = [*map(short, self.args), *(f"{key}={short(value)}" for key, value in self.kwargs.items())]
        return f"{self.name}({', '.join(arguments)}) {str(self.dtype)[6:]} {mode} {self.desc}".rstrip()


def short(value: Any) -> str:
    return f"tensor{list(value.shape)}" if isinstance(value, torch.Tensor) else str(value).split("\n")[0]


# ---- copies


def copied(value: Any, memo: dict[int, Any], make: Callable[[Any], Any] = lambda module: module) -> Any:
    """Tensors become separate leaves, identical values stay identical; modules are converted by `make`."""
    if id(value) in memo:
        return memo[id(value)]
    if isinstance(value, torch.Tensor):
        memo[id(value)] = value.detach().clone().requires_grad_(value.requires_grad)
    elif isinstance(value, torch.nn.Module):
        memo[id(value)] = make(value)
    elif isinstance(value, torch.nn.utils.rnn.PackedSequence):
        return type(value)(*(copied(item, memo, make) for item in value))
    elif isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
        return type(value)(copied(item, memo, make) for item in value)
    elif isinstance(value, dict):
        return {key: copied(item, memo, make) for key, item in value.items()}
    else:
        return value
    return memo[id(value)]


def arguments_of(module: torch.nn.Module) -> dict[str, Any]:
    """The constructor arguments of a module, read from its fields and its submodules."""
    made = getattr(module, "made_of", None)
    assert made is not None, f"{type(module).__name__} was created outside of `recorded_inits()`"
    return made


def our_twin(module: torch.nn.Module) -> Any:
    args, kwargs = arguments_of(module)
    ours = BINDINGS.made(type(module).__name__, copied(args, {}, our_twin), copied(kwargs, {}, our_twin))
    with torch.no_grad():
        for (_, mine), theirs in zip(BINDINGS.state(ours), module.state_dict().values()):
            mine.copy_(theirs)
    return ours


class recorded_inits:
    """While active, PyTorch's modules record their constructor's arguments."""

    def __enter__(self) -> None:
        self.new = torch.nn.Module.__new__

        def recording(cls, *args, **kwargs):
            module = object.__new__(cls)
            object.__setattr__(module, "made_of", (args, kwargs))
            return module

        torch.nn.Module.__new__ = recording

    def __exit__(self, *_) -> None:
        torch.nn.Module.__new__ = lambda cls, *args, **kwargs: object.__new__(cls)


# ---- one run of one side


@dataclass
class Run:
    """The results: an error message, or named values in order."""

    error_message: str | None = None
    values: list[tuple[str, Any]] = field(default_factory=list)

    def note(self, part: str, value: Any) -> None:
        self.values.append((part, value))


class Expected:
    """PyTorch's module."""

    def make(self, case: Case) -> Any:
        return getattr(torch.nn, case.name)(
            *copied(case.args, {}, copy_of_module), **copied(case.kwargs, {}, copy_of_module)
        )

    def move(self, module: Any, dtype: torch.dtype) -> None:
        module.to(dtype)

    def call(self, module: Any, args: tuple, kwargs: dict) -> Any:
        return module(*args, **kwargs)

    def state(self, module: Any) -> Iterator[tuple[str, torch.Tensor]]:
        yield from module.state_dict(keep_vars=True).items()

    def optimizer(self, module: Any) -> Any:
        return torch.optim.SGD(module.parameters(), **STEPS)


class Ours:
    def make(self, case: Case) -> Any:
        return BINDINGS.made(case.name, copied(case.args, {}, our_twin), copied(case.kwargs, {}, our_twin))

    def move(self, module: Any, dtype: torch.dtype) -> None:
        BINDINGS.moved(module, dtype)

    def call(self, module: Any, args: tuple, kwargs: dict) -> Any:
        # A tensor that is passed twice reaches Simple as two; `firsts` identifies them.
        firsts = [next(i for i, other in enumerate(args) if other is value) for value in args]
        return BINDINGS.called(module, args, kwargs, firsts)

    def state(self, module: Any) -> Iterator[tuple[str, torch.Tensor]]:
        yield from BINDINGS.state(module)

    def optimizer(self, module: Any) -> Any:
        return BINDINGS.optimizer(module, STEPS["lr"], STEPS["momentum"])


def copy_of_module(module: torch.nn.Module) -> torch.nn.Module:
    args, kwargs = arguments_of(module)
    twin = type(module)(*args, **kwargs)
    twin.load_state_dict(module.state_dict())
    return twin


def flattened(value: Any, path: str = "output") -> Iterator[tuple[str, Any]]:
    """The tensors and plain values of a result, each with its path."""
    if isinstance(value, (tuple, list)):
        for i, item in enumerate(value):
            yield from flattened(item, f"{path}[{i}]")
    elif type(value).__name__ == "PackedSequence":  # of Simple; that of PyTorch is a tuple
        parts = (value.data, value.batch_sizes, value.sorted_indices, value.unsorted_indices)
        yield from flattened(parts, path)
    else:
        yield path, value


def snapshot(tensor: Any) -> Any:
    is_shaped = isinstance(tensor, torch.Tensor) and not torch.nn.parameter.is_lazy(tensor)
    return tensor.detach().clone() if is_shaped else torch.empty(0) if isinstance(tensor, torch.Tensor) else tensor


def run_of(side: Expected | Ours, case: Case) -> Run:
    run = Run()
    try:
        observe(side, case, run)
    except Exception as error:
        run.error_message = str(error)
    return run


def observe(side: Expected | Ours, case: Case, run: Run) -> None:
    torch.default_generator.manual_seed(SEED)
    module = side.make(case)
    run.note("random state after the constructor", torch.get_rng_state())
    run.note("repr", str(module) if isinstance(side, Ours) else repr(module))
    note_state(side, module, run, "initial ")
    side.move(module, case.dtype)
    module.train(case.training)
    memo: dict[int, Any] = {}
    args, kwargs = copied(case.inputs, memo), copied(case.named_inputs, memo)
    torch.default_generator.manual_seed(SEED + 1)
    outputs = list(flattened(side.call(module, args, kwargs)))
    run.note("random state after forward", torch.get_rng_state())
    for path, output in outputs:
        run.note(path, snapshot(output))
        if isinstance(output, torch.Tensor):
            run.note(f"strides of {path}", output.stride() if output.layout == torch.strided else None)
    differentiate([output for _, output in outputs])
    for i, tensor in enumerate(value for value in memo.values() if isinstance(value, torch.Tensor)):
        run.note(f"input {i} after it", snapshot(tensor))
        run.note(f"gradient of input {i}", tensor.grad)
    note_state(side, module, run, "")
    run.note("repr after it", str(module) if isinstance(side, Ours) else repr(module))
    if case.training:
        train(side, module, case, run)


def train(side: Expected | Ours, module: Any, case: Case, run: Run, steps: int = 3) -> None:
    """SGD steps, each with its own seed, then an evaluation; notes the states and the output."""
    is_trained = any(tensor.requires_grad for _, tensor in side.state(module))
    optimizer = side.optimizer(module) if is_trained else None
    for step in range(steps):
        if optimizer is not None:
            optimizer.zero_grad()
        torch.default_generator.manual_seed(SEED + 2 + step)
        differentiate([output for _, output in call_again(side, module, case)])
        if optimizer is not None:
            optimizer.step()
        for name, tensor in side.state(module):
            run.note(f"{name} after step {step}", snapshot(tensor))
    module.eval()
    for path, output in call_again(side, module, case):
        run.note(f"{path} of evaluation after training", snapshot(output))


def call_again(side: Expected | Ours, module: Any, case: Case) -> list[tuple[str, Any]]:
    memo: dict[int, Any] = {}
    return list(flattened(side.call(module, copied(case.inputs, memo), copied(case.named_inputs, memo))))


def note_state(side: Expected | Ours, module: Any, run: Run, prefix: str) -> None:
    for name, tensor in side.state(module):
        run.note(f"{prefix}{name}", snapshot(tensor))
        run.note(f"{prefix}requires_grad of {name}", tensor.requires_grad)
        run.note(f"{prefix}gradient of {name}", tensor.grad)


def differentiate(outputs: list[Any]) -> None:
    """Uses a different gradient for each element, so that swapped elements are detected."""
    wanted = [output for output in outputs if isinstance(output, torch.Tensor) and output.requires_grad]
    if not wanted:
        return
    generator = torch.Generator().manual_seed(SEED)
    weights = [torch.rand(output.shape, generator=generator, dtype=torch.float64).to(output.dtype) for output in wanted]
    torch.autograd.backward(wanted, weights)


# ---- PyTorch's own test inputs


def cases_of(info: Any) -> Iterator[Case]:
    """The inputs of an entry of module_db: each of its dtypes, in training and in evaluation."""
    for dtype in info.dtypes:
        for training in (True, False):
            for sample in inputs_of(info, dtype, training):
                made, forward = sample.constructor_input, sample.forward_input
                inputs = (forward.args, forward.kwargs) if forward is not None else ((), {})
                yield Case(info.module_cls.__name__, dtype, training, made.args, made.kwargs, *inputs, desc=sample.desc)


def rejected_cases_of(info: Any) -> Iterator[Case]:
    """The error inputs of an entry of module_db, for the constructor or the call."""
    for dtype in info.dtypes:
        torch.manual_seed(SEED)
        for error in info.module_error_inputs_func(info, device="cpu", dtype=dtype, requires_grad=True, training=True):
            made, forward = error.module_error_input.constructor_input, error.module_error_input.forward_input
            inputs = (forward.args, forward.kwargs) if forward is not None else ((), {})
            yield Case(info.module_cls.__name__, dtype, True, made.args, made.kwargs, *inputs, desc="rejected")


def inputs_of(info: Any, dtype: torch.dtype, training: bool) -> list[Any]:
    torch.manual_seed(SEED)
    with recorded_inits():
        return list(info.module_inputs_func(info, device="cpu", dtype=dtype, requires_grad=True, training=training))


def module_classes() -> dict[str, type]:
    """All modules of torch.nn."""
    return {
        name: found
        for name, found in vars(torch.nn).items()
        if inspect.isclass(found) and issubclass(found, torch.nn.Module) and found is not torch.nn.Module
    }
