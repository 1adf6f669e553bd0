"""A suite folder beside the paper: which benchmark it is, what its inventory lacks, and which skill texts are missing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from skilldelta.collect.suite import SUITE_FILE
from skilldelta.files import read_text
from skilldelta.settings_text import MOST_SETTINGS, yaml_value
from skilldelta.suites import NAMES, find_suite
from skilldelta.suites.base import PaperSuite
from skilldelta.suites.inventory import CountedDifference, TaskInventory, compared, inventory_of


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a folder of one of the paper's suites holds beside what the paper reports."""

    suite: PaperSuite
    inventory: TaskInventory
    figures: tuple[CountedDifference, ...]
    missing_skills: tuple[str, ...]
    """Skills that tasks name and that have no text."""

    @property
    def differences(self) -> tuple[CountedDifference, ...]:
        return tuple(one for one in self.figures if not one.is_equal)

    @property
    def is_as_in_the_paper(self) -> bool:
        return not self.differences and not self.missing_skills


def inspect_folder(folder: Path) -> Inspection | None:
    """The inspection of a suite folder; None where it is none of the paper's suites."""
    name = benchmark_of(folder)
    if name is None:
        return None
    suite, found = find_suite(name), inventory_of(folder)
    missing = tuple(one for one in found.skills if not (folder / "skills" / one / "SKILL.md").is_file())
    return Inspection(suite, found, tuple(compared(found, suite.counts)), missing)


def benchmark_of(folder: Path) -> str | None:
    """The benchmark that suite.yaml names; a folder without one, or with one that is not the paper's, has none."""
    path = folder / SUITE_FILE
    if not path.is_file():
        return None
    settings = yaml_value(read_text(path, most=MOST_SETTINGS), str(path))
    name = settings.get("benchmark") if isinstance(settings, dict) else None
    return name if name in NAMES else None
