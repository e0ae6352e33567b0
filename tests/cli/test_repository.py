"""The files for contributors: editor settings, hooks, workflow, issue templates, decision records."""

from __future__ import annotations

import configparser
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
yaml = pytest.importorskip("yaml")


def tracked() -> list[Path]:
    """The files of the repository that contain text. A folder without git has none."""
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("not a git repository")
    files = [ROOT / name for name in done.stdout.splitlines()]
    return [file for file in files if file.is_file() and not file.is_symlink() and b"\0" not in file.read_bytes()]


def test_the_text_files_are_as_the_editor_settings_demand():
    settings = configparser.ConfigParser()
    settings.read_string("[root]\n" + (ROOT / ".editorconfig").read_text())
    assert settings["*"]["trim_trailing_whitespace"] == "true"
    assert settings["*"]["insert_final_newline"] == "true"
    faults = []
    for file in tracked():
        name, text = file.relative_to(ROOT).as_posix(), file.read_bytes().decode("utf-8")
        is_exempt = file.suffix in {".tsv", ".txt"} or re.match(r"tests/(conformance|host)/.*\.spl$", name)
        if not is_exempt and re.search(r"[ \t]+$", text, re.MULTILINE):
            faults.append(f"{name}: trailing spaces")
        if text and not text.endswith("\n"):
            faults.append(f"{name}: no newline at the end")
    assert faults == []


def hooks() -> list[dict]:
    configuration = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    return [hook for repository in configuration["repos"] for hook in repository["hooks"]]


@pytest.mark.parametrize("hook", ["english", "abi", "builtins"])
def test_a_hook_of_this_repository_passes(hook):
    (found,) = [each for each in hooks() if each["id"] == hook]
    done = subprocess.run(found["entry"].split(), cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_hook_of_clang_format_omits_what_lint_omits():
    (hook,) = [each for each in hooks() if each["id"] == "clang-format"]
    line = next(line for line in (ROOT / "tools" / "lint.sh").read_text().splitlines() if line.startswith("sources="))
    command = line.removeprefix("sources=$(").removesuffix(")")
    checked = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert len(checked) > 300
    names = [file.relative_to(ROOT).as_posix() for file in tracked()]
    chosen = [name for name in names if re.search(hook["files"], name) and not re.search(hook["exclude"], name)]
    assert sorted(chosen) == sorted(checked)


def test_the_workflow_runs_what_the_repository_has():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    commands = [step["run"] for step in steps if "run" in step]
    assert any(command.startswith(".ci/run ") for command in commands)
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    from layout import TORCH_VERSIONS

    assert workflow["jobs"]["test"]["strategy"]["matrix"]["torch"] == list(TORCH_VERSIONS)


def test_the_workflow_uses_commands_of_the_repository_and_the_default_torch():
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    usage = subprocess.run([ROOT / "bin" / "simple", "--help"], capture_output=True, text=True, check=True).stdout
    commands = re.findall(r"run: bin/simple (\w+)", text)
    assert set(commands) == {"wheel", "docs"}
    assert all(f"bin/simple {command} " in usage for command in commands)
    from layout import DEFAULT_TORCH

    assert re.findall(r"torch==([\d.]+)\.\*", text) == [DEFAULT_TORCH]


def test_ci_passes_its_arguments_to_the_tests():
    done = subprocess.run([ROOT / ".ci" / "run", "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "usage: bin/simple test" in done.stdout


def test_the_issue_templates_ask_for_the_environment():
    folder = ROOT / ".github" / "ISSUE_TEMPLATE"
    forms = {file.stem: yaml.safe_load(file.read_text()) for file in folder.glob("*.yml") if file.stem != "config"}
    assert set(forms) == {"bug", "feature"}
    for form in forms.values():
        assert form["name"] and form["description"]
        identifiers = [part["id"] for part in form["body"]]
        assert len(identifiers) == len(set(identifiers))
        assert {part["type"] for part in form["body"]} <= {"textarea", "input", "dropdown", "checkboxes", "markdown"}
    assert any("simple doctor" in part["attributes"]["description"] for part in forms["bug"]["body"])


def test_the_decision_records_are_numbered_and_complete():
    folder = ROOT / "docs" / "decisions"
    records = sorted(folder.glob("0*.md"))
    index = (folder / "README.md").read_text()
    for number, record in enumerate(records, start=1):
        text = record.read_text()
        assert record.name.startswith(f"{number:04}-")
        assert text.startswith(f"# {number}. ")
        assert re.findall(r"^## (\w+)$", text, re.MULTILINE) == ["Context", "Decision", "Consequences"]
        title = text.splitlines()[0].removeprefix("# ")
        assert f"[{title}]({record.name})" in index
    assert len(records) >= 10


def test_what_the_documents_for_contributors_name_exists():
    documents = [ROOT / "SECURITY.md", *(ROOT / "docs" / "decisions").glob("*.md"), ROOT / "docs" / "embedding.md"]
    for document in documents:
        text = document.read_text()
        for target in re.findall(r"\]\(([^)#]+)", text):
            if not target.startswith("http"):
                assert (document.parent / target).exists(), f"{document.name}: {target}"
        for name in re.findall(r"`((?:tests|abi|host|tools|dlpack_interop)/[\w/.*-]*)`", text):
            assert list(ROOT.glob(name.rstrip("/"))), f"{document.name}: {name}"
