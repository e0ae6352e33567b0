#!/usr/bin/env python3
"""Writes what the examples of the reference print into tools/website/examples/, as the host of SIMPLE_HOST runs them.

With --check it writes nothing and prints each example whose output differs. The output is that of the default torch of
requirements/versions.json; the host must use that one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from website.examples import all_files, outputs
from website.repository import ROOT


def has_default_torch(host: str) -> bool:
    command = [host, "-e", "use torch; print torch.torch_version()"]
    version = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    default = json.loads((ROOT / "requirements" / "versions.json").read_text())["default_torch"]
    return version.startswith(f"{default}.")


def main() -> int:
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
        return 0
    host = os.environ.get("SIMPLE_HOST", str(ROOT / "build" / "release" / "bin" / "simple-host"))
    if not has_default_torch(host):
        print("generate_examples: the host does not use the default torch", file=sys.stderr)
        return 2
    is_check = "--check" in sys.argv[1:]
    differ = 0
    for file in all_files():
        with tempfile.TemporaryDirectory() as folder:
            for example, output in zip(file.examples, outputs(file, host, Path(folder)), strict=True):
                if example.output != output:
                    differ += 1
                    if is_check:
                        print(f"{example.names[0]}:", *output, sep="\n  ")
                example.output = output
        if not is_check:
            file.path.write_text(file.text())
    return 1 if is_check and differ else 0


if __name__ == "__main__":
    sys.exit(main())
