"""`simple new`: starts a project from a template."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).parent / "templates"
TEMPLATES = {
    "training": "a classifier that is trained natively, with a test",
    "fine-tuning": "a pretrained network on a folder of images",
    "inference": "a service that answers HTTP requests",
    "notebook": "a notebook with Simple and Python cells",
}

USAGE = """Starts a project from a template.

  {program} new TEMPLATE FOLDER     makes the folder; its name is the name of the project

Templates:
{templates}
"""


def usage(program: str) -> str:
    rows = (f"  {name:<12}  {what}" for name, what in TEMPLATES.items())
    return USAGE.format(program=program, templates="\n".join(rows))


def new(arguments: Sequence[str], program: str = "simple") -> int:
    """Write the files; return the exit code. `program` is how the README of the project calls this program."""
    if {"-h", "--help"} & set(arguments):
        print(usage(program), end="")
        return 0
    if len(arguments) != 2:
        return _failed(f"expected a template and a folder, got {len(arguments)} arguments\n{usage(program)}", 2)
    template, folder = arguments[0], Path(arguments[1])
    if template not in TEMPLATES:
        return _failed(f"unknown template {template}; templates: {', '.join(TEMPLATES)}", 2)
    name = folder.absolute().name
    if not re.fullmatch(r"[\w.-]+", name):
        return _failed(f"the name of the folder must consist of letters, digits, '_', '-' and '.', got {name!r}", 2)
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            return _failed(f"{folder} exists and is not an empty folder", 1)
        _write(FOLDER / template, folder, {"name": name, "simple": program})
    except OSError as error:
        return _failed(f"{error.strerror or error}: {error.filename or folder}", 1)
    print(f"{folder}: {', '.join(sorted(file.name for file in folder.iterdir()))}")
    print(f"next: cd {folder}, and see README.md")
    return 0


def _write(template: Path, folder: Path, values: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for file in sorted(template.iterdir()):
        text = file.read_text(encoding="utf-8")
        for key, value in values.items():
            text = text.replace(f"{{{{{key}}}}}", value)
        name = ".gitignore" if file.name == "gitignore" else file.name
        (folder / name).write_text(text, encoding="utf-8")


def _failed(message: str, code: int) -> int:
    print(f"simple new: {message.rstrip()}", file=sys.stderr)
    return code
