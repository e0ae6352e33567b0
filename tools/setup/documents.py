"""bin/simple docs: builds the documents as a site, or serves it while they are edited."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import system
from console import log, run, step
from environments import make_tools
from layout import REQUIREMENTS, ROOT, STATE

SITE = ROOT / "build" / "site"
TOOLS = STATE / "docs"
_LOCK = REQUIREMENTS / "docs.lock"


def build_site(out: Path) -> None:
    """Builds the site. A broken link, or a page that no menu has, raises SetupError."""
    mkdocs = mkdocs_command()
    with step(f"Site, into {out}"):
        run([*mkdocs, "build", "--strict", "--site-dir", out], cwd=ROOT, env=mkdocs_variables())
    log(f"open {out / 'index.html'} in a browser, or run bin/simple docs --serve")


def serve_site(port: int) -> int:
    """Replaces this process by the server, which builds the site again when a document changes."""
    command = [*mkdocs_command(), "serve", "--dev-addr", f"127.0.0.1:{port}", "--config-file", ROOT / "mkdocs.yml"]
    os.execve(command[0], [str(word) for word in command], mkdocs_variables())


def mkdocs_command() -> list[str | Path]:
    """The pinned mkdocs, in an environment of its own (0.14 GB). The first use installs it."""
    STATE.mkdir(exist_ok=True)
    # It needs a Python, and no other package of the system.
    machine = dataclasses.replace(system.inspect_machine(), missing=())
    plan = system.plan(machine, with_python=True)
    if plan.packages and not (TOOLS / "simple-lock").exists():
        with step("System packages"):
            system.install(plan.packages, is_root=machine.is_root)
    tools = make_tools(TOOLS, _LOCK, "mkdocs and its theme", plan.python)
    return [tools / "bin" / "python", "-B", "-m", "mkdocs"]


def mkdocs_variables() -> dict[str, str]:
    modules = f"{ROOT / 'tools'}:{ROOT / 'python'}"  # of the hooks, and the highlighting of code
    # The theme would print news about itself.
    return {**os.environ, "PYTHONPATH": modules, "NO_MKDOCS_2_WARNING": "1"}
