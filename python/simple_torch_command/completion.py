"""`simple completion`: the script that lets a shell complete a command line of `simple`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

from simple_torch_command.new import TEMPLATES

SHELLS = ("bash", "zsh", "fish")

USAGE = """Prints a script that lets a shell complete the words after `simple`.

  simple completion bash        in ~/.bashrc:   eval "$(simple completion bash)"
  simple completion zsh         in ~/.zshrc:    eval "$(simple completion zsh)"
  simple completion fish        once:  simple completion fish > ~/.config/fish/completions/simple.fish
"""


@dataclass(frozen=True)
class Command:
    """A command of `simple`: its help, and the words that may follow it, besides files."""

    name: str
    help: str
    words: tuple[str, ...] = field(default=())


# The commands of a checkout and of an installed package.
COMMON = (
    Command("run", "run a program"),
    Command("models", "list models with trained weights", ("--cached", "--source", "--help")),
    Command("model", "what a file of a model holds; change its format", ("info", "convert", "--key", "--help")),
    Command("new", "start a project from a template", (*TEMPLATES, "--help")),
    Command("completion", "print the completion of a shell", (*SHELLS, "--help")),
    Command("doctor", "report what is used, and every fault", ("--help",)),
)
INSTALLED = (
    Command("test", "run the specs of files", ("--filter", "--help")),
    Command("examples", "list the examples, or run one", ("--copy", "--help")),
    Command("notebook", "open JupyterLab"),
)
OPTIONS = ("-e", "--verbose", "--version", "--help")


def completion(arguments: Sequence[str], commands: Sequence[Command]) -> int:
    """Print the script of a shell; return the exit code."""
    if {"-h", "--help"} & set(arguments):
        print(USAGE, end="")
        return 0
    if len(arguments) != 1 or arguments[0] not in SHELLS:
        got = " ".join(arguments) or "nothing"
        print(f"simple completion: expected {', '.join(SHELLS[:-1])} or {SHELLS[-1]}, got {got}", file=sys.stderr)
        return 2
    scripts = {"bash": bash, "zsh": zsh, "fish": fish}
    print(scripts[arguments[0]](sorted(commands, key=lambda command: command.name)), end="")
    return 0


def bash(commands: Sequence[Command]) -> str:
    cases = "\n".join(f"    {command.name}) words='{' '.join(command.words)}' ;;" for command in commands)
    first = " ".join([*(command.name for command in commands), *OPTIONS])
    return f"""\
_simple() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words
  case ${{COMP_WORDS[1]}} in
{cases}
    *) words= ;;
  esac
  [ "$COMP_CWORD" = 1 ] && words='{first}'
  COMPREPLY=($(compgen -W "$words" -- "$word") $(compgen -f -- "$word"))
}}
complete -o filenames -F _simple simple
"""


def zsh(commands: Sequence[Command]) -> str:
    described = "\n".join(f"      '{command.name}:{command.help}'" for command in commands)
    cases = "\n".join(
        f"    {command.name}) compadd -- {' '.join(command.words)} ;;" for command in commands if command.words
    )
    return f"""\
#compdef simple
_simple() {{
  if (( CURRENT == 2 )); then
    local -a described=(
{described}
    )
    _describe command described
    compadd -- {" ".join(OPTIONS)}
  else
    case $words[2] in
{cases}
    esac
  fi
  _files
}}
compdef _simple simple
"""


def fish(commands: Sequence[Command]) -> str:
    names = " ".join(command.name for command in commands)
    lines = ["complete -c simple -e"]
    for command in commands:
        help = command.help.replace("'", "\\'")
        lines.append(f"complete -c simple -n 'not __fish_seen_subcommand_from {names}' -a {command.name} -d '{help}'")
        if command.words:
            words = " ".join(command.words)
            lines.append(f"complete -c simple -n '__fish_seen_subcommand_from {command.name}' -a '{words}'")
    lines.append(f"complete -c simple -n 'not __fish_seen_subcommand_from {names}' -a '{' '.join(OPTIONS)}'")
    return "\n".join(lines) + "\n"
