"""The Simple snippets of the five specification documents.

index.toml lists them. Each is one of:
- a program in programs/: the snippet's lines, unchanged, completed where the snippet omits something (a line may be
  continued, lines may be inserted), which runs with the assertions of the marks of tests/support/programs.py;
- a command, or a file that another snippet reads;
- a snippet in pending.toml, with the name of the missing feature, unchanged in pending/. It is run too, and must fail
  until the feature exists; pytest counts it as xfailed.

With SIMPLE_SPECIFICATION, the folder of the documents, the programs' lines are compared with the documents.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
import tomllib

from programs import hold, run

FOLDER = Path(__file__).parent
INDEX = {
    (document.removeprefix("document-"), int(number)): snippet
    for document, snippets in tomllib.loads((FOLDER / "index.toml").read_text()).items()
    for number, snippet in snippets.items()
}
PENDING = tomllib.loads((FOLDER / "pending.toml").read_text())["snippet"]
PROGRAMS = sorted((FOLDER / "programs").glob("*.spl"))
WAITING = sorted((FOLDER / "pending").glob("*.spl"))
WITHOUT_TORCH = {"SIMPLE_TORCH": "off"}
# Programs that must also run without PyTorch.
IN_BOTH = [file for file in PROGRAMS if "with PyTorch and without" in file.read_text()]
# The commands of document 003: the code, and its output with and without PyTorch.
COMMANDS = {
    2: ("use lib.torch.{torch_available}; print torch_available()", "true", "false"),
    3: ("use lib.torch.{torch_zeros}; val t = torch_zeros([2, 3]); print t.numel()", "6", "6"),
    4: ("use lib.torch.{torch_cuda_available}; print torch_cuda_available()", None, "false"),
}


def key_of(file: Path) -> tuple[str, int]:
    """The document and the number in a file's name: 002_07_sequential_models.spl."""
    document, number, _ = file.name.split("_", 2)
    return document, int(number)


def has_cuda() -> bool:
    return run("-e", COMMANDS[4][0]).stdout.strip() == "true"


def feature_of(file: Path) -> str:
    return next(p["feature"] for p in PENDING if (p["document"], p["number"]) == key_of(file))


@pytest.mark.parametrize("file", PROGRAMS, ids=lambda file: file.stem)
def test_program(file: Path) -> None:
    if "without a GPU it stops" in file.read_text() and has_cuda():
        pytest.skip("there is a GPU")
    hold(file)


@pytest.mark.parametrize("file", IN_BOTH, ids=lambda file: file.stem)
def test_program_without_pytorch(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMPLE_TORCH", "off")
    hold(file)


@pytest.mark.parametrize("number", COMMANDS)
def test_command(number: int) -> None:
    code, with_torch, without = COMMANDS[number]
    printed = run("-e", code)
    assert printed.returncode == 0, printed.stderr
    assert printed.stdout.strip() in ([with_torch] if with_torch else ["true", "false"])
    assert run("-e", code, environment=WITHOUT_TORCH).stdout.strip() == without


@pytest.mark.parametrize("file", WAITING, ids=lambda file: file.stem)
def test_pending_snippet(file: Path, request: pytest.FixtureRequest) -> None:
    """Runs the snippet unchanged: when it succeeds, it belongs in programs/ with assertions."""
    request.applymarker(pytest.mark.xfail(strict=True, reason=f"waits for: {feature_of(file)}"))
    assert run(file).returncode == 0


def test_each_snippet_is_accounted_for_once() -> None:
    whole = [(p["document"], p["number"]) for p in PENDING if "part" not in p]
    commands = [("003", number) for number in COMMANDS]
    files = [key for key, snippet in INDEX.items() if snippet["form"] == "file"]
    assert sorted([*map(key_of, PROGRAMS), *whole, *commands, *files]) == sorted(INDEX)


def test_pending_snippets_are_programs_and_named() -> None:
    assert sorted(map(key_of, WAITING)) == sorted((p["document"], p["number"]) for p in PENDING if "part" not in p)
    assert {(p["document"], p["number"]) for p in PENDING} <= set(INDEX)
    assert all(p["feature"] and p["planned"] for p in PENDING)


def test_pending_parts_belong_to_programs() -> None:
    assert {(p["document"], p["number"]) for p in PENDING if "part" in p} <= set(map(key_of, PROGRAMS))


if "SIMPLE_SPECIFICATION" in os.environ:  # the documents are not part of the repository

    @pytest.mark.parametrize("file", PROGRAMS + WAITING, ids=lambda file: file.stem)
    def test_lines_match_the_document(file: Path) -> None:
        snippet = iter(snippets_of(key_of(file)[0])[key_of(file)[1] - 1])
        wanted = next(snippet)
        for line in file.read_text().splitlines():
            if wanted is not None and line.strip().startswith(wanted):
                wanted = next(snippet, None)
        assert wanted is None, f"missing: {wanted}"

    def test_the_index_lists_all_snippets() -> None:
        for document in sorted({document for document, _ in INDEX}):
            assert len(snippets_of(document)) == len([key for key in INDEX if key[0] == document])


def snippets_of(document: str) -> list[list[str]]:
    """The Simple, SDN and `-e` snippets of a document, each as its nonempty lines."""
    (path,) = Path(os.environ["SIMPLE_SPECIFICATION"]).glob(f"{document}_*")
    found, lines = [], None
    for line in path.read_text().splitlines():
        fence = re.match(r"\s*```(simple|sdn|bash)?\s*$", line)
        if lines is None and fence and fence[1]:
            kind, lines = fence[1], []
        elif lines is not None and fence:
            if kind != "bash" or any("bin/simple -e" in row for row in lines):
                found.append(lines)
            lines = None
        elif lines is not None and line.strip():
            lines.append(line.strip())
    return found
