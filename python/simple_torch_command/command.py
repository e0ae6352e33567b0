"""The command `simple`."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

from simple_torch_command.completion import COMMON, INSTALLED, completion
from simple_torch_command.doctor import diagnose
from simple_torch_command.installation import (
    NOT_BUILT,
    Installation,
    fault_of,
    find_torch,
    installation,
    variables_for_host,
)
from simple_torch_command.new import new
from simple_torch_command.troubleshooting import Fault, explain

USAGE = """Runs Simple programs (.spl) with PyTorch.

  simple FILE.spl [ARGUMENT…]       run a program
  simple run FILE.spl […]           the same
  simple test [FILE|FOLDER…]        run the specs of files
  simple -e CODE                    run a line of code
  simple --version                  the version
  simple models [PATTERN]           list models with trained weights, and those on this machine
  simple model info FILE            what a file of a model holds; `model convert` changes its format

  simple new TEMPLATE FOLDER        start a project: training, fine-tuning, inference or notebook
  simple completion SHELL           print the completion of bash, zsh or fish
  simple examples                   list the examples
  simple examples NAME [ARGUMENT…]  run one
  simple examples --copy FOLDER     copy them to a new folder
  simple notebook [ARGUMENT…]       open JupyterLab with Simple and Python cells
  simple doctor                     report what is used, with versions and paths, and every fault
  simple doctor ENTRY               explain a fault or an error that names the entry

--verbose before FILE adds the library's calls and Python's tracebacks to errors.
"""


# Commands that are programs of the library.
PROGRAMS = {"models": "zoo/command.spl", "model": "model_files/command.spl"}


def main(arguments: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    command, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    installed = installation()
    if command in ("", "-h", "--help", "help"):
        print(USAGE, end="")
        return 0
    if command == "new":
        return new(rest)
    if command == "completion":
        return completion(rest, (*COMMON, *INSTALLED))
    if command in ("doctor", "examples") and {"-h", "--help"} & set(rest[:1]):
        print(USAGE, end="")
        return 0
    if command == "doctor":
        return explain(installed.troubleshooting, rest) if rest else diagnose(installed)
    if command == "examples":
        return examples(installed, rest)
    if command == "notebook":
        return notebook(rest)
    if command in PROGRAMS:
        return run_host(installed, [str(installed.folder / "share" / "simple" / PROGRAMS[command]), *rest])
    if not is_for_host(command):
        print(f"error: no command or file named '{command}'\n\n{USAGE}", end="", file=sys.stderr)
        return 2
    return run_host(installed, arguments)


def is_for_host(argument: str) -> bool:
    """Whether the first argument is an option, a command of the host, or a file: one with a suffix may be missing."""
    is_file_name = "." in argument or "/" in argument or Path(argument).exists()
    return is_file_name or argument.startswith("-") or argument in ("run", "test")


def run_host(installed: Installation, arguments: list[str]) -> int:
    """Replace this process by the host."""
    if not installed.host.exists():
        return failed(str(Fault(f"{installed.host} is missing; install the package again: {reinstall()}", NOT_BUILT)))
    torch = find_torch()
    is_chosen = {"SIMPLE_PYTHON", "SIMPLE_TORCH"} & os.environ.keys()
    if torch is not None and not is_chosen and (fault := fault_of(installed, torch)):
        return failed(str(fault))
    os.execve(installed.host, ["simple", *arguments], variables_for_host(torch))


def examples(installed: Installation, arguments: list[str]) -> int:
    names = [str(file.relative_to(installed.examples)) for file in sorted(installed.examples.rglob("*.spl"))]
    if not arguments:
        print("\n".join(names))
        return 0
    if arguments[0] == "--copy":
        return copy_examples(installed, arguments[1:])
    name = arguments[0] if arguments[0].endswith(".spl") else f"{arguments[0]}.spl"
    found = [each for each in names if each == name or each.endswith(f"/{name}")]
    if len(found) != 1:
        problem = "there is no example" if not found else f"{', '.join(found)} are examples of the name"
        return failed(f"{problem} {arguments[0]}; `simple examples` lists them")
    return run_host(installed, [str(installed.examples / found[0]), *arguments[1:]])


def copy_examples(installed: Installation, arguments: list[str]) -> int:
    import shutil

    if len(arguments) != 1:
        return failed("examples --copy: expected the name of a new folder")
    try:
        shutil.copytree(installed.examples, arguments[0])
    except OSError as error:
        return failed(f"examples --copy: {error.strerror or error}: {error.filename or arguments[0]}")
    print(f"copied to {Path(arguments[0]).absolute()}")
    return 0


def notebook(arguments: list[str]) -> int:
    if importlib.util.find_spec("jupyterlab") is None:
        return failed(f"JupyterLab is not installed: {sys.executable} -m pip install jupyterlab ipykernel")
    root = ["--allow-root"] if os.geteuid() == 0 else []  # JupyterLab asks root for it
    os.execv(sys.executable, [sys.executable, "-m", "jupyterlab", *root, *arguments])


def reinstall() -> str:
    return f"{sys.executable} -m pip install --force-reinstall simple-torch"


def failed(message: str) -> int:
    print(f"simple: {message}", file=sys.stderr)
    return 1
