"""The code in README runs as documented."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


def test_the_tour_is_the_example():
    shown = re.search(r"```simple\n(.*?)```", README, re.S)
    tour = (ROOT / "examples/torch/basics/tour.spl").read_text()
    assert shown and tour.endswith(shown[1])


def test_tour_prints_readmes_output(simple):
    shown = re.search(r"prints\n\n```\n(.*?)```", README, re.S)
    run = simple("examples/torch/basics/tour.spl")
    assert run.code == 0, run.err
    # PyTorch 2.11 writes the message without the operation's name.
    assert run.out.replace("value: mm: ", "value: ") == shown[1].replace("value: mm: ", "value: ")


def test_every_file_named_in_readme_exists():
    for path in re.findall(r"`((?:examples|docs|abi|tools)/[\w/.]+)`", README):
        assert (ROOT / path).exists(), path
