"""Measures the processor time and memory of a process and its children, from Linux's /proc."""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path

BETWEEN = 0.02  # seconds between samples


def tree_of(pid: int) -> list[int]:
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # a thread that ended in the meantime
            for child in task.read_text().split():
                found += tree_of(int(child))
    return found


def processor_time(pid: int) -> float:
    """Seconds of processor time of the live processes."""
    # Linux's clock id of another process.
    return sum(time.clock_gettime((~process << 3) | 2) for process in tree_of(pid))


def memory(pid: int) -> int:
    """Bytes of the live processes; a page that n processes share counts as 1/n in each (PSS)."""
    found = 0
    for process in tree_of(pid):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    found += int(line.split()[1]) * 1024
    return found


class PeakOfTree:
    """The largest sampled memory of the tree inside this context."""

    def __init__(self, pid: int) -> None:
        self.bytes = 0
        self._pid = pid
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def _watch(self) -> None:
        while not self._is_over.wait(BETWEEN):
            self.bytes = max(self.bytes, memory(self._pid))

    def __enter__(self) -> PeakOfTree:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bytes = max(self.bytes, memory(self._pid))
        self._is_over.set()
        self._thread.join()
