"""A suite folder beside the paper: which benchmark it is, what it holds, and how that differs from the paper's inventory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from skilldelta.collect.suite import SUITE_FILE, skill_names
from skilldelta.files import json_lines, read_text
from skilldelta.paper.suites import NAMES, find_suite
from skilldelta.paper.suites.base import PaperCounts, PaperSuite
from skilldelta.settings_text import MOST_SETTINGS, yaml_value


@dataclass(frozen=True, slots=True)
class TaskInventory:
    """The task–skill structure. Every task has one group and one set of skills, which are one intervention."""

    groups: Mapping[str, int]
    """Tasks by group."""
    skill_sets: Mapping[tuple[str, ...], int]
    """Tasks by set of skills."""

    @property
    def tasks(self) -> int:
        return sum(self.groups.values())

    @property
    def skills(self) -> tuple[str, ...]:
        """Every skill that a task names."""
        return tuple(sorted({name for names in self.skill_sets for name in names}))

    @property
    def bundles(self) -> int:
        """Distinct sets of several skills."""
        return sum(len(names) > 1 for names in self.skill_sets)

    @property
    def edges(self) -> int:
        """Skills over all tasks: membership, not interventions."""
        return sum(len(names) * tasks for names, tasks in self.skill_sets.items())

    @property
    def sizes(self) -> list[int]:
        return sorted(self.groups.values())

    @property
    def singletons(self) -> int:
        """Groups of one task, which has no support in its group."""
        return sum(size == 1 for size in self.sizes)


@dataclass(frozen=True, slots=True)
class CountedDifference:
    """One figure beside the paper's."""

    what: str
    paper: str
    here: str

    @property
    def is_equal(self) -> bool:
        return self.paper == self.here


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
        return tuple(figure for figure in self.figures if not figure.is_equal)

    @property
    def is_as_in_the_paper(self) -> bool:
        return not self.differences and not self.missing_skills


def count(rows: Sequence[tuple[str, tuple[str, ...]]]) -> TaskInventory:
    """The inventory of tasks, given as group and skills."""
    return TaskInventory(Counter(group for group, _ in rows), Counter(tuple(sorted(set(names))) for _, names in rows))


def inventory_of(folder: Path) -> TaskInventory:
    """The inventory of a suite folder, whether or not its skill texts are there."""
    path = folder / "tasks.jsonl"
    rows = list(json_lines(path))
    return count([(str(row.get("family") or ""), tuple(skill_names(row, f"{path}:{n}"))) for n, row in rows])


def inspect_folder(folder: Path) -> Inspection | None:
    """The inspection of a suite folder; None where it is none of the paper's suites."""
    name = benchmark_of(folder)
    if name is None:
        return None
    suite, inventory = find_suite(name), inventory_of(folder)
    missing = tuple(skill for skill in inventory.skills if not (folder / "skills" / skill / "SKILL.md").is_file())
    return Inspection(suite, inventory, tuple(compared(inventory, suite.counts)), missing)


def benchmark_of(folder: Path) -> str | None:
    """The benchmark that suite.yaml names; a folder without one, or with one that is not the paper's, has none."""
    path = folder / SUITE_FILE
    if not path.is_file():
        return None
    settings = yaml_value(read_text(path, most=MOST_SETTINGS), str(path))
    name = settings.get("benchmark") if isinstance(settings, dict) else None
    return name if name in NAMES else None


def compared(here: TaskInventory, paper: PaperCounts) -> list[CountedDifference]:
    """Every figure that the paper reports beside what is here, in the paper's order."""
    sizes = here.sizes
    per_task = sorted(len(names) for names in here.skill_sets) or [0]
    figures: list[tuple[str, float | str | None, float | str]] = [
        ("tasks", paper.tasks, here.tasks),
        ("skills", paper.skills, len(here.skills)),
        ("groups", paper.groups, len(sizes)),
        ("tasks per group", _sizes(paper.group_sizes) if paper.group_sizes else None, _sizes(Counter(sizes))),
        ("median group", paper.median_group, median(sizes) if sizes else 0),
        ("groups of one task", paper.singletons, here.singletons),
        ("bundles", paper.bundles, here.bundles),
        ("annotation edges", paper.edges, here.edges),
        ("skills per task", _span(paper.fewest_skills, paper.most_skills), _span(per_task[0], per_task[-1])),
        *((name, tasks, here.groups.get(name, 0)) for name, tasks in paper.named_groups.items()),
    ]
    return [
        CountedDifference(what, _shown(printed), _shown(counted))
        for what, printed, counted in figures
        if printed is not None
    ]


def _shown(figure: float | str) -> str:
    if isinstance(figure, str):
        return figure
    return f"{figure:,}" if isinstance(figure, int) else f"{figure:g}"


def _sizes(sizes: Mapping[int, int]) -> str:
    return ", ".join(f"{number} × {size}" for size, number in sorted(sizes.items()))


def _span(fewest: int, most: int) -> str:
    return str(fewest) if fewest == most else f"{fewest}–{most}"
