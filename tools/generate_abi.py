"""Generates the C ABI from abi/functions*.toml and abi/kinds.toml: headers, front, backend bodies, externs, reference.

`generate_abi.py` writes the files. `generate_abi.py --check` writes nothing and fails when a committed file differs.
"""

from __future__ import annotations

import argparse
import sys

from abi_generator.outputs import differing, write
from abi_generator.sources import ROOT


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file differs")
    if parser.parse_args().check:
        names = differing(ROOT)
        for name in names:
            print(f"differs from the table: {name}")
        return 1 if names else 0
    for name in write(ROOT):
        print(f"written: {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
