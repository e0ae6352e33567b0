"""A Jupyter kernel in a process of its own, and what its cells output."""

from __future__ import annotations

import os
import re
import subprocess
import time
from dataclasses import dataclass, field
from queue import Empty
from typing import Any

from jupyter_client.manager import start_new_kernel

_SECONDS = 120  # a kernel that answers later than that is taken for one that hangs


@dataclass
class Outcome:
    """The messages of one cell."""

    streams: list[tuple[str, str]] = field(default_factory=list)
    data: list[dict[str, Any]] = field(default_factory=list)  # of the results and displays, in order; updated ones too
    displays: dict[str, int] = field(default_factory=dict)  # the place of a display by its id
    errors: list[dict[str, Any]] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    reply: dict[str, Any] = field(default_factory=dict)

    @property
    def out(self) -> str:
        return "".join(text for name, text in self.streams if name == "stdout")

    @property
    def err(self) -> str:
        return "".join(text for name, text in self.streams if name == "stderr")

    @property
    def text(self) -> str:
        """The text form of the only result."""
        (only,) = self.data
        return only["text/plain"]

    @property
    def html(self) -> str:
        (only,) = self.data
        return only["text/html"]

    @property
    def error(self) -> str:
        """The name of the only error."""
        (only,) = self.errors
        return only["ename"]

    @property
    def traceback(self) -> str:
        (only,) = self.errors
        return re.sub(r"\x1b\[[\d;]*m", "", "\n".join(only["traceback"]))


class Kernel:
    """A running kernel; leaving the block ends it."""

    def __init__(self, name: str) -> None:
        # pytest's variable would make ipykernel leave the file descriptors alone.
        environment = {key: value for key, value in os.environ.items() if key != "PYTEST_CURRENT_TEST"}
        self.manager, self.client = start_new_kernel(
            kernel_name=name, startup_timeout=_SECONDS, env=environment, stdout=subprocess.DEVNULL
        )

    def __enter__(self) -> Kernel:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def run(self, code: str, *, answer: str | None = None, silent: bool = False) -> Outcome:
        """Run a cell to its end. `answer` is the user's input."""
        return self.result_of(self.start(code, asks=answer is not None, silent=silent), answer)

    def start(self, code: str, *, asks: bool = False, silent: bool = False) -> str:
        """Start a cell; returns the id of the request."""
        return self.client.execute(code, allow_stdin=asks, silent=silent, stop_on_error=False)

    def result_of(self, request: str, answer: str | None = None) -> Outcome:
        """Collect the messages of a request until the kernel is idle again."""
        outcome = Outcome()
        deadline = time.monotonic() + _SECONDS
        while True:
            if answer is not None and self.client.stdin_channel.msg_ready():
                outcome.questions.append(self.client.get_stdin_msg()["content"]["prompt"])
                self.client.input(answer)
            message = self._next_output()
            if message is None:
                assert time.monotonic() < deadline, f"no end of the cell after {_SECONDS} s: {outcome}"
                assert self.manager.is_alive(), f"the kernel died: {outcome}"
                continue
            if message["parent_header"].get("msg_id") == request and _add(outcome, message):
                break
        outcome.reply = self.reply(request)
        return outcome

    def wait_for_output(self, request: str, text: str) -> None:
        """Wait until a running cell has printed a text."""
        printed = ""
        deadline = time.monotonic() + _SECONDS
        while text not in printed:
            assert time.monotonic() < deadline, f"the cell printed {printed!r}, not {text!r}"
            message = self._next_output()
            if message and message["parent_header"].get("msg_id") == request and message["msg_type"] == "stream":
                printed += message["content"]["text"]

    def interrupt(self) -> None:
        self.manager.interrupt_kernel()

    def ends(self) -> bool:
        """Whether the process ends by itself."""
        deadline = time.monotonic() + _SECONDS
        while self.manager.is_alive() and time.monotonic() < deadline:
            time.sleep(0.05)
        return not self.manager.is_alive()

    def complete(self, code: str) -> list[str]:
        """The completions at the end of the code; their replacements of what precedes."""
        content = self.reply(self.client.complete(code))
        assert content["status"] == "ok"
        return [code[: content["cursor_start"]] + each for each in content["matches"]]

    def inspect(self, code: str, position: int | None = None) -> str:
        content = self.reply(self.client.inspect(code, position))
        return re.sub(r"\x1b\[[\d;]*m", "", content["data"]["text/plain"]) if content["found"] else ""

    def reply(self, request: str) -> dict[str, Any]:
        while True:
            message = self.client.get_shell_msg(timeout=_SECONDS)
            if message["parent_header"].get("msg_id") == request:
                return message["content"]

    def _next_output(self) -> dict[str, Any] | None:
        try:
            return self.client.get_iopub_msg(timeout=0.05)
        except Empty:
            return None


def _add(outcome: Outcome, message: dict[str, Any]) -> bool:
    """Add a message; returns whether the kernel is idle."""
    kind, content = message["msg_type"], message["content"]
    shown = content.get("transient", {}).get("display_id")
    if kind == "stream":
        outcome.streams.append((content["name"], content["text"]))
    elif kind == "update_display_data":
        outcome.data[outcome.displays[shown]] = content["data"]
    elif kind in ("execute_result", "display_data"):
        if shown:
            outcome.displays[shown] = len(outcome.data)
        outcome.data.append(content["data"])
    elif kind == "error":
        outcome.errors.append(content)
    return kind == "status" and content["execution_state"] == "idle"
