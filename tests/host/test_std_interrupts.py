"""An interrupt ends the waits of the standard modules."""

from __future__ import annotations

import json
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
    "an actor": (
        "std.actors",
        "val mailbox = actors.Mailbox()\nawait actors.actor_spawn(\\_: mailbox.receive()).ask(1)",
    ),
    "the end of an actor": ("std.actors", "actors.actor_spawn(\\n: n).join()"),
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


@pytest.mark.parametrize("mode", ["r", "w"])
def test_an_interrupt_ends_the_wait_for_the_other_end_of_a_fifo(tmp_path: Path, mode: str) -> None:
    os.mkfifo(tmp_path / "fifo")
    program = tmp_path / "program.spl"
    program.write_text(
        f'use std.io\nuse std.host.{{rt_flush}}\nprint "ready"\nrt_flush()\nio.open("{tmp_path}/fifo", "{mode}")\n'
    )
    with subprocess.Popen([host(), program], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=TIME_LIMIT_S) == 130


def test_a_fifo_is_read_when_its_other_end_opens(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    program = tmp_path / "program.spl"
    program.write_text(f'use std.io\nprint io.open("{tmp_path}/fifo").read()\n')
    with subprocess.Popen([host(), program], stdout=subprocess.PIPE, text=True) as running:
        (tmp_path / "fifo").write_text("over there")
        output, _ = running.communicate(timeout=TIME_LIMIT_S)
    assert output == "over there\n"


def test_an_interrupt_ends_the_tokenization_of_many_texts(tmp_path: Path) -> None:
    words = {"[UNK]": 0, "a": 1, "b": 2}
    model = {"type": "WordLevel", "vocab": words, "unk_token": "[UNK]"}
    document = {"version": "1.0", "added_tokens": [], "pre_tokenizer": {"type": "Whitespace"}, "model": model}
    (tmp_path / "tokenizer.json").write_text(json.dumps(document))
    program = tmp_path / "program.spl"
    program.write_text(
        "use text.tokenizers.{Tokenizer}\nuse std.host.{rt_flush}\n"
        f'val tokenizer = Tokenizer.from_file("{tmp_path}/tokenizer.json")\nval texts = ["a b c " * 5000] * 20000\n'
        'print tokenizer.encode("a b").ids()\nrt_flush()\ntokenizer.encode_batch(texts)\nprint "the end"\n'
    )
    with subprocess.Popen([host(), program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "[1, 2]\n"
        running.send_signal(signal.SIGINT)
        output, errors = running.communicate(timeout=TIME_LIMIT_S)
    assert (running.returncode, output) == (130, ""), errors
