"""What goes wrong beside an embedded Python (traps/traps.toml): each has its test, and the fix that it watches over."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    from pip._vendor import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
TRAPS = tomllib.loads((ROOT / "tests/bridge/traps/traps.toml").read_text())["trap"]
PROGRAMS = [trap["test"].split()[1] for trap in TRAPS if trap["test"].startswith("program ")]
HOST = os.environ.get("SIMPLE_HOST", "")


@pytest.mark.skipif(not HOST, reason="SIMPLE_HOST is not set")
@pytest.mark.skipif(os.environ.get("SIMPLE_TORCH") == "off", reason="there is no PyTorch")
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_ends_as_it_should(program):
    file = ROOT / "tests/bridge/traps/programs" / f"{program}.spl"
    done = subprocess.run([HOST, file], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("done\n")


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap["name"])
def test_the_fix_stands_where_the_table_says(trap):
    if "fix" not in trap:
        assert "without" not in trap
        return
    text = (ROOT / trap["file"]).read_text()
    assert text.count(trap["fix"]) == 1
    for fix, without in trap.get("also", []):
        assert text.count(fix) == 1
        assert fix != without
    assert trap["fix"] != trap["without"]


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap["name"])
def test_the_test_is_there(trap):
    kind, name = trap["test"].split(maxsplit=1)
    if kind == "ctest":
        sources = "".join(path.read_text() for path in (ROOT / "tests/bridge").glob("*.cpp"))
        assert name.split(".")[1].split("/")[0] in sources
    elif kind == "pytest":
        file, words = name.split(" -k ")
        assert f"def test_{words}" in (ROOT / file).read_text()
    else:
        assert kind == "program"
        assert (ROOT / "tests/bridge/traps/programs" / f"{name}.spl").exists()
