"""python -m simple_torch_command: the same as the command `simple`."""

import sys

from simple_torch_command.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
