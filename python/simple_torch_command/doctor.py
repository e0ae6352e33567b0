"""`simple doctor`: reports what an installed package uses, and every fault with what to do."""

from __future__ import annotations

import subprocess
import sys

from simple_torch_command.installation import Installation, fault_of, find_torch, variables_for_host


def diagnose(installed: Installation) -> int:
    """Print the report; return 1 if there is a fault."""
    torch = find_torch()
    backends = ", ".join(installed.backends())
    print(f"Python    {sys.version.split()[0]}  {sys.executable}")
    print(f"torch     {f'{torch.version}  {torch.folder}' if torch else 'none'}")
    print(f"backends  {backends or 'none'}  {installed.folder / 'lib'}")
    fault = fault_of(installed, torch)
    started = None if fault else starts(installed)
    print(f"host      {started[1] if started else installed.host}")
    if started and not started[0]:
        fault = f"{installed.host} does not run a program: {started[1]}"
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
    lines = (done.stdout + done.stderr).strip().splitlines()
    return done.returncode == 0, lines[-1] if lines else f"exit code {done.returncode}"
