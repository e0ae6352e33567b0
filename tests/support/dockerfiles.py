"""Dockerfiles as shell scripts: the steps of a stage can be run in a root without a container runtime.

    python dockerfiles.py Dockerfile 0 SOURCE

prints the script of the first stage; SOURCE is the folder that COPY copies from.
"""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Stage:
    """The instructions of a stage, in order: (name, arguments)."""

    image: str
    name: str
    steps: list[tuple[str, str]] = field(default_factory=list)

    def of(self, instruction: str) -> list[str]:
        return [text for name, text in self.steps if name == instruction]


def stages(text: str) -> list[Stage]:
    """The stages of a Dockerfile.

    >>> stages("FROM debian AS a\\nRUN x \\\\\\n  && y\\nFROM a")[0].steps
    [('RUN', 'x   && y')]
    """
    found: list[Stage] = []
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    for line in "\n".join(lines).replace("\\\n", "").splitlines():
        if not line.strip():
            continue
        instruction, _, rest = line.partition(" ")
        if instruction == "FROM":
            words = rest.split()
            found.append(Stage(words[0], words[2] if len(words) == 3 else ""))
        else:
            found[-1].steps.append((instruction, rest.strip()))
    return found


def script(stage: Stage, source: str, others: dict[str, str] | None = None) -> str:
    """A script that does what the stage does, as root. `others` has the folder of each stage that COPY copies from."""
    lines, user = ["set -e", "cd /"], ""
    for instruction, text in stage.steps:
        if instruction == "RUN":
            lines.append(f"({text})" if not user else f"su {user} -c {shlex.quote(text)}")
        elif instruction == "WORKDIR":
            lines.append(f"mkdir -p {text} && cd {text}")
        elif instruction in ("ENV", "ARG"):
            name, _, value = text.partition("=")
            lines.append(f'export {name}="{value}"')
        elif instruction == "USER":
            user = text
        elif instruction == "COPY":
            words = text.split()
            root = source
            if words[0].startswith("--from="):
                root = (others or {})[words.pop(0).removeprefix("--from=")]
            target = words.pop()
            lines += [f"mkdir -p {target}", *(f"cp -a {root}/{word.lstrip('/')}/. {target}/" for word in words)]
    command = [word for kind in ("ENTRYPOINT", "CMD") for text in stage.of(kind)[-1:] for word in json.loads(text)]
    if command:
        words = shlex.join(command)
        lines.append(f'su {user} -c "PATH=$PATH {words}"' if user else words)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    chosen = stages(Path(sys.argv[1]).read_text())[int(sys.argv[2])]
    print(script(chosen, sys.argv[3], dict(pair.split("=") for pair in sys.argv[4:])), end="")
