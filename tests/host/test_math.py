"""std.math against Python's math: the same numbers, to the last bits."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

from programs import run

ONE = ["cbrt", "exp2", "expm1", "log1p", "asinh", "acosh", "atanh", "erfc", "gamma", "lgamma", "isqrt", "modf", "fsum"]
TWO = ["copysign", "nextafter", "remainder", "lcm", "perm", "dist"]
INTEGERS = {"isqrt": 2**62, "lcm": 10**6, "perm": 15}
VALUES = [0.0, -0.0, 0.5, 1.0, 1e-9, -0.25, 3.75, -2.5, 20.0, 170.5]


def argument(source: random.Random, name: str) -> Any:
    if name in INTEGERS:
        root = source.randrange(1, 2**31)
        return source.choice([source.randrange(INTEGERS[name]), root**2 if name == "isqrt" else 3])
    if name == "dist":
        return [source.uniform(-5, 5) for _ in range(3)]
    if name == "fsum":
        return [source.uniform(-1, 1) * 10.0 ** source.randrange(-20, 20) for _ in range(source.randrange(9))]
    return source.choice([*VALUES, source.uniform(-30, 30)])


def answer(name: str, arguments: list[Any]) -> Any:
    try:
        found = getattr(math, name)(*arguments)
    except (ValueError, OverflowError):
        return None
    return list(found) if isinstance(found, tuple) else found


def test_functions_return_pythons_values(tmp_path: Path) -> None:
    source = random.Random(5)
    questions = []
    while len(questions) < 3000:
        name = source.choice(ONE + TWO)
        arguments = [argument(source, name) for _ in range(1 + (name in TWO))]
        if answer(name, arguments) is not None:
            questions.append([name, arguments])
    program = tmp_path / "program.spl"
    cases = [f'        case "{name}": math.{name}({", ".join(["a..."])})' for name in ONE + TWO]
    program.write_text(
        "use std.json\nuse std.math\nfn answer(name, a):\n    match name:\n"
        + "\n".join(cases)
        + '\nprint json.dumps([for (name, a) in json.load("questions.json"): answer(name, a)])\n'
    )
    (tmp_path / "questions.json").write_text(json.dumps(questions))
    result = run(program, folder=tmp_path)
    assert result.returncode == 0, result.stderr
    for (name, arguments), found in zip(questions, json.loads(result.stdout), strict=True):
        wanted = answer(name, arguments)
        if name in ("gamma", "lgamma", "cbrt", "dist"):  # Python has its own algorithms for these
            assert found == pytest.approx(wanted, rel=1e-13, abs=1e-15), (name, arguments)
        else:
            assert found == wanted, (name, arguments)
            assert math.copysign(1, found if name != "modf" else found[0]) == math.copysign(
                1, wanted if name != "modf" else wanted[0]
            ), (name, arguments)


@pytest.mark.parametrize("call", ["isqrt(-1)", "gamma(0)", "gamma(-2.0)", "dist([1], [1, 2])"])
def test_arguments_outside_the_domain_are_an_error(call: str) -> None:
    result = run("-e", f"use std.math\nprint math.{call}")
    assert result.returncode == 1
    assert "math." + call.split("(")[0] + ": " in result.stderr


def test_choices_are_exact_or_an_error(tmp_path: Path) -> None:
    pairs = [(n, k) for n in range(0, 68, 3) for k in range(0, n + 2, 5)]
    program = tmp_path / "program.spl"
    calls = "\n".join(f'print(attempt(\\: math.{f}({n}, {k})) ?? "error")' for n, k in pairs for f in ("comb", "perm"))
    program.write_text(f"use std.math\n{calls}\n")
    exact = [f(n, k) for n, k in pairs for f in (math.comb, math.perm)]
    assert run(program).stdout.split() == [str(value) if value < 2**63 else "error" for value in exact]
