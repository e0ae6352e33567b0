"""Generates the C ABI from abi/functions*.toml and abi/kinds.toml: headers, front, backend bodies, externs, reference.

`generate_abi.py` writes the files. `generate_abi.py --check` writes nothing and fails when a committed file differs.
`generate_abi.py --release` replaces abi/released/, the ABI that later versions must keep, by that of this version.
"""

from __future__ import annotations

import argparse
import sys

from abi_generator.outputs import differing, write
from abi_generator.released import write_release
from abi_generator.sources import ROOT


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file differs")
    parser.add_argument("--release", action="store_true", help="write the ABI of this version to abi/released/")
    options = parser.parse_args()
    if options.release:
        print(f"written: {write_release(ROOT).relative_to(ROOT)}")
        return 0
    if options.check:
        names = differing(ROOT)
        for name in names:
            print(f"differs from the table: {name}")
        return 1 if names else 0
    for name in write(ROOT):
        print(f"written: {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
