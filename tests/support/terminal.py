"""Console blocks of documents: their commands run in one folder, and print what the block shows."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The documents show requests by curl, which a machine may lack.
_CURL = """#!{python}
import sys, urllib.error, urllib.request
words = sys.argv[1:]
body = words[words.index("-d") + 1].encode() if "-d" in words else None
try:
    with urllib.request.urlopen(words[-1], body, timeout=60) as reply:
        print(reply.read().decode())
except urllib.error.HTTPError as error:
    print(error.read().decode())
"""


def steps_of(page: Path) -> list[tuple[str, str]]:
    """The blocks of a page: ("console", commands with their output) and ("simple", a file)."""
    return re.findall(r"^```(console|simple)\n(.*?)^```$", page.read_text(), re.S | re.M)


def commands_of(block: str) -> list[tuple[str, str]]:
    """The commands of a block, each with the output that follows it."""
    return re.findall(r"^\$ ([^\n]*)\n((?:(?!\$ ).*\n)*)", block, re.M)


class Terminal:
    """A shell in which `simple` is the command of this checkout. `cd` lasts, and `&` starts a server.

    A server's port in the document becomes a free one. Leaving the `with` block stops the servers.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._servers: list[subprocess.Popen[str]] = []
        self._ports: dict[str, str] = {}
        commands = folder / "bin"
        commands.mkdir()
        self._install(commands / "simple", f'#!/bin/sh\nexec {ROOT}/bin/simple "$@"\n')
        self._install(commands / "curl", _CURL.format(python=sys.executable))
        self._variables = {**os.environ, "PATH": f"{commands}:{os.environ['PATH']}"}

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_failure: object) -> None:
        for server in self._servers:
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=60)

    def run(self, command: str) -> str:
        """What a command prints to both streams, with the document's ports."""
        if command.startswith("cd "):
            self.folder /= command.removeprefix("cd ")
            return ""
        if command.endswith(" &"):
            return self._with_ports_of_document(self._start(command.removesuffix(" &")))
        done = subprocess.run(
            ["sh", "-c", self._with_free_ports(command)],
            cwd=self.folder,
            env=self._variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=600,
        )
        return self._with_ports_of_document(done.stdout)

    def write(self, program: str) -> None:
        """Writes a block that begins with the name of its file."""
        name = re.match(r"# (\w+\.spl)\n", program)
        assert name is not None, f"the block does not begin with its file:\n{program}"
        (self.folder / name[1]).write_text(program)

    def _start(self, command: str) -> str:
        for port in re.findall(r"--port (\d+)", command):
            with socket.create_server(("127.0.0.1", 0)) as free:
                self._ports[port] = str(free.getsockname()[1])
        words = ["sh", "-c", f"exec {self._with_free_ports(command)}"]
        server = subprocess.Popen(words, cwd=self.folder, env=self._variables, stdout=subprocess.PIPE, text=True)
        self._servers.append(server)
        return server.stdout.readline()

    def _with_free_ports(self, command: str) -> str:
        for shown, free in self._ports.items():
            command = command.replace(shown, free)
        return command

    def _with_ports_of_document(self, output: str) -> str:
        for shown, free in self._ports.items():
            output = output.replace(free, shown)
        return output

    @staticmethod
    def _install(file: Path, text: str) -> None:
        file.write_text(text)
        file.chmod(0o755)
