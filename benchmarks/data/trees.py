"""What a process and those that it started take, by what Linux tells of them."""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path

BETWEEN = 0.02  # seconds from one look to the next


def tree_of(pid: int) -> list[int]:
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # a thread that has ended meanwhile
            for child in task.read_text().split():
                found += tree_of(int(child))
    return found


def processor_time(pid: int) -> float:
    """Seconds of processor time of the processes that live."""
    # Linux numbers the clocks of other processes so.
    return sum(time.clock_gettime((~process << 3) | 2) for process in tree_of(pid))


def memory(pid: int) -> int:
    """Bytes of the processes that live; a page that n processes share counts as an n-th of one in each (PSS)."""
    found = 0
    for process in tree_of(pid):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    found += int(line.split()[1]) * 1024
    return found


class PeakOfTree:
    """The most memory that the tree is seen to have while this is entered."""

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
