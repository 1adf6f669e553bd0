"""How a panel's tasks and skills hang together: groups and their sizes, bundles, and tasks that have no support."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from skilldelta.records import Pair


@dataclass(frozen=True, slots=True)
class Coverage:
    """Group sizes count tasks. A task alone in its group has no support there."""

    groups: int = 0
    smallest: int = 0
    median: float = 0.0
    largest: int = 0
    singletons: int = 0
    """Groups of one task."""
    skills: int = 0
    """Distinct skills that were supplied, a bundle counted as one."""
    bundles: int = 0
    """Distinct sets of several skills."""
    edges: int = 0
    """Skills over all pairs: a pair under a bundle of three has three."""

    @property
    def supported(self) -> int:
        """Groups in which a task has the evidence of another."""
        return self.groups - self.singletons


def coverage_of(pairs: Sequence[Pair]) -> Coverage:
    """The structure of a panel's pairs; a pair without a family belongs to the group of its skill."""
    if not pairs:
        return Coverage()
    tasks = {(pair.family or f"skill {pair.skill_id}", pair.task_id) for pair in pairs}
    sizes = sorted(Counter(group for group, _ in tasks).values())
    members = {pair.skill_id: pair.skill_id.count("+") + 1 for pair in pairs if pair.skill_id}
    return Coverage(
        groups=len(sizes),
        smallest=sizes[0],
        median=float(median(sizes)),
        largest=sizes[-1],
        singletons=sum(size == 1 for size in sizes),
        skills=len(members),
        bundles=sum(number > 1 for number in members.values()),
        edges=sum(members.get(pair.skill_id, 0) for pair in pairs),
    )
