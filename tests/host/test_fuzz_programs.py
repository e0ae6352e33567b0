"""Mutants of programs do not crash the host, hang it, or fill the memory; 30 CPU minutes in the long tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from programs import host

LONG = os.environ.get("SIMPLE_LONG_TESTS") == "1"
SCRIPT = Path(__file__).parents[1] / "support" / "fuzz_programs.py"


def run_fuzzer(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Runs the fuzzer in a process of its own: its children must not inherit the peak memory of this one."""
    command = [sys.executable, str(SCRIPT), "--faults", str(folder / "faults"), *options]
    environment = os.environ | {"SIMPLE_HOST": host()}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_mutants_neither_crash_nor_hang_nor_fill_the_memory(tmp_path: Path) -> None:
    least = 10_000 if LONG else 100
    run = run_fuzzer(tmp_path, "--cpu-seconds", "1800" if LONG else "3", "--least", str(least))
    assert run.returncode == 0, run.stdout + run.stderr
    count = re.match(r"(\d+) programs", run.stdout)
    assert count is not None, run.stdout + run.stderr
    assert int(count[1]) >= least
    assert run.stdout.endswith(" 0 faults\n")


def test_a_program_that_fills_the_memory_is_a_fault(tmp_path: Path) -> None:
    program = tmp_path / "hungry.spl"
    program.write_text('val text = "x" * 1_200_000_000\n', encoding="utf-8")
    run = run_fuzzer(tmp_path, "--programs", str(program))
    assert run.returncode == 1, run.stdout + run.stderr
    assert re.search(r"memory: 1\d{6} KB", run.stdout), run.stdout
    assert (tmp_path / "faults" / "0.spl").read_text(encoding="utf-8").startswith("# memory: ")


def test_a_loop_that_stores_without_end_is_interrupted_below_the_limit(tmp_path: Path) -> None:
    program = tmp_path / "endless.spl"
    program.write_text("var items = []\nloop: items.push([1])\n", encoding="utf-8")
    run = run_fuzzer(tmp_path, "--programs", str(program))
    assert run.returncode == 0, run.stdout + run.stderr
    peak = re.search(r" 1 interrupted, peak (\d+) MB", run.stdout)
    assert peak is not None, run.stdout
    assert 256 <= int(peak[1]) < 1024


def test_an_interrupt_does_not_excuse_the_memory_of_a_program(tmp_path: Path) -> None:
    program = tmp_path / "endless.spl"
    program.write_text('val text = "x" * 1_200_000_000\nloop: pass\n', encoding="utf-8")
    run = run_fuzzer(tmp_path, "--programs", str(program))
    assert run.returncode == 1, run.stdout + run.stderr
    assert re.search(r"memory: 1\d{6} KB", run.stdout), run.stdout


def test_a_large_parent_does_not_count_as_the_memory_of_a_program(tmp_path: Path) -> None:
    program = tmp_path / "small.spl"
    program.write_text("print 1\n", encoding="utf-8")
    assert len(bytearray(b"x" * (256 << 20))) == 256 << 20  # makes this process large, as loaded libraries do
    run = run_fuzzer(tmp_path, "--programs", str(program))
    peak = re.search(r"peak (\d+) MB, 0 faults", run.stdout)
    assert peak is not None, run.stdout + run.stderr
    assert int(peak[1]) < 256
