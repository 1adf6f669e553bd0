"""What a prepared suite holds, counted, and how that differs from the paper's inventory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from skilldelta.errors import InputError
from skilldelta.files import json_lines
from skilldelta.suites.base import PaperCounts


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


def count(rows: Sequence[tuple[str, tuple[str, ...]]]) -> TaskInventory:
    """The inventory of tasks, given as group and skills."""
    return TaskInventory(Counter(group for group, _ in rows), Counter(tuple(sorted(set(names))) for _, names in rows))


def inventory_of(folder: Path) -> TaskInventory:
    """The inventory of a suite folder, whether or not its skill texts are there."""
    rows = []
    for number, row in json_lines(folder / "tasks.jsonl"):
        names = row.get("skill")
        names = [names] if isinstance(names, str) else names
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise InputError(f"{folder / 'tasks.jsonl'}:{number}: skill must be a name or a list of names")
        rows.append((str(row.get("family") or ""), tuple(names)))
    return count(rows)


def compared(here: TaskInventory, paper: PaperCounts) -> list[CountedDifference]:
    """Every figure that the paper reports beside what is here, in the paper's order."""
    return [CountedDifference(*row) for row in _figures(here, paper)]


def _figures(here: TaskInventory, paper: PaperCounts) -> Iterator[tuple[str, str, str]]:
    sizes = here.sizes
    per_task = sorted(len(names) for names in here.skill_sets)
    yield "tasks", f"{paper.tasks:,}", f"{here.tasks:,}"
    yield "skills", f"{paper.skills:,}", f"{len(here.skills):,}"
    if paper.groups is not None:
        yield "groups", f"{paper.groups:,}", f"{len(sizes):,}"
    if paper.group_sizes is not None:
        yield "tasks per group", _sizes(paper.group_sizes), _sizes(Counter(sizes))
    if paper.median_group is not None:
        yield "median group", f"{paper.median_group:g}", f"{median(sizes) if sizes else 0:g}"
    if paper.singletons is not None:
        yield "groups of one task", f"{paper.singletons:,}", f"{here.singletons:,}"
    if paper.bundles is not None:
        yield "bundles", f"{paper.bundles:,}", f"{here.bundles:,}"
    if paper.edges is not None:
        yield "annotation edges", f"{paper.edges:,}", f"{here.edges:,}"
    yield "skills per task", _span(paper.fewest_skills, paper.most_skills), _span(*_ends(per_task))
    for name, tasks in paper.named_groups.items():
        yield name, f"{tasks:,}", f"{here.groups.get(name, 0):,}"


def _sizes(sizes: Mapping[int, int]) -> str:
    return ", ".join(f"{number} × {size}" for size, number in sorted(sizes.items()))


def _span(fewest: int, most: int) -> str:
    return str(fewest) if fewest == most else f"{fewest}–{most}"


def _ends(values: Sequence[int]) -> tuple[int, int]:
    return (values[0], values[-1]) if values else (0, 0)
