"""bin/simple bench runs every benchmark, and reports those that fail without a traceback."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def program(folder: Path, name: str, code: str) -> Path:
    path = folder / name
    path.write_text(code)
    return path


def test_a_failing_benchmark_is_named_and_the_others_run(commands, tmp_path, monkeypatch, capfd):
    programs = [
        program(tmp_path, "first.py", "raise SystemExit(3)"),
        program(tmp_path, "second.py", "print('measured')"),
    ]
    monkeypatch.setattr(commands, "ROOT", tmp_path)
    monkeypatch.setattr(commands, "benchmarks", lambda: programs)
    assert commands.run_benchmarks(Path(sys.executable), dict(os.environ)) == 1
    out, err = capfd.readouterr()
    assert "measured" in out
    assert err == "failed: first.py (exit code 3)\n"


def test_without_failures_it_succeeds(commands, tmp_path, monkeypatch):
    monkeypatch.setattr(commands, "ROOT", tmp_path)
    monkeypatch.setattr(commands, "benchmarks", lambda: [program(tmp_path, "only.py", "")])
    assert commands.run_benchmarks(Path(sys.executable), dict(os.environ)) == 0
