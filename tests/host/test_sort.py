"""sort() and sorted() order values as Python does, and keep the order of equal elements."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from programs import TIME_LIMIT_S, host

Key = int | float | str | tuple["Key", ...]


def texts(rng: random.Random) -> str:
    """A text whose first eight bytes are often those of another one."""
    head = rng.choice(["", "a", "same 8 b", "same 8 bytes", "é", "日本語", "zz", "~"])
    return head + "".join(rng.choice("ab ~é日") for _ in range(rng.randrange(4)))


def floats(rng: random.Random) -> float:
    return rng.choice([0.0, -0.0, 1e308, -1e308, 5e-324, rng.uniform(-9, 9), float(rng.randrange(-3, 3))])


def integers(rng: random.Random) -> int:
    return rng.choice([0, 2**63 - 1, 1 - 2**63, rng.randrange(-9, 9), rng.randrange(-(2**40), 2**40)])


KINDS: dict[str, Callable[[random.Random], Key]] = {
    "texts": texts,
    "floats": floats,
    "integers": integers,
    "pairs of texts and integers": lambda rng: (texts(rng), integers(rng)),
    "pairs of small integers and texts": lambda rng: (rng.randrange(-2, 3), texts(rng)),
    "tuples of different lengths": lambda rng: (floats(rng),) * rng.randrange(1, 4),
    "integers and floats": lambda rng: rng.choice([integers, floats])(rng),
    "pairs that begin with integers or floats": lambda rng: (rng.choice([rng.randrange(9), floats(rng)]), texts(rng)),
}


def literal(key: Key) -> str:
    if isinstance(key, tuple):
        return "(" + "".join(literal(part) + ", " for part in key) + ")"
    return '"' + key + '"' if isinstance(key, str) else repr(key)


def order_of(folder: Path, keys: list[Key], options: str) -> list[int]:
    program = folder / "program.spl"
    rows = ",\n".join(f"    ({literal(key)}, {i})" for i, key in enumerate(keys))
    program.write_text(f"val rows = [\n{rows}\n]\nfor r in rows.sorted({options}):\n    print r[1]\n", encoding="utf-8")
    ended = subprocess.run([host(), program], capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False)
    assert ended.stderr == ""
    return [int(line) for line in ended.stdout.split()]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 1000])
def test_the_order_is_pythons(tmp_path: Path, kind: str, count: int) -> None:
    rng = random.Random(f"{kind} {count}")
    keys = [KINDS[kind](rng) for _ in range(count)]
    expected = sorted(range(count), key=lambda i: keys[i])
    assert order_of(tmp_path, keys, "key: \\r: r[0]") == expected
    backwards = sorted(range(count), key=lambda i: keys[i], reverse=True)
    assert order_of(tmp_path, keys, "key: \\r: r[0], reverse: true") == backwards
