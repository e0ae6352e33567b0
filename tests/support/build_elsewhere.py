"""A build in another folder, for tests of the commands that build and test."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from layout import Build


@dataclass(frozen=True)
class BuildElsewhere(Build):
    """A build elsewhere."""

    place: Path = Path()

    @property
    def folder(self) -> Path:
        return self.place
