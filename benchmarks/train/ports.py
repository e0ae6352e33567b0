"""Times the ported programs of tests/ports in Python and in Simple alternately and prints Simple's relative speed.

    SIMPLE_HOST=build/release/bin/simple-host python3 benchmarks/train/ports.py [NAME...] [--rounds N]

A round runs the whole program once in each process: its definitions, its training and its evaluation. In Simple each
round is a copy of the program, loaded as a module of its own. Both processes stay, so that the start of PyTorch does
not count. Both run on one processor, in turns. Times are processor times; a row shows the medians and Python /
Simple: above 1, Simple is faster. A row that misses its goal ends with MISSED.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import torch

PROGRAMS = Path(__file__).parents[2] / "tests/ports/programs"
GOAL, MEAN_GOAL = 1.0, 1.3  # Python / Simple: each program, and the geometric mean
WARM_UPS = 2

DRIVER = """use std.time.{now_ns}
use torch
torch.set_num_threads(1)
"""


class Simple:
    """A host that loads the copies of a program on request."""

    def __init__(self, host: str, program: Path, copies: int, folder: Path) -> None:
        lines = [DRIVER]
        for i in range(copies):
            # A module that is loaded by another one is not the main one.
            text = program.read_text().replace('if __name__ == "__main__":', "if true:")
            (folder / f"copy_{i}.spl").write_text(text)
            lines.append(f"fn run_{i}():\n    use copy_{i}\n")
        lines += [f'input("")\nrun_{i}()\nprint "done"' for i in range(copies)]
        driver = folder / "driver.spl"
        driver.write_text("\n".join(lines))
        variables = {**os.environ, "OMP_NUM_THREADS": "1"}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "cwd": folder}
        self.process = subprocess.Popen([host, str(driver)], text=True, env=variables, **pipes)

    def processor_time(self) -> float:
        # Linux's clock id of another process.
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def run(self) -> tuple[float, int]:
        """The seconds that a run took, and the number of lines that it printed."""
        before = self.processor_time()
        print(file=self.process.stdin, flush=True)
        for count, line in enumerate(self.process.stdout):
            if line == "done\n":
                return self.processor_time() - before, count
        sys.exit("the program failed in Simple")

    def end(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def run_in_python(program: Path, folder: Path) -> tuple[float, int]:
    """The seconds that a run took, and the number of lines that it printed."""
    os.chdir(folder)
    sys.argv = [str(program)]  # programs parse it
    before = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()) as printed, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(program.read_text(), str(program), "exec"), {"__name__": "__main__"})
    return time.process_time() - before, printed.getvalue().count("\n")


def measure(host: str, name: str, rounds: int) -> tuple[float, float]:
    """Medians of a program in ms: Simple, Python."""
    theirs, ours = [], []
    with tempfile.TemporaryDirectory() as scratch:
        folders = [Path(scratch) / "simple", Path(scratch) / "python"]
        for folder in folders:
            folder.mkdir()
        simple = Simple(host, PROGRAMS / f"{name}.spl", rounds + WARM_UPS, folders[0])
        for i in range(rounds + WARM_UPS):
            their_time, their_lines = run_in_python(PROGRAMS / f"{name}.py", folders[1])
            our_time, our_lines = simple.run()
            if our_lines != their_lines:
                sys.exit(f"{name} printed {our_lines} lines in Simple and {their_lines} in Python")
            if i >= WARM_UPS:
                theirs.append(their_time * 1000)
                ours.append(our_time * 1000)
        simple.end()
        os.chdir("/")
    return statistics.median(ours), statistics.median(theirs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="programs; all without any")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    host = str(Path(os.environ["SIMPLE_HOST"]).resolve())
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # of both processes, which run in turns
    torch.set_num_threads(1)
    names = options.names or sorted(path.stem for path in PROGRAMS.glob("*.py"))
    print(f"{'program':28}{'Simple, ms':>12}{'Python, ms':>12}{'ratio':>8}")
    ratios, missed = [], 0
    for name in names:
        ours, theirs = measure(host, name, options.rounds)
        ratios.append(theirs / ours)
        missed += theirs / ours < GOAL
        verdict = "  MISSED" if theirs / ours < GOAL else ""
        print(f"{name:28}{ours:12.1f}{theirs:12.1f}{theirs / ours:8.2f}{verdict}", flush=True)
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    print(f"geometric mean {mean:.2f} (goal {MEAN_GOAL}), {missed} of {len(ratios)} programs below {GOAL}")


if __name__ == "__main__":
    main()
