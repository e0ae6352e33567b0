"""The completion of shells, as they run it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SIMPLE = ROOT / "bin" / "simple"


def script(shell: str) -> str:
    return subprocess.run([SIMPLE, "completion", shell], capture_output=True, text=True, check=True).stdout


def completed(folder: Path, *words: str) -> list[str]:
    """What bash offers for the last word, in a folder."""
    quoted = " ".join(f"'{word}'" for word in ("simple", *words))
    program = (
        f'{script("bash")}\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _simple; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True, cwd=folder)
    return sorted(filter(None, done.stdout.splitlines()))


def test_bash_completes_commands_options_and_files(tmp_path):
    (tmp_path / "network.spl").touch()
    assert completed(tmp_path, "ne") == ["network.spl", "new"]
    assert completed(tmp_path, "new", "t") == ["training"]
    assert completed(tmp_path, "completion", "") == ["--help", "bash", "fish", "network.spl", "zsh"]
    assert completed(tmp_path, "test", "--pa") == ["--packages"]
    assert completed(tmp_path, "build", "--a") == ["--all"]
    assert completed(tmp_path, "--v") == ["--verbose", "--version"]
    assert completed(tmp_path, "run", "net") == ["network.spl"]


def test_bash_completes_a_path_to_the_program(tmp_path):
    program = f"{script('bash')}\ncomplete -p simple"
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "complete -o filenames -F _simple simple\n"


def test_every_command_of_the_usage_is_completed(tmp_path):
    usage = subprocess.run([SIMPLE, "--help"], capture_output=True, text=True, check=True).stdout
    words = {line.split()[1] for line in usage.splitlines() if line.startswith("  bin/simple ")}
    commands = {word for word in words if word.isalpha() and word.islower()}
    assert commands >= {"run", "test", "new", "completion", "wheel"}
    assert commands <= set(completed(tmp_path, ""))


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_know_the_commands_and_their_words(shell):
    text = script(shell)
    for word in ("setup", "start a project from a template", "fine-tuning", "--notebooks"):
        assert word in text
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=text, text=True, check=True)


def test_fish_completes(tmp_path):
    if shutil.which("fish") is None:
        return  # the words are tested above
    (tmp_path / "simple.fish").write_text(script("fish"))
    for line, expected in (
        ("simple ne", "new\t"),
        ("simple new fi", "fine-tuning"),
        ("simple test --no", "--notebooks"),
    ):
        command = f"source {tmp_path}/simple.fish; complete -C '{line}'"
        done = subprocess.run(["fish", "-c", command], capture_output=True, text=True, check=True, cwd=tmp_path)
        assert expected in done.stdout


def test_zsh_completes():
    if shutil.which("zsh") is None:
        return  # the words are tested above
    # The functions of zsh's completion system print what they would offer.
    stubs = (
        "compdef() { :; }; _files() { :; }; compadd() { print -l -- $@[2,-1]; }; _describe() { print -l -- ${(P)2}; }"
    )
    for words, expected in (
        ("simple ne", "new:start a project"),
        ("simple new fi", "fine-tuning"),
        ("simple -", "--version"),
    ):
        program = f"{stubs}\n{script('zsh')}\nwords=({words}); CURRENT={len(words.split())}; _simple"
        done = subprocess.run(["zsh", "-f", "-c", program], capture_output=True, text=True, check=True)
        assert expected in done.stdout, done.stdout + done.stderr
        assert done.stderr == ""


def test_an_unknown_shell_is_rejected():
    done = subprocess.run([SIMPLE, "completion", "csh"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "csh" in done.stderr
