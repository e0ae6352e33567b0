"""Trust in repositories of torch.hub, by PyTorch's list; no owner and no cached folder is trusted by itself."""

from __future__ import annotations

import sys
from pathlib import Path


def is_trusted(folder: str, repository: str) -> bool:
    """Return whether the list of trusted repositories in torch.hub's folder contains `owner/name`."""
    listed = Path(folder, "trusted_list")
    return listed.exists() and _entry(repository) in listed.read_text().split("\n")


def trust(folder: str, repository: str) -> None:
    """Add the repository to the list."""
    if is_trusted(folder, repository):
        return
    Path(folder).mkdir(parents=True, exist_ok=True)
    with Path(folder, "trusted_list").open("a") as listed:
        listed.write(_entry(repository) + "\n")


def is_confirmed(repository: str) -> bool:
    """Ask on the terminal whether to run the repository's code; without a terminal the answer is no."""
    if sys.stdin is None or not sys.stdin.isatty():
        return False
    answer = input(f"The code of the repository {repository} would run in this process. Do you trust it? (y/N) ")
    return answer.strip().lower() in ("y", "yes")


def _entry(repository: str) -> str:
    """Return the repository as PyTorch lists it.

    >>> _entry("pytorch/vision:main")
    'pytorch_vision'
    """
    return "_".join(repository.split(":")[0].split("/"))
