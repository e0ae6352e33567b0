"""Counts how many programs of upstream's repositories parse and load.

    python3 tests/support/upstream_corpora.py             clones the repositories of corpora.toml that are missing
    python3 tests/support/upstream_corpora.py --offline   measures those that are there; --verbose lists the files

The repositories are in the folder SIMPLE_UPSTREAM, or .simple/upstream. SIMPLE_HOST is the host's executable.
A file parses if the host reports no error of syntax in it, and loads if a program can import it. Entry points are not
called: most need the hardware that they are written for. A template of a specification is measured as a copy with the
name of a specification.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import tomllib

ROOT = Path(__file__).resolve().parents[2]
CORPORA = ROOT / "tests" / "upstream" / "corpora.toml"
TIME_LIMIT_S = 30
MISSING = re.compile(r"no module named '([^']*)'")
_NAMES = re.compile("no module named|is exported but not defined")  # errors of names, not of syntax
_ERROR = re.compile(r"^(?P<file>\S+?):(?P<line>\d+):\d+: error: (?P<message>.*)$", re.MULTILINE)


@dataclass
class Figures:
    """What was counted, and the files that did not load with the first error of each."""

    files: int = 0
    parsed: int = 0
    loaded: int = 0
    needs_other_modules: int = 0
    failures: dict[str, str] = field(default_factory=dict)


def corpora() -> dict[str, dict]:
    """The tables of corpora.toml that describe a repository."""
    return {name: table for name, table in tomllib.loads(CORPORA.read_text()).items() if "url" in table}


def folder_of(name: str) -> Path:
    """Where the repository is, if it was cloned."""
    return Path(os.environ.get("SIMPLE_UPSTREAM", ROOT / ".simple" / "upstream")) / name


def clone(name: str, corpus: dict) -> None:
    """Clones the repository at its commit."""
    folder = folder_of(name)
    folder.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "clone", "--quiet", corpus["url"], str(folder)], check=True)
    subprocess.run(["git", "-C", str(folder), "checkout", "--quiet", corpus["commit"]], check=True)


def added_folder(name: str) -> Path:
    """Where the files of another repository are that files of this one import."""
    return folder_of(name + "-added")


def download_added(name: str, corpus: dict) -> None:
    """Downloads the files of `added`, which map paths to commits."""
    for path, commit in corpus.get("added", {}).items():
        file = added_folder(name) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        with urllib.request.urlopen(f"{corpus['added_url']}/{commit}/{path}") as answer:
            file.write_bytes(answer.read())


def make_layout(corpus: dict, repository: Path, added: Path, project: Path) -> None:
    """A project in which the repository is found under the names by which its files import each other."""
    for name in corpus["imports"]:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).symlink_to(repository)
    for library in corpus["libraries"]:
        (project / "lib").mkdir(exist_ok=True)
        for inner in (repository / library).iterdir():
            (project / "lib" / inner.name).symlink_to(inner)
    if added.exists():
        (project / "src").symlink_to(added / "src")


def as_spec(file: Path, repository: Path, project: Path) -> Path | None:
    """The file if it is a specification, a copy of it if it is a template of one, else None."""
    if file.name.endswith("_spec.spl"):
        return file
    if file.name.endswith("_template.spl") and re.search(r"^describe ", (repository / file).read_text(), re.MULTILINE):
        copy = project / file.name.replace("_template.spl", "_spec.spl")
        shutil.copyfile(repository / file, copy)
        return copy
    return None


def command_for(file: Path, corpus: dict, repository: Path, project: Path) -> list[str]:
    if spec := as_spec(file, repository, project):  # its failing examples do not matter here
        return ["test", "--filter", "no example has this name", str(spec)]
    return ["-e", "use " + ".".join([*corpus["imports"][:1], *file.with_suffix("").parts])]


def measure(name: str, corpus: dict) -> Figures:
    """Imports each file of the repository by a program of its own."""
    repository = folder_of(name).resolve()
    files = sorted(file.relative_to(repository) for file in repository.rglob("*.spl"))
    with tempfile.TemporaryDirectory() as project:
        make_layout(corpus, repository, added_folder(name).resolve(), Path(project))
        folder = project if corpus["imports"] else str(repository)

        def run(file: Path) -> str:
            """The errors of the host; empty if the file loads."""
            try:
                result = subprocess.run(
                    [os.environ["SIMPLE_HOST"], *command_for(file, corpus, repository, Path(project))],
                    cwd=folder, capture_output=True, text=True, errors="replace", check=False,
                    stdin=subprocess.DEVNULL, timeout=TIME_LIMIT_S,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                return f"{file}:1:1: error: did not end in {TIME_LIMIT_S} s\n  stack"
            return "" if result.returncode == 0 else result.stderr or result.stdout

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            reports = dict(zip(files, pool.map(run, files), strict=True))
    return counted(reports)


def counted(reports: dict[Path, str]) -> Figures:
    figures = Figures(files=len(reports))
    for file, report in reports.items():
        error = _ERROR.search(report)
        message = error["message"] if error else report.strip()[:200]
        # An error of syntax has no calls, and is reported before anything runs.
        is_own = error is not None and error["file"].endswith(str(file))
        is_syntax = is_own and "stack (" not in report and not _NAMES.search(message)
        figures.parsed += not is_syntax
        figures.loaded += not report
        figures.needs_other_modules += MISSING.search(message) is not None
        if report:
            figures.failures[str(file)] = f"{error['file']}:{error['line']}: {message}" if error else message
    return figures


def main() -> int:
    for name, corpus in corpora().items():
        if not folder_of(name).exists():
            if "--offline" in sys.argv:
                continue
            clone(name, corpus)
            download_added(name, corpus)
        figures = measure(name, corpus)
        print(
            f"{name}: {figures.files} files, {figures.parsed} parse, {figures.loaded} load, "
            f"{figures.needs_other_modules} need modules of other repositories"
        )
        if "--verbose" in sys.argv:
            for file, message in figures.failures.items():
                print(f"  {file}: {message}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
