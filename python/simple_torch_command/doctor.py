"""`simple doctor`: reports what an installed package uses, and every fault with what to do."""

from __future__ import annotations

import re
import subprocess
import sys

from simple_torch_command.installation import NOT_BUILT, Installation, fault_of, find_torch, variables_for_host
from simple_torch_command.troubleshooting import Fault


def diagnose(installed: Installation) -> int:
    """Print the report; return 1 if there is a fault."""
    torch = find_torch()
    backends = ", ".join(installed.backends())
    print(f"Python    {sys.version.split()[0]}  {sys.executable}")
    print(f"torch     {f'{torch.version}  {torch.folder}' if torch else 'none'}")
    print(f"backends  {backends or 'none'}  {installed.folder / 'lib'}")
    fault = fault_of(installed, torch)
    started = None if fault else starts(installed)
    print(f"host      {started[1] if started and started[0] else installed.host}")
    if started and not started[0]:
        fault = fault_of_start(installed, started[1])
    if fault:
        print(f"fault: {fault}")
    return 1 if fault else 0


def starts(installed: Installation) -> tuple[bool, str]:
    """Run a line of code that uses PyTorch and Python. Return whether it succeeds, and what it prints."""
    code = 'use torch; use python as py; print "torch {torch.__version__} of Python {py.version()}"'
    try:
        done = subprocess.run(
            [installed.host, "-e", code],
            env=variables_for_host(find_torch()),
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:
        return False, str(error)
    printed = (done.stdout + done.stderr).strip()
    return done.returncode == 0, printed or f"exit code {done.returncode}"


def fault_of_start(installed: Installation, printed: str) -> Fault:
    """The message of the error that a program printed, and the entry that its hint names."""
    message = re.search(r"error: (.*)", printed)
    entry = re.search(r"hint: see `simple doctor ([\w-]+)`", printed)
    text = f"{installed.host} does not run a program: {message[1] if message else printed.splitlines()[-1]}"
    return Fault(text, entry[1] if entry else NOT_BUILT)
