"""An interrupt ends the waits of the standard modules."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from programs import TIME_LIMIT_S, host

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
WAITS = {
    "a program": ("std.subprocess", 'subprocess.run(["sleep", "100"])'),
    "a mutex": ("std.sync", "val mutex = sync.Mutex()\nmutex.lock()\nmutex.lock()"),
    "a channel": ("std.sync", "sync.Channel().receive()"),
    "a pool": ("std.sync", "sync.ThreadPool(2).submit(\\: sync.Channel().receive()).result()"),
    "a server": ("std.http", 'http.serve(\\request: "x", port: 0)'),
    "an answer": ("std.http", 'val server = http.Server(\\r: "x")\nhttp.get("http://127.0.0.1:{server.port}/")'),
    "a database": ("std.sqlite", f'sqlite.connect(":memory:").execute("{ENDLESS}")'),
    "matches": ("std.regex", 'loop: regex.match("(a+)+$", "a" * 22 + "b")'),
}


@pytest.mark.parametrize("wait", WAITS)
def test_an_interrupt_ends_a_wait_for(tmp_path: Path, wait: str) -> None:
    module, code = WAITS[wait]
    program = tmp_path / "program.spl"
    program.write_text(f'use {module}\nuse std.host.{{rt_flush}}\nprint "ready"\nrt_flush()\n{code}\n')
    with subprocess.Popen(
        [host(), program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ}
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=TIME_LIMIT_S)
    assert running.returncode == 130, errors
