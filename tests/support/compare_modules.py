"""Compares two runs of module_runs bit by bit, and counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from module_runs import Case, Expected, Ours, Run, run_of, short

TABLES = Path(__file__).parents[1] / "modules"
TOLERANCES = TABLES / "tolerances.tsv"
CHANGES = TABLES / "changes.tsv"  # differences of Python's modules before a version; ours match the latest


@dataclass
class Difference:
    part: str
    what: str
    ours: torch.Tensor | None = None
    expected: torch.Tensor | None = None

    def is_within(self, rtol: float, atol: float) -> bool:
        if self.ours is None:
            return False
        return torch.allclose(self.ours, self.expected, rtol=rtol, atol=atol, equal_nan=True)


@dataclass
class Tally:
    counts: Counter = field(default_factory=Counter)
    differing: list[str] = field(default_factory=list)


def bits(tensor: torch.Tensor) -> bytes:
    return tensor.resolve_conj().resolve_neg().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def difference(part: str, ours: Any, expected: Any) -> Difference | None:
    both = [isinstance(value, torch.Tensor) for value in (ours, expected)]
    if not all(both):
        return (
            None if not any(both) and ours == expected else Difference(part, f"{short(ours)} is not {short(expected)}")
        )
    if (ours.shape, ours.dtype, ours.layout) != (expected.shape, expected.dtype, expected.layout):
        described = [f"{list(tensor.shape)} {tensor.dtype} {tensor.layout}" for tensor in (ours, expected)]
        return Difference(part, f"{described[0]} is not {described[1]}")
    if ours.layout != torch.strided:
        ours, expected = ours.to_dense(), expected.to_dense()
    if bits(ours) == bits(expected):
        return None
    apart = (ours.to(torch.complex128) - expected.to(torch.complex128)).abs().max()
    return Difference(part, f"differs by up to {apart:.3g}", ours, expected)


def differences(ours: Run, expected: Run) -> Iterator[Difference]:
    if ours.error_message is not None or expected.error_message is not None:
        if first_line(ours.error_message) != first_line(expected.error_message):
            yield Difference("error", f"{ours.error_message!r} is not {expected.error_message!r}")
        return
    names = [[part for part, _ in run.values] for run in (ours, expected)]
    if names[0] != names[1]:
        yield Difference("names", f"{names[0]} are not {names[1]}")
        return
    for (part, mine), (_, theirs) in zip(ours.values, expected.values):
        found = difference(part, mine, theirs)
        if found is not None:
            yield found


SIMPLES_TYPES = {"int": "i64", "float": "f64", "str": "text", "NoneType": "nil", "complex": "Complex"}


def first_line(text: str | None) -> str | None:
    """An error message with Simple's names of plain types, and the names of tensor types that Python's binding uses."""
    if text is None:
        return None
    named = re.sub(r"\bCPU(\w+)Type\b", r"torch.\1Tensor", text.strip().split("\n")[0])
    return re.sub(r"<class '(\w+)'>", lambda found: SIMPLES_TYPES.get(found[1], found[1]), named)


def changes() -> set[tuple[str, str]]:
    """Module and part prefix of each change in a later version than this one."""
    version = tuple(map(int, torch.__version__.split(".")[:2]))
    lines = [line.split("\t") for line in CHANGES.read_text().splitlines()[1:]]
    return {(name, part) for name, part, since, _ in lines if tuple(map(int, since.split("."))) > version}


CHANGED = changes()


def has_changed(case: Case, one: Difference) -> bool:
    return any(case.name == name and one.part.startswith(part) for name, part in CHANGED)


def compare(case: Case, tally: Tally, tolerances: dict[str, tuple[float, float]]) -> None:
    """Runs both; counts the case, and yields each difference that no tolerance of the module covers."""
    ours, expected = run_of(Ours(), case), run_of(Expected(), case)
    found = list(differences(ours, expected))
    tally.counts["inputs"] += 1
    if not found:
        tally.counts["rejected by both" if expected.error_message is not None else "bit-identical"] += 1
        return
    found = [one for one in found if not has_changed(case, one)]
    if not found:
        tally.counts["as in a later PyTorch"] += 1
        return
    tolerance = tolerance_of(case, tolerances)
    if tolerance is not None and all(one.is_within(*tolerance) for one in found):
        tally.counts["within tolerance"] += 1
        return
    tally.counts["different"] += 1
    tally.differing += [f"{case}: {one.part}: {one.what}" for one in found]


def tolerance_of(case: Case, tolerances: dict[str, tuple[float, float]]) -> tuple[float, float] | None:
    """The tolerance of the module, or of a keyword argument in a dtype: Module(argument) float16."""
    arguments = [f"{case.name}({key}) {str(case.dtype)[6:]}" for key, value in case.kwargs.items() if value is not None]
    return next((tolerances[name] for name in [*arguments, case.name] if name in tolerances), None)


def tolerances() -> dict[str, tuple[float, float]]:
    """Module, rtol, atol and the reason."""
    lines = [line.split("\t") for line in TOLERANCES.read_text().splitlines()[1:]]
    return {name: (float(rtol), float(atol)) for name, rtol, atol, _ in lines}
