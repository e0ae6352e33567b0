"""Runs mutants of the conformance programs on the host: none may crash it, hang, or take more than 1 GB of memory.

    SIMPLE_HOST=build/release/bin/simple-host python3 tests/support/fuzz_programs.py --cpu-seconds 1800
    SIMPLE_HOST=build/release/bin/simple-host python3 tests/support/fuzz_programs.py --programs faults/0.spl

A mutant may loop forever. It must then end within 5 s of the processor after an interrupt, which comes after 5 s, or
once it has stored 256 MB: a loop that stores without end stays below the limit, as every program must. Programs that
reach files, processes or the network are left out. Each fault is written to --faults.

The peak memory of a child includes the memory of its parent at the fork. The parent is therefore this small process,
and never a process that has loaded large libraries.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
FOLDERS = ["conformance", "host/lang", "host/syntax/corpus", "upstream/programs"]
# What marks programs whose mutants could change the machine, or wait for input.
_UNSAFE = re.compile(
    r"\b(extern|use|import|from|mod|input|exit|rt_\w+|fs|process|subprocess|socket|http|open|environment|folder)\b"
)
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_EDGES = [
    "0", "-1", "1", "9223372036854775807", "-9223372036854775808", "1e308", "0.0", '""', "nil", "[]", "{}", "()",
    "self", "255u8", "true", "1..0", "(1, 2)", '"é"', "\\x: x", "_", "@", "**", "..", "?", "??", ":", "=>", "|",
    "f", "print",
]  # fmt: skip
MEMORY_LIMIT_KB = 1 << 20
INTERRUPT_KB = MEMORY_LIMIT_KB // 4  # an array that grows by doubling has three times its size for a moment
ADDRESS_SPACE = 4 << 30  # more than the limit, which it must not reach by far
TIME_LIMIT_S = 5.0  # of the processor, so that other programs of the machine do not matter
WAIT_LIMIT_S = 20.0  # of the clock, for a program that waits


def corpus() -> list[str]:
    """The texts of the programs whose mutants are harmless."""
    files = sorted(file for folder in FOLDERS for file in (TESTS / folder).rglob("*.spl"))
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in files]
    return [text for text in texts if not _UNSAFE.search(text)]


class Mutator:
    """Deterministic mutation of programs by lines and tokens."""

    def __init__(self, programs: list[str], seed: int) -> None:
        self.programs = programs
        self.random = random.Random(seed)

    def next(self) -> str:
        text = self.random.choice(self.programs)
        for _ in range(self.random.randint(1, 4)):
            text = self.random.choice([self._tokens, self._tokens, self._lines, self._splice, self._bytes])(text)
        return text

    def _tokens(self, text: str) -> str:
        tokens = _TOKEN.findall(text)
        if not tokens:
            return text
        at = self.random.randrange(len(tokens))
        change = self.random.randrange(5)
        if change == 0:
            del tokens[at]
        elif change == 1:
            tokens[at] = self.random.choice(_EDGES)
        elif change == 2:
            other = self.random.randrange(len(tokens))
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif change == 3:
            tokens[at:at] = [tokens[at]] * self.random.choice([1, 2, 30])
        else:
            tokens[at] = self.random.choice(tokens)
        return "".join(tokens)

    def _lines(self, text: str) -> str:
        lines = text.split("\n")
        at = self.random.randrange(len(lines))
        change = self.random.randrange(4)
        if change == 0:
            del lines[at]
        elif change == 1:
            lines.insert(self.random.randrange(len(lines) + 1), lines[at])
        elif change == 2:
            lines[at] = " " * self.random.choice([1, 2, 4, 8]) + lines[at]
        else:
            lines[at] = lines[at].lstrip()
        return "\n".join(lines)

    def _splice(self, text: str) -> str:
        lines, others = text.split("\n"), self.random.choice(self.programs).split("\n")
        start = self.random.randrange(len(others))
        at = self.random.randrange(len(lines) + 1)
        lines[at:at] = others[start : start + self.random.randint(1, 6)]
        return "\n".join(lines)

    def _bytes(self, text: str) -> str:
        at = self.random.randrange(len(text) + 1)
        return text[:at] + chr(self.random.choice([0, 9, 34, 92, 123, 125, 0x7F, 0x20AC, 0x1F600])) + text[at + 1 :]


@dataclass
class Report:
    """What a run did."""

    mutants: int = 0
    interrupted: int = 0
    peak_kb: int = 0
    cpu_s: float = 0.0
    faults: list[str] = field(default_factory=list)


def limit_resources() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    signal.signal(signal.SIGINT, signal.default_int_handler)


def cpu_seconds(pid: int) -> float:
    """The time of the processor that the process, which was not waited for, has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_kb(pid: int) -> int:
    """The memory that the process, which was not waited for, has at present."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize() // 1024


class Runner:
    """Runs programs in a folder of their own, and writes each that is at fault to the folder of faults."""

    def __init__(self, host: str, folder: Path, faults: Path) -> None:
        self.host = host
        self.folder = folder
        self.faults = faults
        self.report = Report()

    def run(self, text: str) -> None:
        program = self.folder / "mutant.spl"
        program.write_text(text, encoding="utf-8", errors="surrogatepass")
        process = subprocess.Popen(
            [self.host, str(program)], cwd=self.folder, preexec_fn=limit_resources,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        status, usage = self._wait(process.pid)
        process.returncode = 0  # it was waited for
        self.report.mutants += 1
        self.report.cpu_s += usage.ru_utime + usage.ru_stime
        self.report.peak_kb = max(self.report.peak_kb, usage.ru_maxrss)
        if status is None:
            self._fault("hang: no end within 5 s after an interrupt", text)
        elif os.WIFSIGNALED(status):
            self._fault(f"crash: signal {os.WTERMSIG(status)}", text)
        elif usage.ru_maxrss > MEMORY_LIMIT_KB:
            self._fault(f"memory: {usage.ru_maxrss} KB", text)

    def _wait(self, pid: int) -> tuple[int | None, resource.struct_rusage]:
        """The status and the usage of the process; no status if only SIGKILL ended it."""
        for step, signal_number in enumerate((None, signal.SIGINT, signal.SIGKILL)):
            if signal_number is not None:
                self.report.interrupted += signal_number == signal.SIGINT
                os.kill(pid, signal_number)
            start, start_cpu = time.monotonic(), cpu_seconds(pid)
            pause = 0.001
            while cpu_seconds(pid) - start_cpu < TIME_LIMIT_S and time.monotonic() - start < WAIT_LIMIT_S:
                done, status, usage = os.wait4(pid, os.WNOHANG)
                if done:
                    return (None if step == 2 else status), usage
                if step == 0 and resident_kb(pid) > INTERRUPT_KB:
                    break
                time.sleep(pause)
                pause = min(pause * 1.5, 0.01)
        _, _, usage = os.wait4(pid, 0)
        return None, usage

    def _fault(self, what: str, text: str) -> None:
        self.faults.mkdir(exist_ok=True)
        file = self.faults / f"{len(self.report.faults)}.spl"
        file.write_text(f"# {what}\n{text}", encoding="utf-8", errors="surrogatepass")
        self.report.faults.append(what)
        print(f"  {file}: {what}", flush=True)


def fuzz(runner: Runner, mutator: Mutator, cpu_seconds: float, least: int) -> None:
    """Runs mutants until they have taken this much time of a processor, and at least that many.

    One that loops forever takes seconds.
    """
    while runner.report.cpu_s < cpu_seconds or runner.report.mutants < least:
        runner.run(mutator.next())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu-seconds", type=float, default=60.0)
    parser.add_argument("--least", type=int, default=0, help="run at least this many mutants")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--faults", type=Path, default=Path("faults"))
    parser.add_argument("--programs", type=Path, nargs="+", help="run these programs as they are, and no mutants")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(os.environ["SIMPLE_HOST"], Path(folder), options.faults)
        if options.programs:
            for program in options.programs:
                runner.run(program.read_text(encoding="utf-8", errors="surrogatepass"))
        else:
            fuzz(runner, Mutator(corpus(), options.seed), options.cpu_seconds, options.least)
    report = runner.report
    print(
        f"{report.mutants} programs, {report.cpu_s:.0f} CPU s, {report.interrupted} interrupted, "
        f"peak {report.peak_kb // 1024} MB, {len(report.faults)} faults"
    )
    return 1 if report.faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
