"""Statements of the documents that a program can compare with the repository."""

from __future__ import annotations

import json
import re

import tomllib

from layout import TORCH_VERSIONS
from website.repository import ROOT

DOCS = ROOT / "docs"


def test_the_supported_versions_are_those_of_the_list():
    text = " ".join((DOCS / "compatibility.md").read_text().split())
    versions = json.loads((ROOT / "requirements" / "versions.json").read_text())
    torch, python = list(versions["torch"]), versions["python"]
    assert (
        f"PyTorch {', '.join(torch[:-1])} and {torch[-1]}, and Python {', '.join(python[:-1])} and {python[-1]}."
        in text
    )
    assert f"`bin/simple setup` installs {' and '.join(TORCH_VERSIONS)}," in text


def test_the_versions_of_packages_are_those_of_the_lock_files():
    locked = ""
    for name in ("torch-2.15.lock", "notebook-2.15.lock"):
        locked += (ROOT / "requirements" / name).read_text()
    rows = re.findall(r"^\| ([\w -]+?)(?: \(CPU\))? \| (\d[\w.]*) \|$", (DOCS / "compatibility.md").read_text(), re.M)
    assert len(rows) > 10
    for package, version in rows:
        names = {package.lower(), f"{package.lower()}-cpu"}
        assert any(f"\n{name}=={version} " in locked for name in names), f"{package} {version}"


def test_the_kinds_of_errors_are_those_of_the_table():
    rows = re.findall(r"^\| `(\w+)` \|([^|]*)\|", (DOCS / "errors.md").read_text(), re.M)
    kinds = tomllib.loads((ROOT / "abi" / "kinds.toml").read_text())["error"]
    assert [name for name, _ in rows] == [kind["name"].replace("_", " ").title().replace(" ", "") for kind in kinds]
    source = (ROOT / "simple" / "torch" / "error.spl").read_text()
    for name, fields in rows:
        (declared,) = re.findall(rf"^    {name}\((.*)\)$", source, re.M)
        before = [field.split(":")[0] for field in declared.split(", ")]
        assert re.findall(r"`(\w+)`", fields) == before[: before.index("message")]


def test_every_image_is_in_a_page():
    pages = "".join(page.read_text() for page in DOCS.glob("*.md"))
    images = [file.relative_to(DOCS).as_posix() for file in DOCS.rglob("*") if file.suffix in (".png", ".svg")]
    assert len(images) > 5
    assert [image for image in images if f"]({image})" not in pages] == []


def test_every_guide_with_programs_is_run():
    """A page whose blocks of Simple no test runs would not be noticed."""
    tests = "".join(file.read_text() for file in (ROOT / "tests" / "examples").glob("test_*.py"))
    for page in sorted(DOCS.glob("*.md")):
        if "```simple\n" in page.read_text():
            assert f'"{page.name}"' in tests, f"{page.name}: name it in tests/examples/test_guides.py"
