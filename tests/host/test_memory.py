"""Cycles do not pile up: memory stays where it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs import is_sanitized, run

PROGRAM = """
use std.process.{rss_bytes}
class Node:
    other: Node? = nil
    items: [Node] = []
fn make_pair():
    val a = Node()
    val b = Node(other: a)
    a.items.push(b)
for _ in 0..50000: make_pair()
val resident = rss_bytes()
for _ in 0..500000: make_pair()
print rss_bytes() - resident
"""


@pytest.mark.skipif(is_sanitized(), reason="the sanitizer keeps freed memory for a while")
def test_a_million_objects_in_cycles_leave_memory_flat(tmp_path: Path) -> None:
    file = tmp_path / "cycles.spl"
    file.write_text(PROGRAM)
    done = run(file)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 8 * 1024 * 1024
