"""python -m simple_torch_jupyter install [--prefix PATH | --user]"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from simple_torch_jupyter.install import install


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m simple_torch_jupyter")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    description = "install the Simple kernel and the JupyterLab extension"
    command = commands.add_parser("install", help=description, description=description)
    where = command.add_mutually_exclusive_group()
    where.add_argument("--prefix", type=Path, default=Path(sys.prefix), help="an environment (default: this Python's)")
    where.add_argument("--user", action="store_true", help="for the user, in all environments")
    options = parser.parse_args(arguments)
    for folder in install(Path.home() / ".local" if options.user else options.prefix):
        print(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
