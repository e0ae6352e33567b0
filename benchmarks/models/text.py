"""Runs native text models and those of transformers alternately, and prints Simple's speed relative to Python's.

    SIMPLE_HOST=build/release/bin/simple-host python3 benchmarks/models/text.py [NAME...] [--rounds N]

Each pair of programs (text_programs.spl and .py) has the same weights, inputs and one thread; the tokens are equal, or
the program ends with an error. Tokens, or batches of sentences, are counted per second of processor time, so that other
work on the machine has little effect; "by clock" is the ratio of wall-clock times. Both use the minimum of the rounds.
A goal is the smallest accepted ratio; a row that misses it ends with MISSED. The last two columns are the memory of the
processes after the last round; Simple's must not grow by more than 2 MB in the second half of the rounds.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent / "train"))
from run import Trainer  # noqa: E402

ALLOWED_GROWTH = 2 << 20


@dataclass
class Row:
    arguments: str
    goal: float
    count: int  # tokens, or batches, of one round
    rounds: int


ROWS = [
    Row("gpt2-tiny", 1.5, 100, 20),
    Row("gpt2-tiny sample", 1.5, 100, 20),
    Row("llama-tiny", 1.5, 100, 20),
    Row("llama-tiny sample", 1.5, 100, 20),
    Row("gpt2", 1.0, 16, 8),
    Row("llama", 1.0, 16, 8),
    Row("gpt2 forward", 1.1, 4, 12),
    Row("llama forward", 1.0, 4, 12),
    Row("minilm-1", 1.1, 20, 20),
    Row("minilm-32", 1.0, 2, 10),
]


def resident_bytes(program: Trainer) -> int:
    """The memory of a process, without files that it maps."""
    for line in Path(f"/proc/{program.process.pid}/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) * 1024
    raise KeyError("RssAnon")


def compare(row: Row, host: str, rounds: int) -> None:
    arguments = row.arguments.split()
    theirs = Trainer([sys.executable, str(FOLDER / "text_programs.py"), *arguments])
    ours = Trainer([host, str(FOLDER / "text_programs.spl"), *arguments])
    early = 0
    for number in range(rounds):
        for program in (theirs, ours):
            program.train(row.count)
        if number == rounds // 2:
            early = resident_bytes(ours)
    memory = [resident_bytes(program) for program in (theirs, ours)]
    for program in (theirs, ours):
        program.end()
    ratio = theirs.processor / ours.processor
    verdict = "" if ratio >= row.goal else "  MISSED"
    print(
        f"{row.arguments:<18}{1 / theirs.processor:10.1f}{1 / ours.processor:10.1f}{ratio:8.2f}{row.goal:8.2f}"
        f"{theirs.clock / ours.clock:10.2f}{memory[0] / 2**20:10.0f}{memory[1] / 2**20:10.0f}{verdict}",
        flush=True,
    )
    if not math.isclose(theirs.loss, ours.loss, rel_tol=1e-6):
        sys.exit(f"{row.arguments}: the results differ: {theirs.loss} in Python, {ours.loss} in Simple")
    if early and memory[1] > early + ALLOWED_GROWTH:
        sys.exit(f"{row.arguments}: the memory grew from {early} to {memory[1]} bytes")


def main() -> None:
    parser = argparse.ArgumentParser(description="Native text models against transformers.")
    parser.add_argument("names", nargs="*", help="models; all without any")
    parser.add_argument("--rounds", type=int, help="of each row; its own number without")
    options = parser.parse_args()
    host = os.environ.get("SIMPLE_HOST")
    if not host:
        sys.exit("SIMPLE_HOST does not name the host's executable")
    print(f"{'per second':<18}{'Python':>10}{'Simple':>10}{'ratio':>8}{'goal':>8}{'by clock':>10}{'MB':>10}{'MB':>10}")
    for row in ROWS:
        if not options.names or row.arguments.split()[0] in options.names:
            compare(row, host, options.rounds or row.rounds)


if __name__ == "__main__":
    main()
