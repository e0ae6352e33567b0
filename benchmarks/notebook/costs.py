"""Measures what notebooks add: `%load_ext simple_torch` after torch is imported, and an empty Simple cell.

    SIMPLE_BUILD=build/release .simple/torch-2.15/bin/python benchmarks/notebook/costs.py

The first is one measurement in a new process. The second is the median of 300 cells that an IPython shell runs, without
that of an empty Python cell, in a notebook with few variables and in one with 200. A row that misses its goal ends
with MISSED.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
GOALS_MS = {"load_ext": 500.0, "empty-cell": 2.0, "empty-cell-200-variables": 2.0}
CELLS = 300


def measure() -> None:
    """Print a name and milliseconds a line."""
    import torch  # noqa: F401
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    start = time.perf_counter()
    shell.run_line_magic("load_ext", "simple_torch")
    print("load_ext", (time.perf_counter() - start) * 1000)
    print("empty-cell", cell_ms(shell, "%%simple\nnil") - cell_ms(shell, "None"))
    shell.user_ns.update({f"variable_{i}": [i] for i in range(200)})
    print("empty-cell-200-variables", cell_ms(shell, "%%simple\nnil") - cell_ms(shell, "None"))


def cell_ms(shell, source: str) -> float:
    times = []
    for _ in range(CELLS):
        start = time.perf_counter()
        shell.run_cell(source)
        times.append(time.perf_counter() - start)
    return median(times) * 1000


def main() -> int:
    environment = {**os.environ, "IPYTHONDIR": os.environ.get("IPYTHONDIR", "/tmp/simple-benchmark-ipython")}
    done = subprocess.run(
        [sys.executable, __file__, "measure"], env=environment, capture_output=True, text=True, check=True
    )
    missed = 0
    for line in done.stdout.splitlines():
        name, value = line.split()
        is_late = float(value) > GOALS_MS[name]
        missed += is_late
        print(f"{name:<28}{float(value):>9.3f} ms  at most {GOALS_MS[name]:.0f} ms{'  MISSED' if is_late else ''}")
    return 1 if missed else 0


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        sys.exit(print(__doc__))
    if sys.argv[1:] == ["measure"]:
        measure()
    else:
        sys.exit(main())
