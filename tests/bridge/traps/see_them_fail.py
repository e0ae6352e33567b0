"""Takes each fix of traps.toml away in a copy of the tree, builds it, and sees that the trap's test fails.

    python tests/bridge/traps/see_them_fail.py FOLDER [WORDS OF A TRAP'S NAME]

FOLDER becomes the copy, and is used again when it is there: the first build takes minutes, each trap less than one.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import tomllib

ROOT = Path(__file__).resolve().parents[3]
WATCHDOG = 60  # seconds, for a test that would take a few


def copy_to(folder: Path) -> None:
    if not folder.exists():
        subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
        (folder / ".simple").symlink_to(ROOT / ".simple")
    subprocess.run(["git", "-C", folder, "reset", "--quiet", "--hard"], check=True)
    subprocess.run(["git", "-C", folder, "pull", "--quiet", ROOT], check=True)
    build(folder)


def build(folder: Path) -> None:
    done = subprocess.run([folder / "bin/simple", "build"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"the build failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


def python_of(folder: Path, torch: str) -> Path:
    return folder / f".simple/torch-{torch}/bin/python"


def command_of(test: str, folder: Path, python: Path) -> list[str]:
    kind, name = test.split(maxsplit=1)
    if kind == "ctest":
        return ["ctest", "--test-dir", str(folder / "build/release"), "-R", f"^{name}( |$)", "--timeout", str(WATCHDOG)]
    if kind == "pytest":
        file, words = name.split(" -k ")
        return [str(python), "-m", "pytest", "-q", "-x", str(folder / file), "-k", words]
    return [str(folder / "build/release/bin/simple-host"), str(folder / f"tests/bridge/traps/programs/{name}.spl")]


def result_of(trap: dict, folder: Path) -> str:
    """What the process of the trap's test did: passed, failed, or hung."""
    test, python = trap["test"], python_of(folder, trap.get("torch", "2.15"))
    variables = {
        **os.environ,
        "SIMPLE_HOST": str(folder / "build/release/bin/simple-host"),
        "SIMPLE_BUILD": str(folder / "build/release"),
        "SIMPLE_PYTHON": str(python),
    }
    command = ["timeout", "--kill-after=5", str(WATCHDOG), *command_of(test, folder, python)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=variables)
    if done.returncode in (124, 137):
        return "hung"
    if test.startswith("ctest") and "No tests were found" in done.stdout + done.stderr:
        sys.exit(f"there is no {test}")
    return "passed" if done.returncode == 0 else "failed"


def python_version(folder: Path) -> tuple[int, ...]:
    asked = [python_of(folder, "2.15"), "-c", "import sys; print(*sys.version_info[:2])"]
    return tuple(map(int, subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()))


def take_away(trap: dict, folder: Path) -> None:
    path = folder / trap["file"]
    text = path.read_text()
    for fix, without in [(trap["fix"], trap["without"]), *trap.get("also", [])]:
        if text.count(fix) != 1:
            sys.exit(f"{trap['file']} does not have the fix once: {fix}")
        text = text.replace(fix, without)
    if "needs" in trap:
        text = text.replace("#include", trap["needs"] + "\n#include", 1)
    path.write_text(text)


def main() -> int:
    folder = Path(sys.argv[1]).absolute()
    wanted = " ".join(sys.argv[2:])
    copy_to(folder)
    unseen = 0
    for trap in tomllib.loads((ROOT / "tests/bridge/traps/traps.toml").read_text())["trap"]:
        if wanted not in trap["name"]:
            continue
        if python_version(folder) < tuple(map(int, trap.get("since", "3.10").split("."))):
            print(f"    only from Python {trap['since']} on: {trap['name']}", flush=True)
            continue
        with_fix = result_of(trap, folder)
        without_fix = "has no fix of ours"
        if "fix" in trap:
            take_away(trap, folder)
            build(folder)
            without_fix = result_of(trap, folder)
            subprocess.run(["git", "-C", folder, "checkout", "--quiet", trap["file"]], check=True)
            build(folder)
        as_it_should = with_fix == "passed" and without_fix != "passed"
        unseen += not as_it_should
        mark = "ok  " if as_it_should else "NOT "
        print(f"{mark}{with_fix} with it, {without_fix} without: {trap['name']}", flush=True)
    return 1 if unseen else 0


if __name__ == "__main__":
    sys.exit(main())
